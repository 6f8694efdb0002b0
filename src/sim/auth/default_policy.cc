#include "sim/auth/default_policy.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "sim/auth/rules.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";
constexpr std::string_view kAggregate = "rbac.authorization.k8s.io/";
constexpr std::string_view kController = "system:controller:";

json::object NewObject(std::string_view kind, std::string_view ns, std::string_view name) {
  json::object meta{{"name", name},
                    {"labels", {{"kubernetes.io/bootstrapping", "rbac-defaults"}}},
                    {"annotations", {{"rbac.authorization.kubernetes.io/autoupdate", "true"}}}};
  if (!ns.empty()) meta["namespace"] = ns;
  return {{"apiVersion", std::string(kGroup) + "/v1"}, {"kind", kind}, {"metadata", std::move(meta)}};
}

json::array ListOf(std::string_view comma_separated) {
  json::array out;
  for (std::string_view part : Split(comma_separated, ','))
    out.emplace_back(part == "core" ? std::string_view() : part);
  return out;
}

json::object RuleOf(const std::vector<std::string_view>& words) {
  json::object rule{{"verbs", ListOf(words[0])}};
  if (words[1] == "url") {
    rule["nonResourceURLs"] = ListOf(words[2]);
    return rule;
  }
  rule["apiGroups"] = ListOf(words[1]);
  rule["resources"] = ListOf(words[2]);
  if (words.size() > 3) rule["resourceNames"] = ListOf(words[3]);
  return rule;
}

json::object SubjectOf(std::string_view word) {
  const std::string_view name = word.substr(2);
  if (word[0] == 'S') {
    const auto account = Cut(name, '/');
    return {{"kind", "ServiceAccount"}, {"name", account->second}, {"namespace", account->first}};
  }
  return {{"kind", word[0] == 'U' ? "User" : "Group"}, {"apiGroup", kGroup}, {"name", name}};
}

PolicyObject Binding(std::string_view ns, std::string_view name, std::string_view role_kind, std::string_view role,
                     std::string_view subjects) {
  json::object object = NewObject(ns.empty() ? "ClusterRoleBinding" : "RoleBinding", ns, name);
  object["roleRef"] = {{"apiGroup", kGroup}, {"kind", role_kind}, {"name", role}};
  if (subjects != "-") {
    json::array& list = object["subjects"].emplace_array();
    for (std::string_view word : Split(subjects, ',')) list.push_back(SubjectOf(word));
  }
  return {std::string(kGroup) + (ns.empty() ? "/clusterrolebindings" : "/rolebindings"), std::move(object)};
}

/// `words` are role NAME [in …] [from …].
PolicyObject ClusterRole(const std::vector<std::string_view>& words) {
  json::object role = NewObject("ClusterRole", "", words[1]);
  for (std::size_t i = 2; i + 1 < words.size(); i += 2)
    for (std::string_view label : Split(words[i + 1], ',')) {
      const std::string key = std::string(kAggregate).append(label);
      if (words[i] == "in") {
        Ensure(role, {"metadata", "labels"})[key] = "true";
      } else {
        json::value& selectors = Ensure(role, {"aggregationRule"})["clusterRoleSelectors"];
        if (!selectors.is_array()) selectors.emplace_array();
        selectors.get_array().push_back({{"matchLabels", {{key, "true"}}}});
      }
    }
  role["rules"].emplace_array();
  return {std::string(kGroup) + "/clusterroles", std::move(role)};
}

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> out;
  for (std::string_view word : Split(line, ' '))
    if (!word.empty()) out.push_back(word);
  return out;
}

bool Selected(const json::object& role, const json::object& labels) {
  for (const json::value& selector : PeekArray(role, {"aggregationRule", "clusterRoleSelectors"})) {
    const json::object& wanted = PeekObject(selector, {"matchLabels"});
    if (!wanted.empty() && std::ranges::all_of(wanted, [&](const auto& w) {
          const json::value* has = labels.if_contains(w.key());
          return has != nullptr && *has == w.value();
        }))
      return true;
  }
  return false;
}

}  // namespace

std::vector<PolicyObject> ParsePolicy(std::string_view text) {
  std::vector<PolicyObject> out;
  std::vector<PolicyObject> bindings;
  for (std::string_view line : Split(text, '\n')) {
    const std::vector<std::string_view> words = Words(line);
    if (words.empty()) continue;
    if (line[0] == ' ') {
      out.back().object["rules"].as_array().push_back(RuleOf(words));
    } else if (words[0] == "role") {
      out.push_back(ClusterRole(words));
      if (words[1].starts_with(kController))
        bindings.push_back(Binding("", words[1], "ClusterRole", words[1],
                                   "S:kube-system/" + std::string(words[1].substr(kController.size()))));
    } else if (words[0] == "local") {
      out.push_back({std::string(kGroup) + "/roles", NewObject("Role", words[1], words[2])});
      out.back().object["rules"].emplace_array();
    } else if (words[0] == "bind") {
      bindings.push_back(Binding("", words[1], "ClusterRole", words[2], words[3]));
    } else {
      bindings.push_back(Binding(words[1], words[2], words[3], words[4], words[5]));
    }
  }
  std::ranges::move(bindings, std::back_inserter(out));
  return out;
}

json::array AggregatedRules(const json::object& role, const std::vector<const json::object*>& all) {
  json::array out;
  for (const json::object* other : all) {
    if (PeekString(*other, {"metadata", "name"}) == PeekString(role, {"metadata", "name"})) continue;
    if (!Selected(role, PeekObject(*other, {"metadata", "labels"}))) continue;
    for (const json::value& rule : PeekArray(*other, {"rules"}))
      if (std::ranges::find(out, rule) == out.end()) out.push_back(rule);
  }
  return out;
}

void EnsureDefaultPolicy(Store& store, WallTime now, Rng& rng) {
  std::vector<PolicyObject> policy = ParsePolicy(kDefaultRoles);
  std::ranges::move(ParsePolicy(kDefaultControllerRoles), std::back_inserter(policy));
  std::vector<const json::object*> roles;
  for (const PolicyObject& p : policy)
    if (PeekString(p.object, {"kind"}) == "ClusterRole") roles.push_back(&p.object);
  std::ranges::sort(roles, {}, [](const json::object* r) { return PeekString(*r, {"metadata", "name"}); });
  // What is collected may be collected again (view goes into edit, edit into admin), hence once per step of the chain.
  for (int step = 0; step < 3; ++step)
    for (PolicyObject& p : policy)
      if (p.object.contains("aggregationRule")) p.object["rules"] = AggregatedRules(p.object, roles);
  for (PolicyObject& p : policy) {
    json::object& meta = p.object["metadata"].as_object();
    if (store.Get(p.table, PeekString(meta, {"namespace"}), PeekString(meta, {"name"})) != nullptr) continue;
    meta["uid"] = NewUuid(rng);
    meta["creationTimestamp"] = FormatTime(now);
    GPUOP_CHECK(store.Put(p.table, p.object));
  }
}

}  // namespace gpuop::sim
