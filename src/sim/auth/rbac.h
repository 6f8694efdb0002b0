#pragma once
// Who may do what: RBAC over the Roles and bindings in the store.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/auth/rules.h"
#include "sim/store.h"

namespace gpuop::sim {

/// An authorizer's answer. `reason` tells which binding allowed it, or what was broken on the way.
struct Decision {
  bool allowed = false;
  std::string reason;
};

/// Answers from indexes that follow the store's commits; a question costs the bindings of the asker's subjects only.
/// Lives and dies with the store's thread.
class Rbac {
 public:
  /// Reads what is there and follows every later commit. The store outlives it, or stops committing.
  explicit Rbac(Store& store);

  /// Members of system:masters may do everything, others what a rule bound to them allows.
  Decision Authorize(const Attributes& what) const;
  /// Every rule that holds for `user` in namespace `ns` ("" for cluster-wide ones only), cluster bindings first.
  std::vector<PolicyRule> RulesFor(const User& user, std::string_view ns) const;
  /// The rules a roleRef leads to, seen from `ns` ("" from a ClusterRoleBinding); null when there is no such role.
  std::shared_ptr<const std::vector<PolicyRule>> Resolve(std::string_view kind, std::string_view name,
                                                         std::string_view ns) const;

 private:
  struct Binding {
    std::string ns, name, role_kind, role_name;
    /// The subject as reasons print it, by the key it is found under.
    std::map<std::string, std::string, std::less<>> subjects;
  };

  void Forget(const std::string& key);
  void See(std::string_view table, const Stored& object, bool gone);
  /// Calls `see(binding, subject)` for each binding of the user that counts in `ns`, until it returns false.
  template <class F>
  void ForBindings(const User& user, std::string_view ns, F&& see) const;

  /// By "Kind/namespace/name".
  std::map<std::string, std::shared_ptr<const std::vector<PolicyRule>>, std::less<>> roles_;
  std::map<std::string, Binding, std::less<>> bindings_;
  /// Subject -> keys of its bindings. Cluster bindings come first (their keys sort before any with a namespace).
  std::map<std::string, std::set<std::string>, std::less<>> by_subject_;
};

/// The message of a refusal: `nodes "n1" is forbidden: User "x" cannot get resource "nodes" in API group "" at the
/// cluster scope`.
Status ForbiddenFor(const Attributes& what, std::string_view reason = {});

}  // namespace gpuop::sim
