#pragma once
// The Common Expression Language as far as Kubernetes' validation rules use it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "data/json.h"

namespace gpuop::data {

/// A compiled expression. Copies share; evaluation is const and thread-safe.
///
/// Known: literals, lists and maps, all operators, ?: and index and field selection, has(), size(), in, the macros
/// all, exists, exists_one, map and filter, conversions, optional values, and the functions in cel/functions.cc. Not
/// known: timestamps and durations, URLs, addresses and dates. Errors absorb as in the language: `false && error` is
/// false.
class CelProgram {
 public:
  /// kInvalid with line and column when `text` does not parse or calls a function that does not exist.
  static Result<CelProgram> Compile(std::string_view text);

  /// What the expression may see. `old_self` is absent for a creation.
  struct Input {
    const Json* self = nullptr;
    const Json* old_self = nullptr;
    /// oldSelf is an optional value rather than the old value itself.
    bool optional_old_self = false;
  };
  /// The value as JSON. kInvalid with the language's message on an evaluation error ("no such key: x"), kTooLarge
  /// when evaluation costs more than `cost_limit` steps. `cost`, if given, is what it cost.
  Result<Json> Evaluate(const Input& input, std::uint64_t cost_limit = kCostLimit, std::uint64_t* cost = nullptr) const;

  /// Whether the expression speaks of oldSelf.
  bool UsesOldSelf() const;

  /// Kubernetes' limit for one expression.
  static constexpr std::uint64_t kCostLimit = 1'000'000;

  struct Node;

 private:
  explicit CelProgram(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  std::shared_ptr<const Node> root_;
};

}  // namespace gpuop::data
