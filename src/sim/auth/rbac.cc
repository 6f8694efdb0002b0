#include "sim/auth/rbac.h"

#include <boost/json/parse.hpp>

#include "base/text.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

constexpr std::string_view kRoles = "rbac.authorization.k8s.io/roles";
constexpr std::string_view kClusterRoles = "rbac.authorization.k8s.io/clusterroles";
constexpr std::string_view kRoleBindings = "rbac.authorization.k8s.io/rolebindings";
constexpr std::string_view kClusterRoleBindings = "rbac.authorization.k8s.io/clusterrolebindings";
constexpr std::string_view kAccountPrefix = "system:serviceaccount:";

std::string Key(std::string_view ns, std::string_view name) { return std::string(ns).append("/").append(name); }

/// The keys that a user is found under.
std::vector<std::string> SubjectKeys(const User& user) {
  std::vector<std::string> out = {"User/" + user.name};
  for (const std::string& group : user.groups) out.push_back("Group/" + group);
  if (user.name.starts_with(kAccountPrefix)) out.push_back("ServiceAccount/" + user.name.substr(kAccountPrefix.size()));
  return out;
}

/// "ServiceAccount/NS:NAME" and how reasons print it.
std::pair<std::string, std::string> SubjectOf(const json::object& subject, std::string_view binding_ns) {
  const std::string kind(PeekString(subject, {"kind"})), name(PeekString(subject, {"name"}));
  if (kind != "ServiceAccount") return {kind + "/" + name, kind + " " + Quote(name)};
  std::string ns(PeekString(subject, {"namespace"}));
  if (ns.empty()) ns = binding_ns;
  return {kind + "/" + ns + ":" + name, kind + " " + Quote(name + "/" + ns)};
}

}  // namespace

Rbac::Rbac(Store& store) {
  for (std::string_view table : {kRoles, kClusterRoles, kRoleBindings, kClusterRoleBindings})
    for (const StoredPtr& object : store.List(table, {}).items) See(table, *object, false);
  store.Observe([this](std::string_view table, const Event& event) {
    See(table, *event.object, event.type == Event::Type::kDeleted);
  });
}

void Rbac::Forget(const std::string& key) {
  const auto it = bindings_.find(key);
  if (it == bindings_.end()) return;
  for (const auto& [subject, text] : it->second.subjects) {
    const auto found = by_subject_.find(subject);
    if (found == by_subject_.end()) continue;
    found->second.erase(key);
    if (found->second.empty()) by_subject_.erase(found);
  }
  bindings_.erase(it);
}

void Rbac::See(std::string_view table, const Stored& object, bool gone) {
  const std::string key = Key(object.ns, object.name);
  if (table == kRoles || table == kClusterRoles) {
    const std::string role = (table == kRoles ? "Role/" : "ClusterRole/") + key;
    if (gone)
      roles_.erase(role);
    else
      roles_[role] = std::make_shared<const std::vector<PolicyRule>>(RulesOf(AsObject(json::parse(object.json))));
    return;
  }
  if (table != kRoleBindings && table != kClusterRoleBindings) return;
  Forget(key);
  if (gone) return;
  const json::value parsed = json::parse(object.json);
  Binding binding{.ns = std::string(object.ns),
                  .name = std::string(object.name),
                  .role_kind = std::string(PeekString(parsed, {"roleRef", "kind"})),
                  .role_name = std::string(PeekString(parsed, {"roleRef", "name"})),
                  .subjects = {}};
  for (const json::value& subject : PeekArray(parsed, {"subjects"})) {
    auto [subject_key, text] = SubjectOf(AsObject(subject), object.ns);
    by_subject_[subject_key].insert(key);
    binding.subjects.emplace(std::move(subject_key), std::move(text));
  }
  bindings_[key] = std::move(binding);
}

template <class F>
void Rbac::ForBindings(const User& user, std::string_view ns, F&& see) const {
  for (const std::string& subject : SubjectKeys(user)) {
    const auto found = by_subject_.find(subject);
    if (found == by_subject_.end()) continue;
    for (const std::string& key : found->second) {
      const Binding& binding = bindings_.find(key)->second;
      if (!binding.ns.empty() && binding.ns != ns) continue;
      if (!see(binding, binding.subjects.find(subject)->second)) return;
    }
  }
}

std::shared_ptr<const std::vector<PolicyRule>> Rbac::Resolve(std::string_view kind, std::string_view name,
                                                             std::string_view ns) const {
  const std::string key = std::string(kind) + "/" + Key(kind == "Role" ? ns : std::string_view(), name);
  const auto it = roles_.find(key);
  return it == roles_.end() ? nullptr : it->second;
}

Decision Rbac::Authorize(const Attributes& what) const {
  if (what.user.In("system:masters")) return {true, ""};
  Decision decision;
  std::vector<std::string> missing;
  ForBindings(what.user, what.ns, [&](const Binding& binding, const std::string& subject) {
    if (!binding.ns.empty() && !what.IsResource()) return true;
    const auto rules = Resolve(binding.role_kind, binding.role_name, binding.ns);
    if (rules == nullptr) {
      missing.push_back(ToLower(binding.role_kind) + ".rbac.authorization.k8s.io " + Quote(binding.role_name) +
                        " not found");
      return true;
    }
    for (const PolicyRule& rule : *rules)
      if (Allows(rule, what)) {
        const bool local = !binding.ns.empty();
        decision = {true, std::string("RBAC: allowed by ") + (local ? "RoleBinding " : "ClusterRoleBinding ") +
                              Quote(local ? binding.name + "/" + binding.ns : binding.name) + " of " +
                              binding.role_kind + " " + Quote(binding.role_name) + " to " + subject};
        return false;
      }
    return true;
  });
  if (!decision.allowed && !missing.empty())
    decision.reason = "RBAC: " + (missing.size() == 1 ? missing[0] : "[" + Join(missing, ", ") + "]");
  return decision;
}

std::vector<PolicyRule> Rbac::RulesFor(const User& user, std::string_view ns) const {
  std::vector<PolicyRule> out;
  std::set<std::string> seen;
  const auto collect = [&](bool local) {
    ForBindings(user, ns, [&](const Binding& binding, const std::string&) {
      if (local == binding.ns.empty() || !seen.insert(Key(binding.ns, binding.name)).second) return true;
      if (const auto rules = Resolve(binding.role_kind, binding.role_name, binding.ns))
        out.insert(out.end(), rules->begin(), rules->end());
      return true;
    });
  };
  collect(false);
  collect(true);
  return out;
}

Status ForbiddenFor(const Attributes& what, std::string_view reason) {
  Status status{.code = 403, .reason = "Forbidden", .message = {}, .details = StatusDetails{}, .continue_token = {}};
  std::string why = "User " + Quote(what.user.name) + " cannot " + what.verb;
  if (!what.IsResource()) {
    status.message = "forbidden: " + why + " path " + Quote(what.path);
  } else {
    status.details->group = what.group;
    status.details->kind = what.resource;
    status.details->name = what.name;
    status.message = what.group.empty() ? what.resource : what.resource + "." + what.group;
    if (!what.name.empty()) status.message += " " + Quote(what.name);
    const std::string full = what.subresource.empty() ? what.resource : what.resource + "/" + what.subresource;
    why += " resource " + Quote(full) + " in API group " + Quote(what.group);
    why += what.ns.empty() ? " at the cluster scope" : " in the namespace " + Quote(what.ns);
    status.message += " is forbidden: " + why;
  }
  if (!reason.empty()) status.message.append(": ").append(reason);
  return status;
}

}  // namespace gpuop::sim
