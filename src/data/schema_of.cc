#include "data/schema_of.h"

#include <boost/json.hpp>

namespace gpuop::data {

Schema SchemaBuilder::Take() && {
  schema_.type = Type::kObject;
  std::ranges::sort(schema_.properties, {}, &Property::name);
  return std::move(schema_);
}

void SchemaBuilder::Add(std::string_view name, SchemaPtr schema, bool required) {
  schema_.properties.push_back({std::string(name), std::move(schema), required, 0});
}

/// As Kubernetes publishes it for resource.Quantity.
Schema SchemaBuilder::QuantitySchema() {
  Schema schema;
  schema.int_or_string = true;
  auto constraints = std::make_shared<Constraints>();
  constraints->pattern =
      R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)";
  schema.constraints = std::move(constraints);
  return schema;
}

void SchemaBuilder::Apply(Schema& schema, const FieldRules& rules) {
  if (!rules.description.empty()) schema.description = rules.description;
  if (!rules.format.empty()) schema.format = rules.format;
  schema.nullable = schema.nullable || rules.nullable;
  schema.preserve_unknown = schema.preserve_unknown || rules.preserve_unknown;
  if (rules.list_type != ListType::kAtomic) schema.list_type = rules.list_type;
  if (!rules.list_keys.empty()) schema.list_keys = rules.list_keys;
  Constraints constraints = schema.constraints ? *schema.constraints : Constraints();
  for (const std::string& name : rules.enumeration) constraints.enumeration.emplace_back(name);
  if (!rules.pattern.empty()) constraints.pattern = rules.pattern;
  const auto take = [](auto& into, const auto& from) {
    if (from) into = from;
  };
  take(constraints.minimum, rules.minimum);
  take(constraints.maximum, rules.maximum);
  take(constraints.min_length, rules.min_length);
  take(constraints.max_length, rules.max_length);
  take(constraints.min_items, rules.min_items);
  take(constraints.max_items, rules.max_items);
  constraints.rules.insert(constraints.rules.end(), rules.rules.begin(), rules.rules.end());
  const bool any = !constraints.enumeration.empty() || !constraints.pattern.empty() || constraints.minimum ||
                   constraints.maximum || constraints.min_length || constraints.max_length || constraints.min_items ||
                   constraints.max_items || !constraints.rules.empty();
  if (any) schema.constraints = std::make_shared<const Constraints>(std::move(constraints));
}

}  // namespace gpuop::data
