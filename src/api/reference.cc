#include "api/reference.h"

#include <fmt/core.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "data/json.h"

namespace gpuop::api {
namespace {

using data::JsonObject;

/// In a cell of a table.
std::string Cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

/// "string: on, off, devtools", "list of objects", "map of strings".
std::string TypeOf(const JsonObject& schema) {
  if (data::BoolOr(schema, "x-kubernetes-int-or-string")) return "number or string";
  std::string type(data::StringOr(schema, "type"));
  if (type.empty()) return "any";
  if (const JsonObject* items = data::GetObject(schema, "items"))
    return "list of " + std::string(data::StringOr(*items, "type", "anything")) + "s";
  if (const JsonObject* values = data::GetObject(schema, "additionalProperties"))
    return "map of " + std::string(data::StringOr(*values, "type", "anything")) + "s";
  if (const data::JsonArray* words = data::GetArray(schema, "enum")) {
    std::vector<std::string> all;
    for (const data::Json& word : *words)
      all.push_back(word.is_string() ? std::string(word.get_string()) : data::ToJson(word));
    type += ": " + Join(all, ", ");
  }
  return type;
}

bool Requires(const JsonObject& schema, std::string_view name) {
  const data::JsonArray* required = data::GetArray(schema, "required");
  if (required == nullptr) return false;
  for (const data::Json& each : *required)
    if (each.is_string() && std::string_view(each.get_string()) == name) return true;
  return false;
}

/// Rows of all fields below `schema`, depth first, in the schema's order.
void AddRows(const JsonObject& schema, const std::string& at, std::string& out) {
  if (const JsonObject* items = data::GetObject(schema, "items")) AddRows(*items, at + "[]", out);
  const JsonObject* properties = data::GetObject(schema, "properties");
  if (properties == nullptr) return;
  for (const auto& member : *properties) {
    const std::string path = (at.empty() ? "" : at + ".") + std::string(member.key());
    if (path == "apiVersion" || path == "kind" || path == "metadata") continue;
    const JsonObject& field = member.value().get_object();
    const data::Json* otherwise = field.if_contains("default");
    out += fmt::format("| `{}` | {}{} | {} | {} |\n", path, Cell(TypeOf(field)),
                       Requires(schema, member.key()) ? ", required" : "",
                       otherwise == nullptr ? "" : fmt::format("`{}`", Cell(data::ToJson(*otherwise))),
                       Cell(data::StringOr(field, "description")));
    AddRows(field, path, out);
  }
}

}  // namespace

std::string ReferencePage(const Definition& definition) {
  std::string out =
      fmt::format("# {}\n\n`{}`, {}. {}\n\n", definition.resource.kind, definition.resource.ApiVersion(),
                  definition.resource.namespaced ? "in a namespace" : "of the whole cluster", definition.description);
  out += fmt::format("Printed by `gpu-operator crds --reference {}`.\n\n", definition.name());
  out += "| field | type | default | meaning |\n| --- | --- | --- | --- |\n";
  AddRows(OpenApiOf(*definition.schema()), "", out);
  return out;
}

}  // namespace gpuop::api
