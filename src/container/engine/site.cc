#include "container/engine/site.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "container/engine/texts.h"
#include "data/yaml.h"

namespace gpuop::container {
namespace {

constexpr std::string_view kUsualSocket = "/run/containerd/containerd.sock";

std::vector<std::string> ArgumentsOf(const os::Fs& host, int pid) {
  std::vector<std::string> out;
  const auto text = host.Read("/proc/" + std::to_string(pid) + "/cmdline");
  if (!text) return out;
  for (const std::string_view part : Split(*text, '\0')) out.emplace_back(part);
  if (!out.empty() && out.back().empty()) out.pop_back();
  return out;
}

std::string NameOf(const os::Fs& host, int pid) {
  const auto text = host.Read("/proc/" + std::to_string(pid) + "/comm");
  return text ? std::string(Trim(*text)) : std::string();
}

std::vector<int> Processes(const os::Fs& host) {
  std::vector<int> out;
  const auto names = host.List("/proc");
  if (!names) return out;
  for (const std::string& name : *names)
    if (const auto pid = ParseInt(name); pid && *pid > 0) out.push_back(static_cast<int>(*pid));
  std::ranges::sort(out);
  return out;
}

/// The value of --name, in either form; empty when it is not given.
std::string Flag(const std::vector<std::string>& arguments, std::initializer_list<std::string_view> names) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    for (const std::string_view name : names) {
      if (arguments[i] == name && i + 1 < arguments.size()) return arguments[i + 1];
      if (arguments[i].starts_with(std::string(name) + "=")) return arguments[i].substr(name.size() + 1);
    }
  return "";
}

/// "unix:///var/run/x" is "/run/x": /var/run is a link to /run everywhere.
std::string SocketPath(std::string_view endpoint) {
  if (endpoint.starts_with("unix://")) endpoint.remove_prefix(7);
  if (endpoint.starts_with("/var/run/")) endpoint.remove_prefix(4);
  return std::string(endpoint);
}

/// MicroK8s starts the kubelet inside another program, with its arguments in a file.
std::vector<std::string> MicrokubeArguments(const os::Fs& host) {
  std::vector<std::string> out;
  const auto text = host.Read("/var/snap/microk8s/current/args/kubelet");
  if (!text) return out;
  for (const std::string_view line : Split(*text, '\n')) {
    std::string argument(Trim(line));
    for (const auto& [name, value] :
         {std::pair<std::string, std::string>{"${SNAP_COMMON}", "/var/snap/microk8s/common"},
          {"${SNAP_DATA}", "/var/snap/microk8s/current"}})
      if (const std::size_t at = argument.find(name); at != std::string::npos) argument.replace(at, name.size(), value);
    if (argument.starts_with("--")) out.push_back(std::move(argument));
  }
  return out;
}

/// A YAML file of the host; null where it is none.
data::Json YamlOf(const os::Fs& host, const std::string& path) {
  const auto text = host.Read(path);
  const auto value = text ? data::ParseYaml(*text) : Result<data::Json>(std::unexpected(text.error()));
  return value ? *value : data::Json();
}

/// The files of a folder whose names end so, in order of their names, each with its path.
std::vector<std::string> FilesOf(const os::Fs& host, const std::string& folder, std::string_view end) {
  std::vector<std::string> out;
  if (const auto names = host.List(folder))
    for (const std::string& name : *names)
      if (name.ends_with(end)) out.push_back(folder + "/" + name);
  std::ranges::sort(out);
  return out;
}

/// The kubelet's flag, else the last word of its configuration: --config, then the files of --config-dir.
std::string SocketOf(const os::Fs& host, const std::vector<std::string>& arguments) {
  if (const std::string flag = Flag(arguments, {"--container-runtime-endpoint"}); !flag.empty()) return flag;
  std::vector<std::string> files;
  if (const std::string folder = Flag(arguments, {"--config-dir"}); !folder.empty())
    files = FilesOf(host, folder, ".conf");
  if (const std::string config = Flag(arguments, {"--config"}); !config.empty()) files.insert(files.begin(), config);
  std::string out;
  for (const std::string& file : files) {
    const data::Json value = YamlOf(host, file);
    if (const auto said = data::StringOr(value, "containerRuntimeEndpoint"); !said.empty()) out = said;
  }
  return out;
}

/// k3s is started with a kubelet inside; its socket is k3s's own unless flags or its configuration name another.
std::string K3sSocket(const os::Fs& host, const std::vector<std::string>& arguments) {
  std::string endpoint = Flag(arguments, {"--container-runtime-endpoint"});
  bool docker = std::ranges::find(arguments, "--docker") != arguments.end();
  std::string config = Flag(arguments, {"--config", "-c"});
  if (config.empty()) config = "/etc/rancher/k3s/config.yaml";
  std::vector<std::string> files = FilesOf(host, config + ".d", ".yaml");
  files.insert(files.begin(), config);
  for (const std::string& file : files) {
    const data::Json value = YamlOf(host, file);
    if (endpoint.empty()) endpoint = data::StringOr(value, "container-runtime-endpoint");
    if (const data::Json* said = data::Find(value, "docker")) docker = docker || (said->is_bool() && said->get_bool());
  }
  if (!endpoint.empty()) return endpoint;
  return docker ? "/run/k3s/cri-dockerd/cri-dockerd.sock" : "/run/k3s/containerd/containerd.sock";
}

}  // namespace

