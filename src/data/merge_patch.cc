#include <boost/json.hpp>

#include "data/patch.h"

namespace gpuop::data {
namespace {

void Merge(Json& doc, const Json& patch) {
  const JsonObject* members = patch.if_object();
  if (members == nullptr) {
    doc = patch;
    return;
  }
  if (!doc.is_object()) doc.emplace_object();
  JsonObject& object = doc.get_object();
  for (const auto& member : *members) {
    if (member.value().is_null()) {
      object.erase(member.key());
    } else {
      Merge(object[member.key()], member.value());
    }
  }
}

}  // namespace

Json ApplyMergePatch(Json doc, const Json& patch) {
  Merge(doc, patch);
  return doc;
}

Json MakeMergePatch(const Json& before, const Json& after) {
  const JsonObject* old_members = before.if_object();
  const JsonObject* new_members = after.if_object();
  if (old_members == nullptr || new_members == nullptr) return after;
  JsonObject patch;
  for (const auto& member : *old_members)
    if (!new_members->contains(member.key())) patch[member.key()] = nullptr;
  for (const auto& member : *new_members) {
    const Json* old_value = old_members->if_contains(member.key());
    if (old_value == nullptr) {
      patch[member.key()] = member.value();
    } else if (!JsonEqual(*old_value, member.value())) {
      patch[member.key()] = MakeMergePatch(*old_value, member.value());
    }
  }
  return patch;
}

}  // namespace gpuop::data
