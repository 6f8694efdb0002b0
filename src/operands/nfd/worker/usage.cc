#include "operands/nfd/worker/usage.h"

#include <algorithm>

#include "base/text.h"

namespace gpuop::operands::nfd {
namespace {

/// What is asked of one feature by all rules.
struct Asked {
  TextSet elements;
  std::vector<const Expression*> names;
  /// Of rules with templates.
  std::vector<const FeatureMatcher*> printed;
  /// Of rules that look at the names of instances' attributes.
  bool whole = false;
};
using AskedByFeature = std::map<std::string, Asked, std::less<>>;

void AddMatchers(const MatcherList& matchers, bool prints, AskedByFeature& out) {
  for (const FeatureMatcher& matcher : matchers) {
    Asked& asked = out[matcher.feature()];
    for (const auto& [name, expression] : matcher.expressions()) asked.elements.insert(name);
    if (matcher.name()) {
      asked.names.push_back(&*matcher.name());
      asked.whole = true;
    }
    if (prints) asked.printed.push_back(&matcher);
  }
}

AskedByFeature AskedBy(const std::vector<const RuleList*>& lists) {
  AskedByFeature out;
  for (const RuleList* list : lists)
    for (const Rule& rule : list->rules) {
      AddMatchers(rule.match_features(), rule.has_templates(), out);
      for (const MatcherList& group : rule.match_any()) AddMatchers(group, rule.has_templates(), out);
      for (const std::string& text : rule.dynamic_values())
        if (const auto path = SplitDynamic(text)) out[std::string(path->first)].elements.emplace(path->second);
    }
  return out;
}

bool IsAsked(const Asked& asked, const std::string& element) {
  if (asked.elements.contains(element)) return true;
  // An expression that cannot be evaluated matches nothing on the other side either.
  return std::ranges::any_of(asked.names,
                             [&](const Expression* name) { return name->Matches(element).value_or(false); });
}

std::vector<TextMap> UsedInstances(const Asked& asked, const std::vector<TextMap>& instances) {
  std::vector<TextMap> out;
  std::set<TextMap> seen;
  for (const TextMap& instance : instances) {
    const bool whole = asked.whole || std::ranges::any_of(asked.printed, [&](const FeatureMatcher* matcher) {
                         return matcher->MatchesInstance(instance).value_or(false);
                       });
    TextMap used;
    for (const auto& [name, value] : instance)
      if (whole || asked.elements.contains(name)) used.emplace(name, value);
    if (seen.insert(used).second) out.push_back(std::move(used));
  }
  return out;
}

}  // namespace

Features UsedFeatures(const Features& features, const std::vector<const RuleList*>& rules) {
  Features out;
  for (const auto& [name, asked] : AskedBy(rules)) {
    if (const auto it = features.flags.find(name); it != features.flags.end()) {
      TextSet& used = out.flags[name];
      for (const std::string& flag : it->second)
        if (IsAsked(asked, flag)) used.insert(flag);
    }
    if (const auto it = features.attributes.find(name); it != features.attributes.end()) {
      TextMap& used = out.attributes[name];
      for (const auto& [element, value] : it->second)
        if (IsAsked(asked, element)) used.emplace(element, value);
    }
    if (const auto it = features.instances.find(name); it != features.instances.end())
      out.instances[name] = UsedInstances(asked, it->second);
  }
  return out;
}

}  // namespace gpuop::operands::nfd
