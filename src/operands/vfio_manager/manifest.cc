#include "operands/vfio_manager/manifest.h"

#include "operands/draft.h"
#include "operands/driver_manager.h"
#include "operands/image.h"
#include "operands/waits.h"

namespace gpuop::operands::vfio_manager {
namespace {

constexpr const char* kName = "nvidia-vfio-manager";

Container Main(std::string image) {
  return {.name = kName,
          .image = std::move(image),
          .command = {kLauncher, "hold", "--", "vfio-manage", "bind", "--all"},
          .env = {NodeName(), {.name = "HOST_ROOT", .value = "/host"}},
          .resources = {.limits = {{"memory", "200Mi"}}, .requests = {{"cpu", "100m"}, {"memory", "200Mi"}}},
          .lifecycle = Lifecycle{.pre_stop = LifecycleHandler{.exec = {.command = {"vfio-manage", "unbind", "--all"}}}},
          .security = PrivilegedS0(),
          .mounts = {LauncherMount(),
                     {.name = "host-root", .path = "/host"},
                     {.name = "host-lib-modules", .path = "/lib/modules", .read_only = true},
                     {.name = "host-sys", .path = "/sys"}}};
}

Result<Object> MakeDaemonSet(const api::ClusterPolicySpec& policy, const Facts& facts) {
  const Paths paths = PathsOf(policy.host_paths);
  const api::VfioManager& vfio = policy.vfio_manager;
  DaemonSet ds = NewDaemonSet({.name = kName, .labels = {{"name", kName}}, .deploy = "vfio-manager"}, facts);
  PodSpec& pod = ds.pod.spec;
  ASSIGN(Container launcher, BringLauncher(policy, facts, pod));
  ASSIGN(Container manager, ManagerInit({.spec = vfio.driver_manager, .field = "spec.vfioManager.driverManager"},
                                        ResourcesOf(vfio.resources), facts, pod));
  pod.init_containers = {std::move(launcher), std::move(manager)};
  for (Volume& volume : std::vector{HostVolume("run-nvidia", "/run/nvidia", kDirectoryOrCreate), HostRoot(paths),
                                    HostVolume("host-sys", "/sys", kDirectory),
                                    HostVolume("host-lib-modules", "/lib/modules", kDirectory)})
    pod.AddVolume(std::move(volume));
  ASSIGN(std::string image, ResolveImage(vfio, "VFIO_MANAGER_IMAGE", facts, "spec.vfioManager"));
  Container main = Main(std::move(image));
  ApplyComponent(vfio, pod, main);
  pod.containers = {std::move(main)};
  return FinishDaemonSet(std::move(ds), policy, facts);
}

}  // namespace

bool Enabled(const api::ClusterPolicySpec& policy, const Facts&) {
  return policy.sandbox_workloads.IsEnabled() && policy.vfio_manager.IsEnabled();
}

Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts) {
  std::vector<Object> out;
  AddAccount({.name = kName,
              .cluster_rules = {{.groups = {""}, .resources = {"nodes"}, .verbs = {"get", "list", "patch", "watch"}},
                                {.groups = {""}, .resources = {"pods"}, .verbs = {"get", "list", "watch"}},
                                {.groups = {""}, .resources = {"pods/eviction"}, .verbs = {"create"}}},
              .reads_openshift_version = true},
             facts, out);
  AddConstraints({.account = kName, .host_pid = true}, facts, out);
  ASSIGN(Object ds, MakeDaemonSet(policy, facts));
  out.push_back(std::move(ds));
  return out;
}

}  // namespace gpuop::operands::vfio_manager
