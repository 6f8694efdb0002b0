#pragma once
// matchFeatures and matchAny: which elements of a node's features fit.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/nfd.h"
#include "base/result.h"
#include "operands/nfd/features.h"
#include "operands/nfd/rules/expression.h"

namespace gpuop::operands::nfd {

/// The elements that fitted, by "domain.name": {Name} of flags, {Name, Value} of attributes, an instance's own
/// attributes. What templates work on.
using Matched = std::map<std::string, std::vector<TextMap>, std::less<>>;

/// One item of matchFeatures.
class FeatureMatcher {
 public:
  explicit FeatureMatcher(const api::NfdMatch& spec);

  /// Lower-case "domain.name".
  const std::string& feature() const { return feature_; }
  /// Elements that are asked about by name.
  const std::vector<std::pair<std::string, Expression>>& expressions() const { return expressions_; }
  const std::optional<Expression>& name() const { return name_; }

  /// Whether `features` have what is asked for. What fitted goes to `matched`.
  Result<bool> Matches(const Features& features, std::vector<TextMap>& matched) const;
  /// The same for one of the instances.
  Result<bool> MatchesInstance(const TextMap& instance) const;

 private:
  struct Found;
  Result<bool> MatchesExpressions(const Found& found, std::vector<TextMap>& matched) const;
  Result<bool> MatchesNames(const Found& found, std::vector<TextMap>& matched) const;
  Result<bool> FitsExpressions(const TextMap& instance) const;
  Result<bool> FitsName(const TextMap& instance) const;

  std::string feature_;
  bool has_expressions_;
  std::vector<std::pair<std::string, Expression>> expressions_;
  std::optional<Expression> name_;
};

/// matchFeatures: all must match.
using MatcherList = std::vector<FeatureMatcher>;

/// Whether all of `matchers` match; nullopt when not. kInvalid from the first one that is wrong.
Result<std::optional<Matched>> MatchAll(const MatcherList& matchers, const Features& features);

}  // namespace gpuop::operands::nfd
