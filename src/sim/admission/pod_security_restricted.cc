#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "sim/admission/pod_security_checks.h"
#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;
using Names = std::vector<std::string>;

std::optional<std::string> PrivilegeEscalation(const json::object& spec) {
  Names who;
  ForContainers(spec, [&](std::string_view name, const json::object& c) {
    if (PeekBool(c, {"securityContext", "allowPrivilegeEscalation"}, true)) who.emplace_back(name);
  });
  if (who.empty()) return std::nullopt;
  return "allowPrivilegeEscalation != false (" + Containers(who) +
         " must set securityContext.allowPrivilegeEscalation=false)";
}

std::optional<std::string> Capabilities(const json::object& spec) {
  Names keeping, adding;
  std::set<std::string> added;
  ForContainers(spec, [&](std::string_view name, const json::object& c) {
    const json::array& drop = PeekArray(c, {"securityContext", "capabilities", "drop"});
    if (std::ranges::find(drop, json::value("ALL")) == drop.end()) keeping.emplace_back(name);
    bool bad = false;
    for (const json::value& v : PeekArray(c, {"securityContext", "capabilities", "add"}))
      if (AsString(v) != "NET_BIND_SERVICE") {
        added.emplace(AsString(v));
        bad = true;
      }
    if (bad) adding.emplace_back(name);
  });
  Names parts;
  if (!keeping.empty()) parts.push_back(Containers(keeping) + " must set securityContext.capabilities.drop=[\"ALL\"]");
  if (!adding.empty())
    parts.push_back(Containers(adding) + " must not include " + QuotedNames({added.begin(), added.end()}) +
                    " in securityContext.capabilities.add");
  if (parts.empty()) return std::nullopt;
  return "unrestricted capabilities (" + Join(parts, "; ") + ")";
}

std::optional<std::string> Volumes(const json::object& spec) {
  static const std::set<std::string_view> kAllowed = {"configMap", "csi",       "downwardAPI",           "emptyDir",
                                                      "ephemeral", "projected", "persistentVolumeClaim", "secret"};
  Names names;
  std::set<std::string> types;
  for (const json::value& v : PeekArray(spec, {"volumes"}))
    for (const auto& [field, value] : AsObject(v)) {
      if (field == "name" || value.is_null() || kAllowed.contains(field)) continue;
      names.emplace_back(PeekString(v, {"name"}));
      types.emplace(field);
    }
  if (names.empty()) return std::nullopt;
  const bool many = names.size() > 1;
  return std::string("restricted volume types (") + (many ? "volumes " : "volume ") + QuotedNames(names) +
         (many ? " use" : " uses") + " restricted volume " + (types.size() > 1 ? "types " : "type ") +
         QuotedNames({types.begin(), types.end()}) + ")";
}

std::optional<std::string> RunAsNonRoot(const json::object& spec) {
  const json::value* pod = Peek(spec, {"securityContext", "runAsNonRoot"});
  Names refusing, silent;
  ForContainers(spec, [&](std::string_view name, const json::object& c) {
    const json::value* own = Peek(c, {"securityContext", "runAsNonRoot"});
    if (own == nullptr && !AsBool(pod)) silent.emplace_back(name);
    if (own != nullptr && !AsBool(own)) refusing.emplace_back(name);
  });
  const bool pod_refuses = pod != nullptr && !AsBool(pod);
  std::string who = pod_refuses ? "pod" : "";
  if (!refusing.empty()) who += (who.empty() ? "" : " and ") + Containers(refusing);
  if (!who.empty()) return "runAsNonRoot != true (" + who + " must not set securityContext.runAsNonRoot=false)";
  if (silent.empty()) return std::nullopt;
  return "runAsNonRoot != true (pod or " + Containers(silent) + " must set securityContext.runAsNonRoot=true)";
}

std::optional<std::string> RunAsUser(const json::object& spec) {
  const auto root = [](const json::object& o) { return PeekInt(o, {"securityContext", "runAsUser"}, 1) == 0; };
  Names roots;
  ForContainers(spec, [&](std::string_view name, const json::object& c) {
    if (root(c)) roots.emplace_back(name);
  });
  std::string who = root(spec) ? "pod" : "";
  if (!roots.empty()) who += (who.empty() ? "" : " and ") + Containers(roots);
  if (who.empty()) return std::nullopt;
  return "runAsUser=0 (" + who + " must not set runAsUser=0)";
}

std::optional<std::string> Seccomp(const json::object& spec) {
  const auto type_of = [](const json::object& o) {
    return PeekString(o, {"securityContext", "seccompProfile", "type"});
  };
  const auto good = [](std::string_view type) { return type == "RuntimeDefault" || type == "Localhost"; };
  std::set<std::string> values;
  Names refusing, silent;
  const auto pod = type_of(spec);
  std::string who;
  if (!pod.empty() && !good(pod)) {
    who = "pod";
    values.emplace(pod);
  }
  ForContainers(spec, [&](std::string_view name, const json::object& c) {
    const auto own = type_of(c);
    if (own.empty()) {
      if (pod.empty()) silent.emplace_back(name);
    } else if (!good(own)) {
      refusing.emplace_back(name);
      values.emplace(own);
    }
  });
  if (!refusing.empty()) who += (who.empty() ? "" : " and ") + Containers(refusing);
  if (!who.empty())
    return "seccompProfile (" + who + " must not set securityContext.seccompProfile.type to " +
           QuotedNames({values.begin(), values.end()}) + ")";
  if (silent.empty()) return std::nullopt;
  return "seccompProfile (pod or " + Containers(silent) +
         " must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")";
}

constexpr std::array<PodSecurityCheck, 6> kRestricted = {PrivilegeEscalation, Capabilities, Volumes,
                                                         RunAsNonRoot,        RunAsUser,    Seccomp};

}  // namespace

std::span<const PodSecurityCheck> RestrictedChecks() { return kRestricted; }

}  // namespace gpuop::sim
