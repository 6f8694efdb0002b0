#include "operands/vgpu_manager/manifest.h"

#include <algorithm>

#include "operands/draft.h"
#include "operands/driver_manager.h"
#include "operands/groups.h"
#include "operands/image.h"
#include "operands/references.h"

namespace gpuop::operands::vgpu_manager {
namespace {

constexpr const char* kName = "nvidia-vgpu-manager-daemonset";
constexpr const char* kAccount = "nvidia-vgpu-manager";

Container Main(std::string image, const Facts& facts) {
  Container out{.name = "nvidia-vgpu-manager-ctr",
                .image = std::move(image),
                .command = {"nvidia-driver"},
                .args = {"init"},
                .security = PrivilegedS0(),
                .mounts = {{.name = "run-nvidia", .path = "/run/nvidia", .propagation = std::string(kBidirectional)},
                           {.name = "var-log", .path = "/var/log"},
                           {.name = "dev-log", .path = "/dev/log"},
                           {.name = "host-os-release", .path = "/host-etc/os-release"},
                           {.name = "vfio", .path = "/dev/vfio"},
                           {.name = "cgroup", .path = "/sys/fs/cgroup"},
                           {.name = "firmware-search-path", .path = "/sys/module/firmware_class/parameters/path"},
                           {.name = "nv-firmware", .path = "/lib/firmware"}}};
  if (facts.openshift.present && !facts.openshift.version.empty())
    out.env.Set("OPENSHIFT_VERSION", facts.openshift.version);
  return out;
}

void AddVolumes(const Paths& paths, PodSpec& pod) {
  pod.volumes = {HostVolume("run-nvidia", "/run/nvidia", kDirectoryOrCreate),
                 HostVolume("var-log", "/var/log", kDirectory),
                 HostVolume("dev-log", "/dev/log"),
                 HostVolume("host-os-release", "/etc/os-release"),
                 HostVolume("vfio", "/dev/vfio", kDirectory),
                 HostVolume("cgroup", "/sys/fs/cgroup", kDirectory),
                 HostVolume("firmware-search-path", "/sys/module/firmware_class/parameters/path"),
                 HostVolume("nv-firmware", paths.driver_install_dir + "/lib/firmware", kDirectoryOrCreate),
                 HostRoot(paths),
                 HostVolume("host-sys", "/sys", kDirectory)};
}

Result<> AddModuleParameters(const api::VgpuManager& manager, const Facts& facts, PodSpec& pod, Container& main) {
  if (!manager.kernel_module_config || manager.kernel_module_config->name.empty()) return {};
  const std::string& name = manager.kernel_module_config->name;
  ASSIGN(std::vector<std::string> keys, KeysOf(name, "spec.vgpuManager.kernelModuleConfig.name", facts));
  std::ranges::sort(keys);
  pod.AddVolume(ConfigVolume("kernel-module-config", name));
  for (const std::string& key : keys)
    main.mounts.push_back(
        {.name = "kernel-module-config", .path = "/drivers/" + key, .read_only = true, .sub_path = key});
  return {};
}

Result<Object> MakeDaemonSet(const Part& part, const api::ClusterPolicySpec& policy, const Facts& facts) {
  const api::VgpuManager& manager = policy.vgpu_manager;
  DaemonSet ds = NewDaemonSet({.name = kName, .account = kAccount, .deploy = "vgpu-manager", .scc = kAccount}, facts);
  Narrow(part, kOsLabel, ds);
  ds.pod.meta.annotations["kubectl.kubernetes.io/default-container"] = "nvidia-vgpu-manager-ctr";
  PodSpec& pod = ds.pod.spec;
  pod.host_pid = pod.host_ipc = true;
  pod.grace_seconds = 120;
  AddVolumes(PathsOf(policy.host_paths), pod);
  ASSIGN(Container init, ManagerInit({.spec = manager.driver_manager, .field = "spec.vgpuManager.driverManager"},
                                     ResourcesOf(manager.resources), facts, pod));
  pod.init_containers = {std::move(init)};
  ASSIGN(std::string image, ResolveImage(manager, "VGPU_MANAGER_IMAGE", facts, "spec.vgpuManager"));
  Container main = Main(WithOsTag(std::move(image), OsTag(part.group.os_id, part.group.os_version)), facts);
  TRY(AddModuleParameters(manager, facts, pod, main));
  ApplyComponent(manager, pod, main);
  pod.containers = {std::move(main)};
  return FinishDaemonSet(std::move(ds), policy, facts);
}

}  // namespace

bool Enabled(const api::ClusterPolicySpec& policy, const Facts&) {
  return policy.sandbox_workloads.IsEnabled() && policy.vgpu_manager.IsEnabled() &&
         !policy.driver.UsesNvidiaDriverCrd();
}

Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts) {
  std::vector<Object> out;
  AddAccount({.name = kAccount,
              .cluster_rules = {{.groups = {""}, .resources = {"nodes"}, .verbs = {"get", "list", "patch", "watch"}},
                                {.groups = {""}, .resources = {"pods"}, .verbs = {"get", "list", "watch"}},
                                {.groups = {""}, .resources = {"pods/eviction"}, .verbs = {"create"}},
                                {.groups = {"apps"}, .resources = {"daemonsets"}, .verbs = {"get"}}},
              .reads_openshift_version = true},
             facts, out);
  AddConstraints({.account = kAccount, .host_network = true, .host_pid = true, .host_ipc = true}, facts, out);
  for (const Part& part : PartsByOs(facts, [](const NodeGroup&) { return true; })) {
    ASSIGN(Object ds, MakeDaemonSet(part, policy, facts));
    out.push_back(std::move(ds));
  }
  return out;
}

}  // namespace gpuop::operands::vgpu_manager
