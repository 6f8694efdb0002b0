#include "operands/mig_manager/manifest.h"

#include "operands/draft.h"
#include "operands/image.h"
#include "operands/mig_manager/default_config.h"
#include "operands/references.h"
#include "operands/waits.h"

namespace gpuop::operands::mig_manager {
namespace {

constexpr const char* kName = "nvidia-mig-manager";
constexpr const char* kDefaultLayouts = "default-mig-parted-config";
constexpr const char* kDefaultClients = "default-gpu-clients";

/// The ConfigMaps that the policy names; "" for ours.
std::string CustomLayouts(const api::MigManager& mig) { return mig.config ? mig.config->name : ""; }
std::string CustomClients(const api::MigManager& mig) {
  return mig.gpu_clients_config ? mig.gpu_clients_config->name : "";
}

Env MainEnv(const api::ClusterPolicySpec& policy) {
  Env env{NodeName(),
          FieldVar("POD_NAME", "metadata.name"),
          FieldVar("POD_NAMESPACE", "metadata.namespace"),
          {.name = "GPU_CLIENTS_FILE", .value = "/gpu-clients/clients.yaml"},
          FieldVar("DEFAULT_GPU_CLIENTS_NAMESPACE", "metadata.namespace")};
  const bool custom = !CustomLayouts(policy.mig_manager).empty();
  env.Set(custom ? "CONFIG_FILE" : "DEFAULT_CONFIG_FILE",
          custom ? "/mig-parted-config/config.yaml" : "/mig-parted-config/config-default.yaml");
  if (policy.cdi.enabled) {
    env.Set("CDI_ENABLED", "true");
    if (policy.toolkit.IsEnabled())
      env.Set("NVIDIA_CDI_HOOK_PATH", policy.toolkit.install_dir + "/toolkit/nvidia-cdi-hook");
  }
  return env;
}

Container Main(std::string image, const api::ClusterPolicySpec& policy) {
  return {
      .name = kName,
      .image = std::move(image),
      .command = AfterDriver(kName, {"--env=WITH_SHUTDOWN_HOST_GPU_CLIENTS=IS_HOST_DRIVER"}),
      .env = MainEnv(policy),
      .security = Privileged(),
      .mounts = {LauncherMount(),
                 ValidationsMount(),
                 {.name = "mig-parted-config", .path = "/mig-parted-config"},
                 {.name = "host-root", .path = "/host", .propagation = std::string(kHostToContainer)},
                 {.name = "host-sys", .path = "/sys"},
                 {.name = "gpu-clients", .path = "/gpu-clients"},
                 {.name = "driver-install-dir", .path = "/driver-root", .propagation = std::string(kHostToContainer)},
                 {.name = "cdi-root", .path = "/var/run/cdi"}}};
}

Result<std::vector<Volume>> Volumes(const api::ClusterPolicySpec& policy, const Facts& facts) {
  const Paths paths = PathsOf(policy.host_paths);
  const std::string layouts = CustomLayouts(policy.mig_manager), clients = CustomClients(policy.mig_manager);
  if (!layouts.empty()) TRY(KeysOf(layouts, "spec.migManager.config.name", facts));
  if (!clients.empty()) TRY(KeysOf(clients, "spec.migManager.gpuClientsConfig.name", facts));
  return std::vector{Validations(),
                     DriverInstallDir(paths),
                     HostRoot(paths),
                     HostVolume("host-sys", "/sys", kDirectory),
                     HostVolume("cdi-root", "/var/run/cdi", kDirectoryOrCreate),
                     layouts.empty() ? ConfigVolume("mig-parted-config", kDefaultLayouts, 0,
                                                    {{.key = "config.yaml", .path = "config-default.yaml"}})
                                     : ConfigVolume("mig-parted-config", layouts),
                     ConfigVolume("gpu-clients", clients.empty() ? kDefaultClients : clients)};
}

Result<Object> MakeDaemonSet(const api::ClusterPolicySpec& policy, const Facts& facts) {
  DaemonSet ds = NewDaemonSet({.name = kName, .deploy = "mig-manager"}, facts);
  PodSpec& pod = ds.pod.spec;
  pod.host_pid = pod.host_ipc = true;
  ASSIGN(Container wait, WaitForToolkit(ValidationsMount(kHostToContainer), true, policy, facts, pod));
  pod.init_containers = {std::move(wait)};
  ASSIGN(auto volumes, Volumes(policy, facts));
  for (Volume& volume : volumes) pod.AddVolume(std::move(volume));
  ASSIGN(std::string image, ResolveImage(policy.mig_manager, "MIG_MANAGER_IMAGE", facts, "spec.migManager"));
  Container main = Main(std::move(image), policy);
  ApplyComponent(policy.mig_manager, pod, main);
  pod.containers = {std::move(main)};
  UseGpuRuntime(ds, kName, policy, facts);
  return FinishDaemonSet(std::move(ds), policy, facts);
}

}  // namespace

bool Enabled(const api::ClusterPolicySpec& policy, const Facts&) { return policy.mig_manager.IsEnabled(); }

Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts) {
  std::vector<Object> out;
  AddAccount(
      {.name = kName,
       .cluster_rules = {{.groups = {""}, .resources = {"nodes"}, .verbs = {"get", "list", "watch", "update", "patch"}},
                         {.groups = {""}, .resources = {"pods"}, .verbs = {"list"}}},
       .rules = {{.groups = {""}, .resources = {"pods"}, .verbs = {"get", "list", "watch", "delete"}},
                 {.groups = {""}, .resources = {"configmaps"}, .verbs = {"create", "get", "list", "update", "patch"}}}},
      facts, out);
  AddConstraints({.account = kName, .host_network = true, .host_pid = true, .host_ipc = true}, facts, out);
  if (CustomLayouts(policy.mig_manager).empty())
    out.push_back(
        ToObject(ConfigMap{.meta = Named(kDefaultLayouts, facts), .data = {{"config.yaml", DefaultLayouts()}}}));
  if (CustomClients(policy.mig_manager).empty())
    out.push_back(
        ToObject(ConfigMap{.meta = Named(kDefaultClients, facts), .data = {{"clients.yaml", DefaultClients()}}}));
  ASSIGN(Object ds, MakeDaemonSet(policy, facts));
  out.push_back(std::move(ds));
  return out;
}

}  // namespace gpuop::operands::mig_manager
