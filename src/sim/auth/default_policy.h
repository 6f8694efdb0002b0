#pragma once
// The roles and bindings that every cluster has from the start.

#include <boost/json/object.hpp>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"
#include "sim/store.h"

namespace gpuop::sim {

/// Roles and bindings as Kubernetes 1.36 creates them; the form is ParsePolicy's.
extern const char* const kDefaultRoles;
extern const char* const kDefaultControllerRoles;

/// An object and the store table it belongs to.
struct PolicyObject {
  std::string table;
  boost::json::object object;
};

/// Reads a policy text. Each line is one of
///   role NAME [in LABEL,…] [from LABEL,…]   a ClusterRole; `in`: aggregate labels it carries, `from`: those it
///   collects local NAMESPACE NAME                    a Role
///     VERBS GROUPS RESOURCES [NAMES]        a rule of the role above; the group "core" is ""
///     VERBS url URLS
///   bind NAME CLUSTERROLE SUBJECTS          a ClusterRoleBinding; subjects are U:user, G:group, S:namespace/account,
///   or - bindlocal NAMESPACE NAME KIND ROLE SUBJECTS
/// A ClusterRole named system:controller:X is bound to the service account kube-system/X.
std::vector<PolicyObject> ParsePolicy(std::string_view text);

/// Puts the default roles and bindings into the store, as far as they are not there. Aggregated roles come complete.
void EnsureDefaultPolicy(Store& store, WallTime now, Rng& rng);

/// What the ClusterRole `role` collects by its aggregationRule from `all` ClusterRoles (by name), each rule once.
boost::json::array AggregatedRules(const boost::json::object& role, const std::vector<const boost::json::object*>& all);

}  // namespace gpuop::sim
