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

bool In(std::string_view what, std::initializer_list<std::string_view> set) {
  return std::ranges::find(set, what) != set.end();
}

/// Names of the containers that `bad` says yes to.
template <class F>
Names Where(const json::object& spec, F&& bad) {
  Names out;
  ForContainers(spec, [&](std::string_view name, const json::object& c) {
    if (bad(c)) out.emplace_back(name);
  });
  return out;
}

/// "pod", "container …", or "pod and container …"; empty when nobody did it.
std::string PodAndContainers(bool pod, const Names& containers) {
  if (containers.empty()) return pod ? "pod" : "";
  return (pod ? "pod and " : "") + Containers(containers);
}

std::optional<std::string> Told(const char* check, const std::string& detail) {
  if (detail.empty()) return std::nullopt;
  return std::string(check) + " (" + detail + ")";
}

std::optional<std::string> AppArmor(const json::object& spec) {
  const auto bad = [](const json::object& o) {
    return PeekString(o, {"securityContext", "appArmorProfile", "type"}) == "Unconfined";
  };
  const std::string who = PodAndContainers(bad(spec), Where(spec, bad));
  return Told("forbidden AppArmor profile",
              who.empty() ? who : who + " must not set AppArmor profile type to \"Unconfined\"");
}

std::optional<std::string> Capabilities(const json::object& spec) {
  std::set<std::string> added;
  const Names who = Where(spec, [&](const json::object& c) {
    bool bad = false;
    for (const json::value& v : PeekArray(c, {"securityContext", "capabilities", "add"}))
      if (!In(AsString(v), {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD",
                            "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"})) {
        added.emplace(AsString(v));
        bad = true;
      }
    return bad;
  });
  if (who.empty()) return std::nullopt;
  return Told("non-default capabilities", Containers(who) + " must not include " +
                                              QuotedNames({added.begin(), added.end()}) +
                                              " in securityContext.capabilities.add");
}

std::optional<std::string> HostNamespaces(const json::object& spec) {
  Names set;
  for (const char* field : {"hostNetwork", "hostPID", "hostIPC"})
    if (PeekBool(spec, {field})) set.push_back(std::string(field) + "=true");
  return Told("host namespaces", Join(set, ", "));
}

std::optional<std::string> HostPathVolumes(const json::object& spec) {
  Names names;
  for (const json::value& v : PeekArray(spec, {"volumes"}))
    if (Peek(v, {"hostPath"}) != nullptr) names.emplace_back(PeekString(v, {"name"}));
  if (names.empty()) return std::nullopt;
  return Told("hostPath volumes", (names.size() > 1 ? "volumes " : "volume ") + QuotedNames(names));
}

std::optional<std::string> HostPorts(const json::object& spec) {
  std::set<std::int64_t> ports;
  const Names who = Where(spec, [&](const json::object& c) {
    bool bad = false;
    for (const json::value& p : PeekArray(c, {"ports"}))
      if (const std::int64_t port = PeekInt(p, {"hostPort"}); port != 0) {
        ports.insert(port);
        bad = true;
      }
    return bad;
  });
  if (who.empty()) return std::nullopt;
  Names texts;
  for (std::int64_t p : ports) texts.push_back(std::to_string(p));
  return Told("hostPort", Containers(who) + (who.size() > 1 ? " use " : " uses ") +
                              (texts.size() > 1 ? "hostPorts " : "hostPort ") + Join(texts, ", "));
}

std::optional<std::string> HostProbes(const json::object& spec) {
  std::set<std::string> hosts;
  const Names who = Where(spec, [&](const json::object& c) {
    const std::size_t before = hosts.size();
    bool bad = false;
    const auto look = [&](const json::object& action) {
      for (const char* kind : {"httpGet", "tcpSocket"})
        if (const auto host = PeekString(action, {kind, "host"});
            !host.empty() && host != "127.0.0.1" && host != "::1") {
          hosts.emplace(host);
          bad = true;
        }
    };
    for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) look(PeekObject(c, {probe}));
    for (const char* hook : {"postStart", "preStop"}) look(PeekObject(c, {"lifecycle", hook}));
    return bad || hosts.size() != before;
  });
  if (who.empty()) return std::nullopt;
  return Told("probe or lifecycle host", Containers(who) + (who.size() > 1 ? " use " : " uses ") +
                                             "probe or lifecycle " + (hosts.size() > 1 ? "hosts " : "host ") +
                                             QuotedNames({hosts.begin(), hosts.end()}));
}

