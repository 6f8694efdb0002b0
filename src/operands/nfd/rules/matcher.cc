#include "operands/nfd/rules/matcher.h"

#include <algorithm>

#include "base/text.h"

namespace gpuop::operands::nfd {

/// A feature in its three kinds; null where it has none of a kind.
struct FeatureMatcher::Found {
  const TextSet* flags = nullptr;
  const TextMap* attributes = nullptr;
  const std::vector<TextMap>* instances = nullptr;
};

namespace {

template <class Map>
auto* FindIn(const Map& map, const std::string& name) {
  const auto it = map.find(name);
  return it == map.end() ? nullptr : &it->second;
}

/// What `found` points to; an empty one when it points nowhere.
template <class Container>
const Container& OrNone(const Container* found) {
  static const Container kNone{};
  return found == nullptr ? kNone : *found;
}

}  // namespace

FeatureMatcher::FeatureMatcher(const api::NfdMatch& spec)
    : feature_(ToLower(spec.feature)), has_expressions_(!spec.expressions.empty() || !spec.name) {
  for (const auto& [name, expression] : spec.expressions) expressions_.emplace_back(name, Expression(expression));
  if (spec.name) name_.emplace(*spec.name);
}

Result<bool> FeatureMatcher::FitsExpressions(const TextMap& instance) const {
  for (const auto& [name, expression] : expressions_) {
    const auto it = instance.find(name);
    ASSIGN(const bool fits,
           expression.Matches(it == instance.end() ? std::nullopt : std::optional<std::string_view>(it->second)));
    if (!fits) return false;
  }
  return true;
}

Result<bool> FeatureMatcher::FitsName(const TextMap& instance) const {
  for (const auto& [name, value] : instance) {
    ASSIGN(const bool fits, name_->Matches(name));
    if (fits) return true;
  }
  return false;
}

Result<bool> FeatureMatcher::MatchesInstance(const TextMap& instance) const {
  ASSIGN(const bool fits, FitsExpressions(instance));
  if (!fits || !name_) return fits;
  return FitsName(instance);
}

/// Flags and attributes of one name are one set of elements; instances are looked at by themselves.
Result<bool> FeatureMatcher::MatchesExpressions(const Found& found, std::vector<TextMap>& matched) const {
  bool all = found.flags != nullptr || found.attributes != nullptr;
  std::vector<TextMap> fitted;
  for (const auto& [name, expression] : expressions_) {
    if (!all) break;
    const bool flag = found.flags != nullptr && found.flags->contains(name);
    const std::string* value = found.attributes == nullptr ? nullptr : FindIn(*found.attributes, name);
    bool fits = false;
    if (value != nullptr) {
      ASSIGN(fits, expression.Matches(*value));
      if (fits) fitted.push_back({{"Name", name}, {"Value", *value}});
    }
    if (flag && !fits) {
      ASSIGN(fits, expression.MatchesFlag(true));
      if (fits) fitted.push_back({{"Name", name}});
    }
    if (!flag && value == nullptr) {
      ASSIGN(fits, expression.Matches(std::nullopt));
      if (fits && found.attributes != nullptr) fitted.push_back({{"Name", name}, {"Value", ""}});
      if (fits && found.attributes == nullptr) fitted.push_back({{"Name", name}});
    }
    all = fits;
  }
  if (all) matched.insert(matched.end(), fitted.begin(), fitted.end());
  bool any = all;
  for (const TextMap& instance : OrNone(found.instances)) {
    ASSIGN(const bool fits, FitsExpressions(instance));
    if (fits) matched.push_back(instance);
    any = any || fits;
  }
  return any;
}

Result<bool> FeatureMatcher::MatchesNames(const Found& found, std::vector<TextMap>& matched) const {
  bool any = false;
  for (const std::string& name : OrNone(found.flags)) {
    ASSIGN(const bool fits, name_->Matches(name));
    if (fits) matched.push_back({{"Name", name}});
    any = any || fits;
  }
  for (const auto& [name, value] : OrNone(found.attributes)) {
    ASSIGN(const bool fits, name_->Matches(name));
    if (fits) matched.push_back({{"Name", name}, {"Value", value}});
    any = any || fits;
  }
  for (const TextMap& instance : OrNone(found.instances)) {
    ASSIGN(const bool fits, FitsName(instance));
    if (fits) matched.push_back(instance);
    any = any || fits;
  }
  return any;
}

Result<bool> FeatureMatcher::Matches(const Features& features, std::vector<TextMap>& matched) const {
  const Found found{FindIn(features.flags, feature_), FindIn(features.attributes, feature_),
                    FindIn(features.instances, feature_)};
  if (found.flags == nullptr && found.attributes == nullptr && found.instances == nullptr) return false;
  if (has_expressions_) {
    ASSIGN(const bool fits, MatchesExpressions(found, matched));
    if (!fits) return false;
  }
  return name_ ? MatchesNames(found, matched) : Result<bool>(true);
}

Result<std::optional<Matched>> MatchAll(const MatcherList& matchers, const Features& features) {
  Matched out;
  for (const FeatureMatcher& matcher : matchers) {
    auto fits = matcher.Matches(features, out[matcher.feature()]);
    if (!fits) return std::unexpected(std::move(fits).error().During(matcher.feature()));
    if (!*fits) return std::optional<Matched>();
  }
  return std::optional(std::move(out));
}

}  // namespace gpuop::operands::nfd
