#include "sim/crd/schema_reader.h"

#include <algorithm>

#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;
using data::Schema;
using data::SchemaPtr;

/// The schema that everything passes and nothing is pruned by.
SchemaPtr Anything() {
  auto schema = std::make_shared<Schema>();
  schema->preserve_unknown = true;
  return schema;
}

data::Type TypeOf(std::string_view name) {
  if (name == "string") return data::Type::kString;
  if (name == "integer") return data::Type::kInteger;
  if (name == "number") return data::Type::kNumber;
  if (name == "boolean") return data::Type::kBoolean;
  if (name == "object") return data::Type::kObject;
  return name == "array" ? data::Type::kArray : data::Type::kAny;
}

std::optional<double> NumberAt(const json::object& props, std::string_view field) {
  const json::value* v = Peek(props, {field});
  return v != nullptr && v->is_number() ? std::optional(v->to_number<double>()) : std::nullopt;
}

std::optional<std::int64_t> IntAt(const json::object& props, std::string_view field) {
  const json::value* v = Peek(props, {field});
  return v != nullptr && v->is_number() ? std::optional(AsInt(v)) : std::nullopt;
}

std::vector<SchemaPtr> SchemasAt(const json::object& props, std::string_view field) {
  std::vector<SchemaPtr> out;
  for (const json::value& v : PeekArray(props, {field})) out.push_back(ReadSchema(AsObject(v)));
  return out;
}

std::vector<data::CelRule> RulesAt(const json::object& props) {
  std::vector<data::CelRule> out;
  for (const json::value& v : PeekArray(props, {"x-kubernetes-validations"}))
    out.push_back({.rule = std::string(PeekString(v, {"rule"})),
                   .message = std::string(PeekString(v, {"message"})),
                   .message_expression = std::string(PeekString(v, {"messageExpression"})),
                   .reason = std::string(PeekString(v, {"reason"})),
                   .field_path = std::string(PeekString(v, {"fieldPath"})),
                   .optional_old_self = PeekBool(v, {"optionalOldSelf"})});
  return out;
}

std::shared_ptr<const data::Constraints> ReadConstraints(const json::object& props) {
  static constexpr std::string_view kFields[] = {"enum",
                                                 "pattern",
                                                 "minimum",
                                                 "maximum",
                                                 "multipleOf",
                                                 "minLength",
                                                 "maxLength",
                                                 "minItems",
                                                 "maxItems",
                                                 "uniqueItems",
                                                 "minProperties",
                                                 "maxProperties",
                                                 "allOf",
                                                 "anyOf",
                                                 "oneOf",
                                                 "not",
                                                 "x-kubernetes-validations"};
  if (std::ranges::none_of(kFields, [&](std::string_view f) { return Peek(props, {f}) != nullptr; })) return nullptr;
  auto out = std::make_shared<data::Constraints>();
  for (const json::value& v : PeekArray(props, {"enum"})) out->enumeration.push_back(v);
  out->pattern = PeekString(props, {"pattern"});
  out->minimum = NumberAt(props, "minimum");
  out->maximum = NumberAt(props, "maximum");
  out->multiple_of = NumberAt(props, "multipleOf");
  out->exclusive_minimum = PeekBool(props, {"exclusiveMinimum"});
  out->exclusive_maximum = PeekBool(props, {"exclusiveMaximum"});
  out->unique_items = PeekBool(props, {"uniqueItems"});
  out->min_length = IntAt(props, "minLength");
  out->max_length = IntAt(props, "maxLength");
  out->min_items = IntAt(props, "minItems");
  out->max_items = IntAt(props, "maxItems");
  out->min_properties = IntAt(props, "minProperties");
  out->max_properties = IntAt(props, "maxProperties");
  out->all_of = SchemasAt(props, "allOf");
  out->any_of = SchemasAt(props, "anyOf");
  out->one_of = SchemasAt(props, "oneOf");
  if (const json::value* v = Peek(props, {"not"})) out->not_ = ReadSchema(AsObject(v));
  out->rules = RulesAt(props);
  return out;
}

void ReadProperties(const json::object& props, Schema& schema) {
  for (const auto& [name, value] : PeekObject(props, {"properties"}))
    schema.properties.push_back({.name = name, .schema = ReadSchema(AsObject(&value))});
  std::ranges::sort(schema.properties, {}, &data::Property::name);
  for (const json::value& v : PeekArray(props, {"required"})) {
    const std::string_view name = AsString(v);
    const auto at = std::ranges::lower_bound(schema.properties, name, {}, &data::Property::name);
    if (at != schema.properties.end() && at->name == name) {
      at->required = true;
      continue;
    }
    schema.properties.insert(
        at,
        {.name = std::string(name), .schema = schema.values != nullptr ? schema.values : Anything(), .required = true});
  }
}

void ReadExtensions(const json::object& props, Schema& schema) {
  schema.int_or_string = PeekBool(props, {"x-kubernetes-int-or-string"});
  schema.preserve_unknown = PeekBool(props, {"x-kubernetes-preserve-unknown-fields"});
  schema.embedded_resource = PeekBool(props, {"x-kubernetes-embedded-resource"});
  schema.atomic_map = PeekString(props, {"x-kubernetes-map-type"}) == "atomic";
  const auto list_type = PeekString(props, {"x-kubernetes-list-type"});
  if (list_type == "set") schema.list_type = data::ListType::kSet;
  if (list_type == "map") schema.list_type = data::ListType::kMap;
  for (const json::value& v : PeekArray(props, {"x-kubernetes-list-map-keys"}))
    schema.list_keys.emplace_back(AsString(v));
}

}  // namespace

SchemaPtr ReadSchema(const json::object& props) {
  auto schema = std::make_shared<Schema>();
  schema->type = TypeOf(PeekString(props, {"type"}));
  schema->nullable = PeekBool(props, {"nullable"});
  schema->format = PeekString(props, {"format"});
  schema->title = PeekString(props, {"title"});
  schema->description = PeekString(props, {"description"});
  ReadExtensions(props, *schema);
  if (const json::value* values = Peek(props, {"additionalProperties"})) {
    if (values->is_object())
      schema->values = ReadSchema(values->get_object());
    else if (AsBool(values))
      schema->values = Anything();
  }
  if (const json::value* items = Peek(props, {"items"})) schema->items = ReadSchema(AsObject(items));
  ReadProperties(props, *schema);
  if (const json::value* v = props.if_contains("default"); v != nullptr && !v->is_null()) schema->default_value = *v;
  schema->constraints = ReadConstraints(props);
  return schema;
}

}  // namespace gpuop::sim
