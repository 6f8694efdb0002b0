#include "sim/crd/version_rules.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "data/json.h"
#include "sim/crd/cel_rules.h"
#include "sim/crd/defaults_check.h"
#include "sim/crd/structural.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;
using Errors = std::vector<FieldError>;

const std::vector<std::string> kColumnTypes = {"boolean", "date", "integer", "number", "string"};
const std::vector<std::string> kColumnFormats = {"byte",  "date",  "date-time", "double",
                                                 "float", "int32", "int64",     "password"};

/// With a status subresource the root may only say what stays true of the parts.
void CheckRootFields(const json::object& schema, const std::string& path, Errors& errors) {
  static const std::set<std::string_view> kAllowed = {"description",
                                                      "type",
                                                      "format",
                                                      "title",
                                                      "maximum",
                                                      "exclusiveMaximum",
                                                      "minimum",
                                                      "exclusiveMinimum",
                                                      "maxLength",
                                                      "minLength",
                                                      "pattern",
                                                      "maxItems",
                                                      "minItems",
                                                      "uniqueItems",
                                                      "multipleOf",
                                                      "required",
                                                      "items",
                                                      "properties",
                                                      "externalDocs",
                                                      "example",
                                                      "x-kubernetes-preserve-unknown-fields",
                                                      "x-kubernetes-validations"};
  if (std::ranges::all_of(schema, [&](const auto& m) { return m.value().is_null() || kAllowed.contains(m.key()); }))
    return;
  errors.push_back(InvalidField(
      path, data::ToJson(schema),
      "only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength "
      "Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example "
      "XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is "
      "enabled"));
}

void CheckPath(const json::object& scale, const char* field, std::string_view under, const std::string& prefix,
               Errors& errors) {
  const std::string path = prefix + field;
  const auto value = PeekString(scale, {field});
  const bool selector = std::string_view(field) == "labelSelectorPath";
  if (value.empty()) {
    if (!selector) errors.push_back(RequiredField(path));
  } else if (!value.starts_with('.')) {
    errors.push_back(InvalidField(path, Quote(value), "must be a simple json path starting with ."));
  } else if (selector ? !value.starts_with(".spec.") && !value.starts_with(".status.")
                      : !value.starts_with(std::string(under) + ".")) {
    errors.push_back(InvalidField(path, Quote(value),
                                  selector ? "should be a json path under either .spec or .status"
                                           : "should be a json path under " + std::string(under)));
  }
}

}  // namespace

void CheckVersionSchema(const json::object& version, const std::string& prefix, Errors& errors) {
  const json::object& schema = PeekObject(version, {"schema", "openAPIV3Schema"});
  if (schema.empty()) return;
  const std::string path = prefix + (prefix == "spec." ? "validation" : "schema") + ".openAPIV3Schema";
  if (Peek(version, {"subresources", "status"}) != nullptr) CheckRootFields(schema, path, errors);
  if (PeekBool(schema, {"nullable"}))
    errors.push_back(ForbiddenField(path + ".nullable", "nullable cannot be true at the root"));
  const std::size_t before = errors.size();
  const Errors fields = CheckSchemaFields(schema, path);
  // What refers elsewhere has no structure to look at.
  if (std::ranges::none_of(fields, [](const FieldError& e) { return e.field.ends_with(".$ref"); }))
    std::ranges::move(CheckStructural(schema, path), std::back_inserter(errors));
  errors.insert(errors.end(), fields.begin(), fields.end());
  if (errors.size() != before) return;
  CheckSchemaDefaults(schema, path, errors);
  CheckCelRules(schema, path, errors);
}

void CheckSubresources(const json::object& version, const std::string& prefix, Errors& errors) {
  const json::value* scale = Peek(version, {"subresources", "scale"});
  if (scale == nullptr) return;
  const std::string path = prefix + "subresources.scale.";
  CheckPath(AsObject(scale), "specReplicasPath", ".spec", path, errors);
  CheckPath(AsObject(scale), "statusReplicasPath", ".status", path, errors);
  CheckPath(AsObject(scale), "labelSelectorPath", "", path, errors);
}

void CheckColumns(const json::object& version, const std::string& prefix, Errors& errors) {
  const json::array& columns = PeekArray(version, {"additionalPrinterColumns"});
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string path = prefix + "additionalPrinterColumns[" + std::to_string(i) + "].";
    const auto type = PeekString(columns[i], {"type"}), format = PeekString(columns[i], {"format"});
    const auto json_path = PeekString(columns[i], {"jsonPath"});
    if (PeekString(columns[i], {"name"}).empty()) errors.push_back(RequiredField(path + "name"));
    const std::string one_type = "must be one of " + Join(kColumnTypes, ",");
    if (type.empty())
      errors.push_back(RequiredField(path + "type", one_type));
    else if (std::ranges::find(kColumnTypes, type) == kColumnTypes.end())
      errors.push_back(InvalidField(path + "type", Quote(type), one_type));
    if (!format.empty() && std::ranges::find(kColumnFormats, format) == kColumnFormats.end())
      errors.push_back(InvalidField(path + "format", Quote(format), "must be one of " + Join(kColumnFormats, ",")));
    if (json_path.empty())
      errors.push_back(RequiredField(path + "JSONPath"));
    else if (!json_path.starts_with('.'))
      errors.push_back(InvalidField(path + "JSONPath", Quote(json_path), "must be a simple json path starting with ."));
  }
}

const json::object* SchemaAt(const json::object& schema, std::string_view path) {
  if (!path.starts_with('.')) return nullptr;
  const json::object* at = &schema;
  for (std::string_view step : Split(path.substr(1), '.')) {
    const json::value* next = Peek(*at, {"properties", step});
    if (next == nullptr || !next->is_object()) return nullptr;
    at = &next->get_object();
  }
  return at;
}

void CheckSelectable(const json::object& version, const std::string& prefix, Errors& errors) {
  const json::array& fields = PeekArray(version, {"selectableFields"});
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string path = prefix + "selectableFields[" + std::to_string(i) + "].jsonPath";
    const auto json_path = PeekString(fields[i], {"jsonPath"});
    if (json_path.empty()) {
      errors.push_back(RequiredField(path));
      continue;
    }
    const json::object* at = SchemaAt(PeekObject(version, {"schema", "openAPIV3Schema"}), json_path);
    const auto type = at == nullptr ? std::string_view() : PeekString(*at, {"type"});
    if (at == nullptr) {
      errors.push_back(InvalidField(path, Quote(json_path), "is an invalid path: does not refer to a valid field"));
    } else if (type != "string" && type != "boolean" && type != "integer") {
      errors.push_back(InvalidField(path, Quote(json_path),
                                    "must point to a field of type string, boolean or integer. Enum string fields and "
                                    "strings with formats are allowed."));
    }
    if (!seen.insert(json_path).second) errors.push_back({FieldError::Kind::kDuplicate, path, Quote(json_path), ""});
  }
}

}  // namespace gpuop::sim
