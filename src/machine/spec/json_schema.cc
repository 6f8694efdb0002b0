#include <boost/json.hpp>

#include "data/json.h"
#include "data/schema_of.h"
#include "machine/spec/spec.h"

namespace gpuop::machine {
namespace {

using data::JsonArray;
using data::JsonObject;
using data::Schema;

std::string_view TypeName(data::Type type) {
  switch (type) {
    case data::Type::kAny: return "";
    case data::Type::kString: return "string";
    case data::Type::kInteger: return "integer";
    case data::Type::kNumber: return "number";
    case data::Type::kBoolean: return "boolean";
    case data::Type::kObject: return "object";
    case data::Type::kArray: return "array";
  }
  return "";
}

void AddConstraints(JsonObject& out, const data::Constraints& c) {
  if (!c.enumeration.empty()) out["enum"] = JsonArray(c.enumeration.begin(), c.enumeration.end());
  if (!c.pattern.empty()) out["pattern"] = c.pattern;
  if (c.minimum) out["minimum"] = *c.minimum;
  if (c.maximum) out["maximum"] = *c.maximum;
  if (c.min_length) out["minLength"] = *c.min_length;
  if (c.max_length) out["maxLength"] = *c.max_length;
  if (c.min_items) out["minItems"] = *c.min_items;
  if (c.max_items) out["maxItems"] = *c.max_items;
}

JsonObject ToJsonSchema(const Schema& schema) {
  JsonObject out;
  if (!schema.description.empty()) out["description"] = schema.description;
  if (const auto name = TypeName(schema.type); !name.empty()) out["type"] = name;
  if (schema.default_value) out["default"] = *schema.default_value;
  if (schema.constraints) AddConstraints(out, *schema.constraints);
  if (schema.items) out["items"] = ToJsonSchema(*schema.items);
  if (schema.properties.empty()) return out;
  JsonArray required;
  JsonObject properties;
  for (const data::Property& property : schema.properties) {
    properties[property.name] = ToJsonSchema(*property.schema);
    if (property.required) required.emplace_back(property.name);
  }
  out["properties"] = std::move(properties);
  if (!required.empty()) out["required"] = std::move(required);
  out["additionalProperties"] = false;
  return out;
}

}  // namespace

std::string SpecSchema() {
  JsonObject out{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "A simulated GPU machine"}};
  for (auto& member : ToJsonSchema(*data::SchemaOf<Spec>())) out[member.key()] = std::move(member.value());
  return data::ToPrettyJson(out, 2) + "\n";
}

}  // namespace gpuop::machine
