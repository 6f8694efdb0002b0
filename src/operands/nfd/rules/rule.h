#pragma once
// One rule and sets of them: from a node's features to what the node gets.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/nfd.h"
#include "base/result.h"
#include "operands/nfd/features.h"
#include "operands/nfd/rules/matcher.h"
#include "operands/nfd/rules/template.h"

namespace gpuop::operands::nfd {

/// What a rule that matches gives; names and values as the rule has them.
struct RuleOutput {
  TextMap labels, annotations, extended_resources, vars;
  std::vector<api::NfdTaint> taints;

  /// Takes in what a later rule gives.
  void Add(RuleOutput other);
};

/// A rule that is ready to be asked. Immutable.
class Rule {
 public:
  explicit Rule(const api::NfdRule& spec);
  explicit Rule(const api::NfdRuleBase& spec);
  /// A rule that could not be read: its error is what it says whenever it is asked.
  Rule(std::string name, Error fault) : name_(std::move(name)), fault_(std::move(fault)) {}

  const std::string& name() const { return name_; }
  /// What the node gets; nullopt when the rule does not match.
  Result<std::optional<RuleOutput>> Apply(const Features& features) const;

  const MatcherList& match_features() const { return match_features_; }
  const std::vector<MatcherList>& match_any() const { return match_any_; }
  bool has_templates() const { return labels_template_ || vars_template_; }
  /// "@domain.name.element" values.
  std::vector<std::string> dynamic_values() const;

 private:
  Result<> Expand(const Matched& matched, RuleOutput& out) const;

  std::string name_;
  std::optional<Error> fault_;
  RuleOutput fixed_;
  std::optional<Template> labels_template_, vars_template_;
  MatcherList match_features_;
  std::vector<MatcherList> match_any_;
};

/// The rules of one object, or of a configuration.
struct RuleList {
  std::string source;
  std::vector<Rule> rules;
};

/// Reads `rules` (a list of NodeFeatureRule's spec.rules). One that cannot be read is in its place, with its error.
RuleList ReadRules(std::string source, const data::Json& rules);

/// What all rules give, in order; labels and variables of each can be matched by the later ones as attributes of
/// rule.matched, which are in `features` afterwards.
struct RulesOutput {
  RuleOutput output;
  /// "gpu-rules: rule 3 (fast network): op Gt: takes one value, got 2". Such a rule gives nothing, the others do.
  std::vector<std::string> problems;
};
RulesOutput ApplyRules(const std::vector<const RuleList*>& lists, Features& features);

/// The feature that rules' own results are.
inline constexpr std::string_view kMatchedFeature = "rule.matched";

/// "@domain.name.element" as {"domain.name", "element"}, views into `text`; nullopt for what is not of that form.
std::optional<std::pair<std::string_view, std::string_view>> SplitDynamic(std::string_view text);

/// What stands for "@domain.name.element": an attribute's value. kInvalid when there is none. Other texts stand for
/// themselves.
Result<std::string> ValueOf(const std::string& text, const Features& features);

}  // namespace gpuop::operands::nfd