std::optional<std::string> Privileged(const json::object& spec) {
  const Names who = Where(spec, [](const json::object& c) { return PeekBool(c, {"securityContext", "privileged"}); });
  return Told("privileged", who.empty() ? "" : Containers(who) + " must not set securityContext.privileged=true");
}

std::optional<std::string> ProcMount(const json::object& spec) {
  std::set<std::string> values;
  const Names who = Where(spec, [&](const json::object& c) {
    const auto mount = PeekString(c, {"securityContext", "procMount"});
    if (mount.empty() || mount == "Default") return false;
    values.emplace(mount);
    return true;
  });
  if (who.empty()) return std::nullopt;
  return Told("procMount", Containers(who) + " must not set securityContext.procMount to " +
                               QuotedNames({values.begin(), values.end()}));
}

std::optional<std::string> SeLinux(const json::object& spec) {
  std::set<std::string> types;
  bool user = false, role = false;
  const auto bad = [&](const json::object& o) {
    const json::object& options = PeekObject(o, {"securityContext", "seLinuxOptions"});
    const auto type = PeekString(options, {"type"});
    const bool bad_type = !In(type, {"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"});
    if (bad_type) types.emplace(type);
    const bool its_user = !PeekString(options, {"user"}).empty(), its_role = !PeekString(options, {"role"}).empty();
    user |= its_user;
    role |= its_role;
    return bad_type || its_user || its_role;
  };
  const bool pod = bad(spec);
  const std::string who = PodAndContainers(pod, Where(spec, bad));
  if (who.empty()) return std::nullopt;
  Names parts;
  if (!types.empty())
    parts.push_back((types.size() > 1 ? "types " : "type ") + QuotedNames({types.begin(), types.end()}));
  if (user) parts.emplace_back("user may not be set");
  if (role) parts.emplace_back("role may not be set");
  return Told("seLinuxOptions", who + " set forbidden securityContext.seLinuxOptions: " + Join(parts, "; "));
}

std::optional<std::string> Seccomp(const json::object& spec) {
  const auto bad = [](const json::object& o) {
    return PeekString(o, {"securityContext", "seccompProfile", "type"}) == "Unconfined";
  };
  const std::string who = PodAndContainers(bad(spec), Where(spec, bad));
  return Told("seccompProfile",
              who.empty() ? who : who + " must not set securityContext.seccompProfile.type to \"Unconfined\"");
}

std::optional<std::string> Sysctls(const json::object& spec) {
  Names bad;
  for (const json::value& s : PeekArray(spec, {"securityContext", "sysctls"})) {
    const auto name = PeekString(s, {"name"});
    if (!In(name, {"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start",
                   "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports",
                   "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
                   "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}))
      bad.emplace_back(name);
  }
  return Told("forbidden sysctls", Join(bad, ", "));
}

std::optional<std::string> WindowsHostProcess(const json::object& spec) {
  const auto bad = [](const json::object& o) {
    return PeekBool(o, {"securityContext", "windowsOptions", "hostProcess"});
  };
  const std::string who = PodAndContainers(bad(spec), Where(spec, bad));
  return Told("hostProcess", who.empty() ? who : who + " must not set securityContext.windowsOptions.hostProcess=true");
}

constexpr std::array<PodSecurityCheck, 12> kBaseline = {AppArmor,  Capabilities, HostNamespaces, HostPathVolumes,
                                                        HostPorts, HostProbes,   Privileged,     ProcMount,
                                                        SeLinux,   Seccomp,      Sysctls,        WindowsHostProcess};
constexpr std::array<PodSecurityCheck, 9> kKept = {AppArmor,  HostNamespaces, HostPorts, HostProbes,        Privileged,
                                                   ProcMount, SeLinux,        Sysctls,   WindowsHostProcess};

}  // namespace

std::span<const PodSecurityCheck> BaselineChecks() { return kBaseline; }
std::span<const PodSecurityCheck> BaselineChecksKeptByRestricted() { return kKept; }

void ForContainers(const json::object& pod_spec,
                   const std::function<void(std::string_view name, const json::object& container)>& see) {
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"})
    for (const json::value& c : PeekArray(pod_spec, {list})) see(PeekString(c, {"name"}), AsObject(c));
}

std::string QuotedNames(const Names& names) {
  Names quoted;
  for (const std::string& n : names) quoted.push_back(Quote(n));
  return Join(quoted, ", ");
}

std::string Containers(const Names& names) {
  return (names.size() > 1 ? "containers " : "container ") + QuotedNames(names);
}

}  // namespace gpuop::sim
