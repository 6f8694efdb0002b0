#pragma once

#include <memory>
#include <vector>

#include "data/field_error.h"
#include "data/json.h"
#include "data/schema.h"

namespace gpuop::data {

/// Holds values to a structural schema: types, enumerations, bounds, patterns, list sets and maps, and CEL rules; with
/// the API server's messages. Patterns and rules are compiled once. Copies share; const use is thread-safe.
class SchemaValidator {
 public:
  explicit SchemaValidator(SchemaPtr schema);

  /// Everything that is wrong with `value`, in the order in which the API server lists it. `old` is what it replaces,
  /// for rules that compare (transition rules do not apply without it). CEL rules run only when the rest is well.
  std::vector<FieldError> Validate(const Json& value, const Json* old = nullptr) const;

  /// What is wrong with the schema's own patterns and rules, for whoever accepts it: one text each.
  const std::vector<std::string>& problems() const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace gpuop::data
