#pragma once

#include <memory>
#include <utility>

#include "data/field.h"
#include "data/writer.h"

namespace gpuop::data {

/// Gathers the structural schema of a type that describes itself (data/field.h).
class SchemaBuilder {
 public:
  template <class T>
  void operator()(std::string_view name, T& field, const FieldRules& rules = {}) {
    auto schema = std::make_shared<Schema>(Of<T>());
    Apply(*schema, rules);
    if (rules.defaulted) schema->default_value = WriteValue(std::as_const(field));
    Add(name, std::move(schema), rules.required);
  }
  Schema Take() &&;

  template <class T>
  static Schema Of() {
    Schema schema;
    if constexpr (std::same_as<T, std::string> || std::same_as<T, Duration>) {
      schema.type = Type::kString;
    } else if constexpr (std::same_as<T, bool>) {
      schema.type = Type::kBoolean;
    } else if constexpr (std::same_as<T, double>) {
      schema.type = Type::kNumber;
    } else if constexpr (std::integral<T>) {
      schema.type = Type::kInteger;
      schema.format = sizeof(T) > 4 ? "int64" : "int32";
    } else if constexpr (std::same_as<T, Quantity>) {
      schema = QuantitySchema();
    } else if constexpr (std::same_as<T, IntOrString>) {
      schema.int_or_string = true;
    } else if constexpr (std::same_as<T, Json>) {
      schema.preserve_unknown = true;
    } else if constexpr (kIsOptional<T>) {
      schema = Of<typename T::value_type>();
    } else if constexpr (kIsVector<T>) {
      schema.type = Type::kArray;
      schema.items = std::make_shared<const Schema>(Of<typename T::value_type>());
    } else if constexpr (kIsMap<T>) {
      schema.type = Type::kObject;
      schema.values = std::make_shared<const Schema>(Of<typename T::mapped_type>());
    } else if constexpr (NamedEnum<T>) {
      std::vector<std::string> names;
      for (const auto& candidate : NamesOf(T{})) names.emplace_back(candidate.name);
      schema.type = Type::kString;
      Apply(schema, {.enumeration = std::move(names)});
    } else {
      T value{};
      SchemaBuilder builder;
      value.Visit(builder);
      schema = std::move(builder).Take();
      if constexpr (requires { T::kAtomicMap; }) schema.atomic_map = T::kAtomicMap;
    }
    return schema;
  }

 private:
  static Schema QuantitySchema();
  /// Puts the rules into the schema; what they do not say stays.
  static void Apply(Schema& schema, const FieldRules& rules);
  void Add(std::string_view name, SchemaPtr schema, bool required);

  Schema schema_;
};

/// The schema of T, made anew. T must not contain itself.
template <class T>
SchemaPtr SchemaOf() {
  return std::make_shared<const Schema>(SchemaBuilder::Of<T>());
}

}  // namespace gpuop::data
