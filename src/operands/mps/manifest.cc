#include "operands/mps/manifest.h"

#include "operands/draft.h"
#include "operands/image.h"
#include "operands/plugin_config.h"
#include "operands/waits.h"

namespace gpuop::operands::mps {
namespace {

constexpr const char* kName = "nvidia-device-plugin-mps-control-daemon";
constexpr const char* kProgram = "/usr/bin/mps-control-daemon";

Container Main(const std::string& image, const api::ClusterPolicySpec& policy) {
  Container out{.name = "mps-control-daemon-ctr",
                .image = image,
                .pull_policy = PullPolicy(policy.device_plugin.pull_policy),
                .command = {"mps-control-daemon"},
                .env = {NodeName(),
                        {.name = "NVIDIA_VISIBLE_DEVICES", .value = "all"},
                        {.name = "NVIDIA_DRIVER_CAPABILITIES", .value = "compute,utility"}},
                .resources = ResourcesOf(policy.device_plugin.resources),
                .security = Privileged(),
                .mounts = {{.name = "mps-shm", .path = "/dev/shm"}, {.name = "mps-root", .path = "/mps"}}};
  SetMigEnv(policy, out.env);
  return out;
}

/// Makes the shared memory that the daemon and its clients meet in.
Container MountShm(const std::string& image, const api::ClusterPolicySpec& policy) {
  return {.name = "mps-control-daemon-mounts",
          .image = image,
          .pull_policy = PullPolicy(policy.device_plugin.pull_policy),
          .command = {"mps-control-daemon", "mount-shm"},
          .resources = ResourcesOf(policy.device_plugin.resources),
          .security = Privileged(),
          .mounts = {{.name = "mps-root", .path = "/mps", .propagation = std::string(kBidirectional)}}};
}

Result<Object> MakeDaemonSet(const api::ClusterPolicySpec& policy, const Facts& facts) {
  const api::DevicePlugin& plugin = policy.device_plugin;
  DaemonSet ds = NewDaemonSet(
      {.name = kName, .account = "nvidia-device-plugin", .deploy = "device-plugin", .scc = "hostmount-anyuid"}, facts);
  PodSpec& pod = ds.pod.spec;
  pod.node_selector["nvidia.com/mps.capable"] = "true";
  pod.host_pid = true;
  ASSIGN(const std::string image, ResolveImage(plugin, "DEVICE_PLUGIN_IMAGE", facts, "spec.devicePlugin"));
  const Mount run{.name = "run-nvidia", .path = "/run/nvidia", .propagation = std::string(kHostToContainer)};
  ASSIGN(Container wait, WaitForToolkit(run, false, policy, facts, pod));
  pod.init_containers = {std::move(wait), MountShm(image, policy)};
  AddPullSecrets(plugin.pull_secrets, pod);
  pod.volumes = {HostVolume("run-nvidia", "/run/nvidia", kDirectory),
                 HostVolume("mps-root", plugin.mps.root, kDirectoryOrCreate),
                 HostVolume("mps-shm", plugin.mps.root + "/shm")};
  pod.containers = {Main(image, policy)};
  TRY(AddPluginConfig(kProgram, policy, facts, pod));
  if (plugin.host_network.value_or(false)) {
    pod.host_network = true;
    pod.dns_policy = "ClusterFirstWithHostNet";
  }
  UseGpuRuntime(ds, "mps-control-daemon-ctr", policy, facts);
  return FinishDaemonSet(std::move(ds), policy, facts);
}

}  // namespace

bool Enabled(const api::ClusterPolicySpec& policy, const Facts&) { return policy.device_plugin.IsEnabled(); }

Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts) {
  ASSIGN(Object ds, MakeDaemonSet(policy, facts));
  return std::vector<Object>{std::move(ds)};
}

}  // namespace gpuop::operands::mps
