#include "kube/take_over.h"

#include <boost/json.hpp>

#include "data/json.h"

namespace gpuop::kube {
namespace {

namespace json = boost::json;

/// All fields of either set.
void Unite(json::object& into, const json::object& from) {
  for (const auto& [name, below] : from) {
    json::value& slot = into[name];
    if (!slot.is_object()) slot = json::object();
    if (below.is_object()) Unite(slot.get_object(), below.get_object());
  }
}

}  // namespace

bool IsWrittenBy(const json::value& entry, std::string_view manager) {
  return data::StringOr(entry, "manager") == manager && data::StringOr(entry, "subresource").empty();
}

std::optional<json::array> TakenOver(const json::object& live, std::string_view manager) {
  const json::array* entries = data::GetArray(live, "metadata.managedFields");
  if (entries == nullptr) return std::nullopt;
  json::array out;
  json::object applied;
  bool updated = false;
  for (const json::value& entry : *entries) {
    if (!IsWrittenBy(entry, manager)) {
      out.push_back(entry);
      continue;
    }
    updated = updated || data::StringOr(entry, "operation") != "Apply";
    json::object fields;
    if (const json::object* before = data::GetObject(applied, "fieldsV1")) fields = *before;
    if (const json::object* more = data::GetObject(entry, "fieldsV1")) Unite(fields, *more);
    applied = entry.as_object();
    applied["operation"] = "Apply";
    applied["fieldsV1"] = std::move(fields);
  }
  if (!updated) return std::nullopt;
  out.push_back(std::move(applied));
  return out;
}

}  // namespace gpuop::kube
