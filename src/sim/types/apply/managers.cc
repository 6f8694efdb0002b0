#include "sim/types/apply/managers.h"

#include <algorithm>
#include <boost/json.hpp>
#include <vector>

#include "base/text.h"
#include "data/json.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

constexpr std::size_t kMaxUpdaters = 10;

std::string Text(const json::object& entry, std::string_view name) {
  const json::value* value = entry.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(data::AsView(value->get_string())) : std::string();
}

Result<std::pair<ManagerId, ManagedSet>> ParseEntry(const json::value& value) {
  if (!value.is_object()) return Fail(Code::kInvalid, "managedFields: expected an object");
  const json::object& entry = value.get_object();
  ManagerId id{Text(entry, "manager"), Operation::kUpdate, Text(entry, "apiVersion"), Text(entry, "subresource")};
  ManagedSet set{{}, id.api_version, Text(entry, "time")};
  const std::string operation = Text(entry, "operation");
  if (operation != "Apply" && operation != "Update")
    return Fail(Code::kInvalid, "operation must be `Apply` or `Update`");
  if (id.api_version.empty()) return Fail(Code::kInvalid, "apiVersion must not be empty");
  if (Text(entry, "fieldsType") != "FieldsV1")
    return Fail(Code::kInvalid, "missing fieldsType in managed fields entry");
  if (operation == "Apply") {
    id.operation = Operation::kApply;
    id.api_version.clear();
  }
  if (const json::value* fields = entry.if_contains("fieldsV1"); fields != nullptr && fields->is_object()) {
    ASSIGN(set.fields, FieldSet::Parse(fields->get_object()));
  }
  return std::pair(std::move(id), std::move(set));
}

}  // namespace

std::string ManagerId::Text() const {
  std::string out = Quote(manager);
  if (!subresource.empty()) out += " with subresource " + Quote(subresource);
  if (operation == Operation::kUpdate) out += " using " + api_version;
  return out;
}

Result<Managers> ParseManagers(const json::value& list) {
  Managers out;
  if (list.is_null()) return out;
  if (!list.is_array()) return Fail(Code::kInvalid, "managedFields: expected a list");
  for (const json::value& entry : list.get_array()) {
    ASSIGN(auto parsed, ParseEntry(entry));
    out.insert_or_assign(std::move(parsed.first), std::move(parsed.second));
  }
  return out;
}

json::array WriteManagers(const Managers& managers) {
  std::vector<Managers::const_pointer> order;
  for (const auto& entry : managers) order.push_back(&entry);
  std::ranges::sort(order, {}, [](Managers::const_pointer entry) {
    const auto& [id, set] = *entry;
    return std::tuple(id.operation, std::string_view(set.time), std::string_view(id.manager),
                      std::string_view(set.api_version), std::string_view(id.subresource));
  });
  json::array out;
  for (const auto* entry : order) {
    const auto& [id, set] = *entry;
    json::object written;
    if (!id.manager.empty()) written["manager"] = id.manager;
    written["operation"] = id.operation == Operation::kApply ? "Apply" : "Update";
    written["apiVersion"] = set.api_version;
    if (!set.time.empty()) written["time"] = set.time;
    written["fieldsType"] = "FieldsV1";
    written["fieldsV1"] = set.fields.ToJson();
    if (!id.subresource.empty()) written["subresource"] = id.subresource;
    out.push_back(std::move(written));
  }
  return out;
}

void CapUpdaters(Managers& managers) {
  std::vector<ManagerId> updaters;
  for (const auto& [id, set] : managers)
    if (id.operation == Operation::kUpdate) updaters.push_back(id);
  if (updaters.size() <= kMaxUpdaters) return;
  std::ranges::sort(updaters, {},
                    [&](const ManagerId& id) { return std::tuple(std::string_view(managers.at(id).time), id); });
  std::size_t left = updaters.size();
  std::map<std::string, ManagerId> first_of_version;
  for (const ManagerId& id : updaters) {
    if (left <= kMaxUpdaters) break;
    const std::string version = managers.at(id).api_version;
    const auto first = first_of_version.find(version);
    if (first == first_of_version.end()) {
      first_of_version[version] = id;
      continue;
    }
    const ManagerId bucket{"ancient-changes", Operation::kUpdate, version, {}};
    if (!managers.contains(bucket)) {
      auto moved = managers.extract(first->second);
      moved.key() = bucket;
      managers.insert(std::move(moved));
    }
    ManagedSet& old = managers.at(bucket);
    if (id == bucket) continue;
    old.fields.Merge(managers.at(id).fields);
    old.time = managers.at(id).time;
    managers.erase(id);
    --left;
  }
}

}  // namespace gpuop::sim::types
