#pragma once
// Schemas for tests, read from the form that CRDs are written in. As far as the cases need it; nothing is checked.

#include <memory>

#include "data/json.h"
#include "data/schema.h"

namespace gpuop::data {

inline SchemaPtr TestSchema(const Json& in);

inline std::vector<SchemaPtr> TestSchemas(const Json& in, std::string_view name) {
  std::vector<SchemaPtr> out;
  if (const JsonArray* list = GetArray(in, name))
    for (const Json& item : *list) out.push_back(TestSchema(item));
  return out;
}

inline std::shared_ptr<const Constraints> TestConstraints(const Json& in) {
  Constraints c;
  const auto number = [&](std::string_view name) -> std::optional<double> {
    const Json* v = Find(in, name);
    return v == nullptr ? std::nullopt : std::optional(v->to_number<double>());
  };
  if (const JsonArray* values = GetArray(in, "enum")) c.enumeration.assign(values->begin(), values->end());
  c.pattern = StringOr(in, "pattern");
  c.minimum = number("minimum");
  c.maximum = number("maximum");
  c.multiple_of = number("multipleOf");
  c.exclusive_minimum = BoolOr(in, "exclusiveMinimum");
  c.exclusive_maximum = BoolOr(in, "exclusiveMaximum");
  c.min_length = GetInt(in, "minLength");
  c.max_length = GetInt(in, "maxLength");
  c.min_items = GetInt(in, "minItems");
  c.max_items = GetInt(in, "maxItems");
  c.min_properties = GetInt(in, "minProperties");
  c.max_properties = GetInt(in, "maxProperties");
  c.all_of = TestSchemas(in, "allOf");
  c.any_of = TestSchemas(in, "anyOf");
  c.one_of = TestSchemas(in, "oneOf");
  if (const Json* v = Find(in, "not")) c.not_ = TestSchema(*v);
  if (const JsonArray* rules = GetArray(in, "x-kubernetes-validations"))
    for (const Json& r : *rules)
      c.rules.push_back({std::string(StringOr(r, "rule")), std::string(StringOr(r, "message")),
                         std::string(StringOr(r, "messageExpression")), std::string(StringOr(r, "reason")),
                         std::string(StringOr(r, "fieldPath")), BoolOr(r, "optionalOldSelf")});
  return std::make_shared<const Constraints>(std::move(c));
}

inline Type TestType(std::string_view name) {
  static constexpr std::pair<std::string_view, Type> kTypes[] = {{"string", Type::kString}, {"integer", Type::kInteger},
                                                                 {"number", Type::kNumber}, {"boolean", Type::kBoolean},
                                                                 {"object", Type::kObject}, {"array", Type::kArray}};
  for (const auto& [text, type] : kTypes)
    if (text == name) return type;
  return Type::kAny;
}

inline SchemaPtr TestSchema(const Json& in) {
  auto out = std::make_shared<Schema>();
  out->type = TestType(StringOr(in, "type"));
  out->format = StringOr(in, "format");
  out->nullable = BoolOr(in, "nullable");
  out->int_or_string = BoolOr(in, "x-kubernetes-int-or-string");
  out->preserve_unknown = BoolOr(in, "x-kubernetes-preserve-unknown-fields");
  out->embedded_resource = BoolOr(in, "x-kubernetes-embedded-resource");
  const std::string_view list = StringOr(in, "x-kubernetes-list-type");
  out->list_type = list == "set" ? ListType::kSet : list == "map" ? ListType::kMap : ListType::kAtomic;
  if (const JsonArray* keys = GetArray(in, "x-kubernetes-list-map-keys"))
    for (const Json& key : *keys) out->list_keys.emplace_back(StringOr(key, ""));
  if (const Json* v = Find(in, "items")) out->items = TestSchema(*v);
  if (const Json* v = Find(in, "additionalProperties")) out->values = TestSchema(*v);
  if (const Json* v = Find(in, "default")) out->default_value = *v;
  if (const JsonObject* properties = GetObject(in, "properties"))
    for (const auto& p : *properties)
      out->properties.push_back({std::string(p.key()), TestSchema(p.value()), false, 0});
  if (const JsonArray* required = GetArray(in, "required")) {
    for (const Json& name : *required) {
      const auto it = std::ranges::find(out->properties, StringOr(name, ""), &Property::name);
      if (it != out->properties.end()) it->required = true;
      // In an alternative a field may be required that only the outer schema describes.
      if (it == out->properties.end()) out->properties.push_back({std::string(StringOr(name, "")), nullptr, true, 0});
    }
  }
  std::ranges::sort(out->properties, {}, &Property::name);
  out->constraints = TestConstraints(in);
  return out;
}

}  // namespace gpuop::data
