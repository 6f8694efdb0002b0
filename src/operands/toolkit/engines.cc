#include "operands/toolkit/engines.h"

#include <algorithm>
#include <array>

#include "operands/draft.h"

namespace gpuop::operands::toolkit {
namespace {

/// An engine's files on the host, and the variables that are its own.
struct Engine {
  std::string_view name;
  const char *config, *drop_in, *socket;
  const char *config_var, *socket_var;
};

constexpr std::array kEngines = {
    Engine{kContainerd, "/etc/containerd/config.toml", "/etc/containerd/conf.d/99-nvidia.toml",
           "/run/containerd/containerd.sock", "CONTAINERD_CONFIG", "CONTAINERD_SOCKET"},
    Engine{kDocker, "/etc/docker/daemon.json", "", "/var/run/docker.sock", "DOCKER_CONFIG", "DOCKER_SOCKET"},
    Engine{kCrio, "/etc/crio/config.toml", "/etc/crio/crio.conf.d/99-nvidia.conf", "", "CRIO_CONFIG", ""},
};

const Engine& FindEngine(std::string_view name) {
  const auto* it = std::ranges::find(kEngines, name, &Engine::name);
  return it == kEngines.end() ? kEngines.front() : *it;
}

/// One file of the engine: where it is, and where the container has its folder.
struct File {
  std::string host, volume, folder;
  const char* type;

  std::string InContainer() const { return folder + host.substr(host.rfind('/') + 1); }
  std::string HostFolder() const { return host.substr(0, std::max<std::size_t>(host.rfind('/'), 1)); }
};

class Adding {
 public:
  Adding(const api::Toolkit& toolkit, PodSpec& pod, Container& main) : toolkit_(toolkit), pod_(pod), main_(main) {}

  /// The first of the user's variables that is set, else `otherwise`.
  Result<std::string> Where(std::initializer_list<const char*> names, const char* otherwise) const {
    for (const char* name : names) {
      const auto it = std::ranges::find(toolkit_.env, name, &api::EnvVar::name);
      if (it == toolkit_.env.end() || it->value.empty()) continue;
      if (it->value.front() != '/' || it->value.ends_with('/'))
        return Fail(Code::kInvalid, std::string("spec.toolkit.env: ") + name + ": \"" + it->value +
                                        "\" is not the absolute path of a file on the host");
      return it->value;
    }
    return otherwise;
  }

  void Put(const File& file, std::initializer_list<const char*> variables) {
    for (const char* variable : variables)
      if (*variable != '\0') main_.env.Set(variable, file.InContainer());
    pod_.AddVolume(HostVolume(file.volume, file.HostFolder(), file.type));
    main_.mounts.push_back({.name = file.volume, .path = file.folder});
  }

 private:
  const api::Toolkit& toolkit_;
  PodSpec& pod_;
  Container& main_;
};

/// In a list such as "command,file=/etc/x.toml" files are given as on the host, which the container sees below /host.
void RewriteSources(Env& env) {
  const std::string value(env.Get("RUNTIME_CONFIG_SOURCE"));
  if (value.empty()) return;
  std::string out;
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t end = std::min(value.find(',', at), value.size());
    const std::string entry = value.substr(at, end - at);
    if (!out.empty()) out += ',';
    out += entry.starts_with("file=/") ? "file=/host" + entry.substr(5) : entry;
    at = end + 1;
  }
  env.Set("RUNTIME_CONFIG_SOURCE", out);
}

}  // namespace

Result<> AddEngine(std::string_view runtime, const api::ClusterPolicySpec& policy, const Facts&, PodSpec& pod,
                   Container& main) {
  const Engine& engine = FindEngine(runtime);
  const std::string prefix(engine.name);
  Adding adding(policy.toolkit, pod, main);
  main.env.Set("RUNTIME", prefix);
  RewriteSources(main.env);
  if (policy.cdi.nri_plugin) {
    ASSIGN(std::string socket, adding.Where({"NRI_SOCKET"}, "/var/run/nri/nri.sock"));
    adding.Put({std::move(socket), "nri-socket", "/runtime/nri-sock-dir/", kDirectoryOrCreate}, {"NRI_SOCKET"});
    return {};
  }
  if (engine.name == kContainerd)
    main.env.Set("CONTAINERD_RUNTIME_CLASS",
                 policy.operator_.runtime_class.empty() ? "nvidia" : policy.operator_.runtime_class);
  ASSIGN(std::string config, adding.Where({engine.config_var, "RUNTIME_CONFIG"}, engine.config));
  adding.Put({std::move(config), prefix + "-config", "/runtime/config-dir/", kDirectoryOrCreate},
             {"RUNTIME_CONFIG", engine.config_var});
  ASSIGN(std::string drop_in, adding.Where({"RUNTIME_DROP_IN_CONFIG"}, engine.drop_in));
  if (!drop_in.empty()) {
    main.env.Set("RUNTIME_DROP_IN_CONFIG_HOST_PATH", drop_in);
    adding.Put({std::move(drop_in), prefix + "-drop-in-config", "/runtime/config-dir.d/", kDirectoryOrCreate},
               {"RUNTIME_DROP_IN_CONFIG"});
  }
  ASSIGN(std::string socket, adding.Where({engine.socket_var, "RUNTIME_SOCKET"}, engine.socket));
  if (!socket.empty())
    adding.Put({std::move(socket), prefix + "-socket", "/runtime/sock-dir/", ""},
               {"RUNTIME_SOCKET", engine.socket_var});
  return {};
}

}  // namespace gpuop::operands::toolkit
