#pragma once
// RBAC's rules: what one says, whether it allows a request, and whether a set of them covers another.

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sim/request.h"

namespace gpuop::sim {

/// One rule of a Role or ClusterRole (rbac/v1 PolicyRule).
struct PolicyRule {
  std::vector<std::string> verbs, groups, resources, names, urls;

  static PolicyRule From(const boost::json::object& rule);
  boost::json::object ToJson() const;
  bool operator==(const PolicyRule&) const = default;
};

/// The rules of a Role's or ClusterRole's JSON.
std::vector<PolicyRule> RulesOf(const boost::json::object& role);

/// Whether `rule` allows `what` (who asks and where does not matter here).
bool Allows(const PolicyRule& rule, const Attributes& what);

/// `rule` taken apart into rules of one verb, one group, one resource (and name) or URL each: what escalation
/// checks compare.
std::vector<PolicyRule> Atoms(const PolicyRule& rule);
/// Whether `owner` allows everything that the atom allows.
bool Covers(const PolicyRule& owner, const PolicyRule& atom);
/// The atoms of `wanted` that no rule of `held` covers, merged to compact rules again and in the API server's order.
std::vector<PolicyRule> Uncovered(const std::vector<PolicyRule>& held, const std::vector<PolicyRule>& wanted);
/// As messages print a rule: {APIGroups:[""], Resources:["pods"], Verbs:["get"]}.
std::string Describe(const PolicyRule& rule);

}  // namespace gpuop::sim