Result<std::string> FindKubeletSocket(const os::Fs& host) {
  for (const int pid : Processes(host)) {
    const std::string name = NameOf(host, pid);
    const std::vector<std::string> arguments = ArgumentsOf(host, pid);
    std::string found;
    if (name == "kubelet")
      found = SocketOf(host, arguments);
    else if (name == "kubelite")
      found = SocketOf(host, MicrokubeArguments(host));
    else if (name == "k3s" || name.starts_with("k3s-"))
      found = K3sSocket(host, arguments);
    else
      continue;
    return SocketPath(found.empty() ? kUsualSocket : std::string_view(found));
  }
  return Fail(Code::kNotFound, "no kubelet runs on this host");
}

Result<int> FindListener(const os::Fs& host, const std::string& socket) {
  constexpr std::size_t kLongTable = 64U << 20U;
  ASSIGN(const std::string table, host.Read("/proc/1/net/unix", kLongTable));
  std::string inode;
  for (const std::string_view line : Split(table, '\n')) {
    // Num RefCount Protocol Flags Type St Inode Path; bit 16 of Flags: it listens.
    std::vector<std::string_view> fields;
    for (const std::string_view field : Split(line, ' '))
      if (!field.empty()) fields.push_back(field);
    if (fields.size() == 8 && fields[3] == "00010000" && SocketPath(fields[7]) == SocketPath(socket)) inode = fields[6];
  }
  if (inode.empty()) return Fail(Code::kNotFound, "nothing listens on " + socket);
  const std::string wanted = "socket:[" + inode + "]";
  int best = 0;
  for (const int pid : Processes(host)) {
    const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
    const auto names = host.List(folder);
    if (!names) continue;
    const bool holds = std::ranges::any_of(
        *names, [&](const std::string& name) { return host.ReadLink(folder + "/" + name).value_or("") == wanted; });
    // systemd may hold the socket too: the engine came later.
    if (holds) best = pid;
  }
  if (best == 0) return Fail(Code::kNotFound, "no process is seen that listens on " + socket);
  return best;
}

EngineSite DescribeEngine(EngineKind kind, const std::string& socket, const std::vector<std::string>& arguments) {
  EngineSite site{.kind = kind, .socket = socket, .files = {}};
  if (kind == EngineKind::kCrio) {
    const std::string folder = Flag(arguments, {"--config-dir", "-d"});
    site.files = {.config = Flag(arguments, {"--config", "-c"}),
                  .drop_in = (folder.empty() ? "/etc/crio/crio.conf.d" : folder) + "/99-nvidia.toml"};
    if (site.files.config.empty()) site.files.config = "/etc/crio/crio.conf";
    site.unit = "crio";
    site.restart_mode = "systemd";
    return site;
  }
  if (kind == EngineKind::kDocker) {
    site.files.config = Flag(arguments, {"--config-file"});
    if (site.files.config.empty()) site.files.config = "/etc/docker/daemon.json";
    site.unit = "docker";
    return site;
  }
  std::string config = Flag(arguments, {"--config", "-c"});
  if (config.empty()) config = "/etc/containerd/config.toml";
  site.files = {.config = config, .drop_in = os::FolderOf(config) + "/conf.d/99-nvidia.toml"};
  site.unit = "containerd";
  if (config.ends_with("/agent/etc/containerd/config.toml")) {
    // Below --data-dir, which is /var/lib/rancher/NAME unless they are told another. The file is made anew at every
    // start; newer releases make it import a folder for others.
    site.distribution = config.contains("/rke2/") ? "rke2" : "k3s";
    site.files.drop_in = os::FolderOf(config) + "/config.toml.d/99-nvidia.toml";
    site.unit = site.distribution;
    site.restart_mode = "systemd";
  }
  if (config.starts_with("/var/snap/microk8s/")) {
    site.distribution = "microk8s";
    site.files = {.config = "/var/snap/microk8s/current/args/containerd-template.toml"};
    site.unit = "snap.microk8s.daemon-containerd";
    site.restart_mode = "systemd";
  }
  if (config == "/etc/k0s/containerd.toml" || config.starts_with("/run/k0s/")) {
    site.distribution = "k0s";
    site.files = {.config = "/etc/k0s/containerd.toml",
                  .drop_in = "/etc/k0s/containerd.d/99-nvidia.toml",
                  .drop_in_is_read = true};
    site.unit.clear();  // k0s starts its containerd again by itself
  }
  return site;
}

