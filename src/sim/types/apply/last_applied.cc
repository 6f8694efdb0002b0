#include "sim/types/apply/last_applied.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "data/json.h"
#include "sim/types/apply/typed_value.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

constexpr std::string_view kAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

json::object* AnnotationsOf(json::object& object) {
  json::value* metadata = object.if_contains("metadata");
  json::value* annotations =
      metadata == nullptr || !metadata->is_object() ? nullptr : metadata->get_object().if_contains("annotations");
  return annotations == nullptr ? nullptr : annotations->if_object();
}

/// With members by name, all the way down.
json::value Sorted(const json::value& value) {
  if (const auto* list = value.if_array()) {
    json::array out;
    for (const json::value& element : *list) out.push_back(Sorted(element));
    return out;
  }
  if (!value.is_object()) return value;
  std::map<std::string_view, const json::value*> members;
  for (const auto& [name, member] : value.get_object()) members[{name.data(), name.size()}] = &member;
  json::object out;
  for (const auto& [name, member] : members) out.emplace(name, Sorted(*member));
  return out;
}

/// The annotated configuration, or null when there is none that can be read.
json::value LastApplied(const json::value& live) {
  const json::value* annotations = data::Find(live, "metadata.annotations");
  if (annotations == nullptr || !annotations->is_object()) return nullptr;
  const json::value* text = annotations->get_object().if_contains(kAnnotation);
  if (text == nullptr || !text->is_string()) return nullptr;
  auto parsed = data::ParseJson(data::AsView(text->get_string()));
  return parsed && parsed->is_object() ? *std::move(parsed) : json::value(nullptr);
}

}  // namespace

void DropAllowedByLastApplied(Shape shape, const json::value& live, std::string_view api_version,
                              std::vector<ApplyConflict>& conflicts) {
  const json::value last = LastApplied(live);
  if (!last.is_object() || data::StringOr(last, "apiVersion") != api_version) return;
  const Difference difference = Compare(shape, last, live);
  const FieldSet allowed =
      FieldsOf(shape, last).Without(difference.modified).Without(difference.added).Without(difference.removed);
  std::erase_if(conflicts, [&](const ApplyConflict& conflict) { return allowed.Has(conflict.path); });
}

void RefreshLastApplied(json::object& object, const json::object& config) {
  json::object* annotations = AnnotationsOf(object);
  if (annotations == nullptr || !annotations->contains(kAnnotation)) return;
  json::object plain = config;
  if (json::object* own = AnnotationsOf(plain)) own->erase(kAnnotation);
  (*annotations)[kAnnotation] = data::ToJson(Sorted(plain)) + "\n";
}

}  // namespace gpuop::sim::types
