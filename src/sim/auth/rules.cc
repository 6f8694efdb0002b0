#include "sim/auth/rules.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;
using Strings = std::vector<std::string>;

bool Has(const Strings& in, std::string_view what) { return std::ranges::find(in, what) != in.end(); }

Strings StringsOf(const json::object& from, std::string_view field) {
  Strings out;
  for (const json::value& v : PeekArray(from, {field})) out.emplace_back(AsString(v));
  return out;
}

/// `rule` may end in '*', which stands for any rest.
bool UrlMatches(std::string_view rule, std::string_view path) {
  if (rule == "*" || rule == path) return true;
  return rule.ends_with('*') && path.starts_with(rule.substr(0, rule.size() - 1));
}

/// "pods", "pods/log" or "*/log" against one combined name.
bool ResourceMatches(const Strings& resources, std::string_view combined) {
  if (Has(resources, "*") || Has(resources, combined)) return true;
  const std::size_t slash = combined.find('/');
  return slash != std::string_view::npos && Has(resources, "*" + std::string(combined.substr(slash)));
}

bool AllIn(const Strings& held, const Strings& wanted) {
  return Has(held, "*") || std::ranges::all_of(wanted, [&](const std::string& w) { return Has(held, w); });
}

std::string PrintList(const Strings& list) {
  std::string out = "[";
  for (const std::string& s : list) out.append(out.size() > 1 ? " " : "").append(Quote(s));
  return out + "]";
}

}  // namespace

PolicyRule PolicyRule::From(const json::object& rule) {
  return {StringsOf(rule, "verbs"), StringsOf(rule, "apiGroups"), StringsOf(rule, "resources"),
          StringsOf(rule, "resourceNames"), StringsOf(rule, "nonResourceURLs")};
}

json::object PolicyRule::ToJson() const {
  json::object out;
  const auto put = [&](const char* field, const Strings& list) {
    if (!list.empty()) out[field] = json::array(list.begin(), list.end());
  };
  out["verbs"] = json::array(verbs.begin(), verbs.end());
  put("apiGroups", groups);
  put("resources", resources);
  put("resourceNames", names);
  put("nonResourceURLs", urls);
  return out;
}

std::vector<PolicyRule> RulesOf(const json::object& role) {
  std::vector<PolicyRule> out;
  for (const json::value& rule : PeekArray(role, {"rules"})) out.push_back(PolicyRule::From(AsObject(rule)));
  return out;
}

bool Allows(const PolicyRule& rule, const Attributes& what) {
  if (!Has(rule.verbs, "*") && !Has(rule.verbs, what.verb)) return false;
  if (!what.IsResource())
    return std::ranges::any_of(rule.urls, [&](const std::string& u) { return UrlMatches(u, what.path); });
  if (!Has(rule.groups, "*") && !Has(rule.groups, what.group)) return false;
  const std::string combined = what.subresource.empty() ? what.resource : what.resource + "/" + what.subresource;
  return ResourceMatches(rule.resources, combined) && (rule.names.empty() || Has(rule.names, what.name));
}

std::vector<PolicyRule> Atoms(const PolicyRule& rule) {
  std::vector<PolicyRule> out;
  for (const std::string& group : rule.groups)
    for (const std::string& resource : rule.resources)
      for (const std::string& verb : rule.verbs) {
        if (rule.names.empty()) out.push_back({{verb}, {group}, {resource}, {}, {}});
        for (const std::string& name : rule.names) out.push_back({{verb}, {group}, {resource}, {name}, {}});
      }
  for (const std::string& url : rule.urls)
    for (const std::string& verb : rule.verbs) out.push_back({{verb}, {}, {}, {}, {url}});
  return out;
}

bool Covers(const PolicyRule& owner, const PolicyRule& atom) {
  const auto resource_held = [&](const std::string& r) { return ResourceMatches(owner.resources, r); };
  const auto url_held = [&](const std::string& url) {
    return std::ranges::any_of(owner.urls, [&](const std::string& u) { return UrlMatches(u, url); });
  };
  const bool names =
      owner.names.empty() ||
      (!atom.names.empty() && std::ranges::all_of(atom.names, [&](auto& n) { return Has(owner.names, n); }));
  return names && AllIn(owner.verbs, atom.verbs) && AllIn(owner.groups, atom.groups) &&
         std::ranges::all_of(atom.resources, resource_held) && std::ranges::all_of(atom.urls, url_held);
}

std::vector<PolicyRule> Uncovered(const std::vector<PolicyRule>& held, const std::vector<PolicyRule>& wanted) {
  // Atoms that differ only in their verb become one rule again; a rule's verbs stay in the order asked for.
  std::map<std::tuple<Strings, Strings, Strings, Strings>, Strings> missing;
  for (const PolicyRule& rule : wanted)
    for (const PolicyRule& atom : Atoms(rule)) {
      if (std::ranges::any_of(held, [&](const PolicyRule& h) { return Covers(h, atom); })) continue;
      Strings& verbs = missing[{atom.groups, atom.resources, atom.names, atom.urls}];
      if (!Has(verbs, atom.verbs[0])) verbs.push_back(atom.verbs[0]);
    }
  std::vector<PolicyRule> out;
  for (const auto& [key, verbs] : missing) {
    const auto& [groups, resources, names, urls] = key;
    out.push_back({verbs, groups, resources, names, urls});
  }
  std::ranges::sort(out, {}, Describe);
  return out;
}

std::string Describe(const PolicyRule& rule) {
  Strings parts;
  const auto put = [&](const char* field, const Strings& list) {
    if (!list.empty()) parts.push_back(std::string(field) + ":" + PrintList(list));
  };
  put("APIGroups", rule.groups);
  put("Resources", rule.resources);
  put("NonResourceURLs", rule.urls);
  put("ResourceNames", rule.names);
  put("Verbs", rule.verbs);
  return "{" + Join(parts, ", ") + "}";
}

}  // namespace gpuop::sim