namespace {

/// The service that systemd counts a process to: an agent's differs from a server's. Empty when it is in none.
std::string UnitOf(const os::Fs& host, int pid) {
  const auto text = host.Read("/proc/" + std::to_string(pid) + "/cgroup");
  if (!text) return "";
  for (const std::string_view line : Split(*text, '\n')) {
    // "0::/system.slice/k3s-agent.service", or of version 1 "1:name=systemd:/…".
    if (!line.starts_with("0::") && !line.contains(":name=systemd:")) continue;
    for (const std::string_view part : Split(line, '/'))
      if (part.ends_with(".service")) return std::string(part.substr(0, part.size() - 8));
  }
  return "";
}

/// A generated configuration is never edited: what it imports of its own is the only door.
Result<> UseGeneratedImport(const os::Fs& host, EngineSite& site) {
  const std::string folder = os::FolderOf(site.files.config);
  ASSIGN(const std::string text, host.Read(site.files.config));
  ASSIGN(const data::Json value, ParseEngineToml(site.files.config, text));
  if (const data::JsonArray* imports = data::GetArray(value, "imports"))
    for (const data::Json& item : *imports) {
      if (!item.is_string()) continue;
      const std::string pattern = AbsoluteImport(site.files.config, std::string(data::AsView(item.get_string())));
      if (!pattern.ends_with("/*.toml") || !pattern.starts_with(folder + "/")) continue;
      site.files.drop_in = os::FolderOf(pattern) + "/99-nvidia.toml";
      return {};
    }
  return Fail(Code::kUnsupported,
              site.distribution + " writes " + site.files.config +
                  " anew at every start and this release imports no folder; let " + site.distribution +
                  " find the runtimes itself (it looks in /usr/local/nvidia/toolkit when it starts) and switch "
                  "runtime configuration off");
}

}  // namespace

Result<EngineSite> FindEngine(const os::Fs& host, const std::string& socket) {
  ASSIGN(const int pid, FindListener(host, socket));
  const std::string name = NameOf(host, pid);
  // They only translate: the engine is the dockerd behind them.
  if (name == "cri-dockerd" || (name.starts_with("k3s") && socket.ends_with("/cri-dockerd.sock"))) {
    const std::string endpoint = Flag(ArgumentsOf(host, pid), {"--docker-endpoint"});
    const std::string docker = SocketPath(endpoint.empty() ? "/var/run/docker.sock" : std::string_view(endpoint));
    if (docker != SocketPath(socket)) return FindEngine(host, docker);
  }
  std::optional<EngineKind> kind;
  if (name == "containerd") kind = EngineKind::kContainerd;
  if (name == "crio") kind = EngineKind::kCrio;
  if (name == "dockerd") kind = EngineKind::kDocker;
  if (!kind)
    return Fail(Code::kUnsupported, "process " + std::to_string(pid) + " (" + name + ") listens on " + socket +
                                        "; it is none of containerd, crio, dockerd");
  EngineSite site = DescribeEngine(*kind, socket, ArgumentsOf(host, pid));
  site.pid = pid;
  if (const std::string unit = UnitOf(host, pid); !unit.empty() && !site.unit.empty()) site.unit = unit;
  if (site.distribution == "k3s" || site.distribution == "rke2") TRY(UseGeneratedImport(host, site));
  // k0s reads its folder only while the file is its own, which the first line of it says; otherwise the file imports.
  if (const auto text = host.Read(site.files.config); site.distribution == "k0s" && text)
    site.files.drop_in_is_read = text->starts_with("# k0s_managed=true");
  return site;
}

}  // namespace gpuop::container
