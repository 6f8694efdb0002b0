#pragma once
// One expression of a rule: an operator, values, and how they are read.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/nfd.h"
#include "base/result.h"
#include "data/regex.h"
#include "operands/nfd/features.h"

namespace gpuop::operands::nfd {

/// An expression that is ready to be asked, its patterns compiled. What is wrong with it is said when it is asked about
/// an element that is there, because only then it counts. Immutable.
class Expression {
 public:
  explicit Expression(const api::NfdExpression& spec);

  /// Whether an element with this value fits; nullopt stands for an element that is not there, which only DoesNotExist
  /// and an empty operator fit. kInvalid for a wrong expression, and for a value that is no number where one is needed.
  Result<bool> Matches(std::optional<std::string_view> value) const;
  /// The same for an element without a value: operators that need one never fit.
  Result<bool> MatchesFlag(bool there) const;

 private:
  enum class Op {
    kAny,
    kIn,
    kNotIn,
    kInRegexp,
    kExists,
    kDoesNotExist,
    kGt,
    kGe,
    kLt,
    kLe,
    kGtLt,
    kGeLe,
    kIsTrue,
    kIsFalse,
    kUnknown
  };
  static Op OpOf(std::string_view name);
  void Prepare();
  /// Compares values of the operators that order: below 0, 0, above 0.
  Result<int> Compare(std::string_view a, std::string_view b) const;
  Result<bool> InOrder(std::string_view value) const;

  api::NfdExpression spec_;
  Op op_;
  std::vector<data::Regex> patterns_;
  std::optional<Error> fault_;
};

}  // namespace gpuop::operands::nfd
