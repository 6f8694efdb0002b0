#include "sim/crd/embedded.h"

#include <map>

#include "base/text.h"
#include "data/json.h"
#include "data/names.h"
#include "data/path.h"
#include "sim/crd/structural.h"
#include "sim/peek.h"
#include "sim/types/conform.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;
using data::Path;

/// Members in the order of their names, at every depth, as the server prints them.
json::value Sorted(const json::value& v) {
  if (!v.is_object()) return v;
  std::map<std::string_view, const json::value*> members;
  for (const auto& m : v.get_object()) members.emplace(m.key(), &m.value());
  json::object out;
  for (const auto& [name, value] : members) out[name] = Sorted(*value);
  return out;
}

/// Calls `see(value, path)` for every embedded resource below, outer ones first. Value is json::value or const.
template <class Value, class See>
void ForEmbedded(Value& value, const data::Schema& schema, const Path& path, const See& see) {
  if (schema.embedded_resource && value.is_object()) see(value, path);
  if (value.is_object()) {
    for (auto& member : value.get_object()) {
      const data::Property* property = schema.Find(member.key());
      const data::SchemaPtr& below = property != nullptr ? property->schema : schema.values;
      if (below != nullptr) ForEmbedded(member.value(), *below, path.Child(member.key()), see);
    }
  } else if (value.is_array() && schema.items != nullptr) {
    std::size_t i = 0;
    for (auto& item : value.get_array()) ForEmbedded(item, *schema.items, path.Index(i++), see);
  }
}

}  // namespace

std::expected<void, std::string> ConformEmbedded(json::value& value, const data::Schema& schema,
                                                 const data::Schema& metadata) {
  std::string wrong;
  ForEmbedded(value, schema, Path(), [&](json::value& resource, const Path& path) {
    const json::value* meta = Peek(resource, {"metadata"});
    if (!wrong.empty() || meta == nullptr || !meta->is_object()) return;
    const std::string given = data::ToJson(Sorted(*meta));
    std::vector<std::string> unknown;
    const auto done = types::Conform(metadata, resource.get_object()["metadata"].get_object(), unknown);
    if (!done) wrong = path.Child("metadata").ToString() + ": Invalid value: " + given + ": " + done.error().text;
  });
  if (!wrong.empty()) return std::unexpected(std::move(wrong));
  return {};
}

std::vector<FieldError> CheckEmbedded(const json::value& value, const data::Schema& schema) {
  std::vector<FieldError> errors;
  ForEmbedded(value, schema, Path(), [&](const json::value& resource, const Path& path) {
    for (const char* field : {"apiVersion", "kind"})
      if (PeekString(resource, {field}).empty()) errors.push_back(RequiredField(path.Child(field).ToString()));
    const auto ns = PeekString(resource, {"metadata", "namespace"});
    if (!ns.empty())
      for (const std::string& why : data::CheckDnsLabel(ns))
        errors.push_back(InvalidField(path.Child("metadata").Child("namespace").ToString(), Quote(ns), why));
  });
  return errors;
}

}  // namespace gpuop::sim
