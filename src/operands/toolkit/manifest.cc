#include "operands/toolkit/manifest.h"

#include "operands/draft.h"
#include "operands/groups.h"
#include "operands/image.h"
#include "operands/toolkit/engines.h"
#include "operands/waits.h"

namespace gpuop::operands::toolkit {
namespace {

constexpr const char* kName = "nvidia-container-toolkit-daemonset";
constexpr const char* kAccount = "nvidia-container-toolkit";

Env MainEnv(const api::ClusterPolicySpec& policy, const Facts& facts, std::string_view runtime) {
  Env env{{.name = "ROOT", .value = policy.toolkit.install_dir},
          {.name = "NVIDIA_CONTAINER_RUNTIME_MODES_CDI_DEFAULT_KIND", .value = "management.nvidia.com/gpu"},
          {.name = "NVIDIA_VISIBLE_DEVICES", .value = "void"},
          {.name = "TOOLKIT_PID_FILE", .value = "/run/nvidia/toolkit/toolkit.pid"},
          FieldVar("NRI_NAMESPACE", "metadata.namespace")};
  // What became of lost entries is told on the node; as an NRI plugin the toolkit has no entries that could be lost.
  if (!policy.cdi.enabled || !policy.cdi.nri_plugin) env.Set(NodeName());
  if (policy.cdi.enabled) {
    env.Set("CDI_ENABLED", "true");
    // Docker knows no RuntimeClasses that a Pod could ask for.
    env.Set("NVIDIA_RUNTIME_SET_AS_DEFAULT", runtime == kDocker ? "true" : "false");
    env.Set("NVIDIA_CONTAINER_RUNTIME_MODE", "cdi");
    env.Set("CRIO_CONFIG_MODE", "config");
    if (policy.cdi.nri_plugin) env.Set("ENABLE_NRI_PLUGIN", "true");
  } else if (runtime == kCrio) {
    env.Set("CRIO_CONFIG_MODE", CrioByHooks(policy, facts) ? "hook" : "config");
  }
  return env;
}

Container Main(std::string image, std::string_view runtime, const api::ClusterPolicySpec& policy, const Facts& facts) {
  const std::string& install_dir = policy.toolkit.install_dir;
  return {
      .name = "nvidia-container-toolkit-ctr",
      .image = std::move(image),
      .command = AfterDriver("nvidia-toolkit"),
      .env = MainEnv(policy, facts, runtime),
      .security = PrivilegedS0(),
      .mounts = {LauncherMount(),
                 {.name = "toolkit-root", .path = "/run/nvidia/toolkit"},
                 ValidationsMount(),
                 {.name = "toolkit-install-dir", .path = install_dir},
                 {.name = "crio-hooks", .path = "/usr/share/containers/oci/hooks.d"},
                 {.name = "driver-install-dir", .path = "/driver-root", .propagation = std::string(kHostToContainer)},
                 HostRootMount(),
                 {.name = "cdi-root", .path = "/var/run/cdi"}}};
}

void AddVolumes(std::string_view runtime, const api::ClusterPolicySpec& policy, const Facts& facts, PodSpec& pod) {
  const bool host_hooks = runtime == kCrio && !facts.openshift.present;
  const Paths paths = PathsOf(policy.host_paths);
  for (Volume& volume : std::vector{
           Validations(), DriverInstallDir(paths), HostRoot(paths),
           HostVolume("toolkit-root", "/run/nvidia/toolkit", kDirectoryOrCreate),
           HostVolume("toolkit-install-dir", policy.toolkit.install_dir),
           HostVolume("crio-hooks", host_hooks ? "/usr/share/containers/oci/hooks.d" : "/run/containers/oci/hooks.d"),
           HostVolume("cdi-root", "/var/run/cdi", kDirectoryOrCreate)})
    pod.AddVolume(std::move(volume));
}

Result<Object> MakeDaemonSet(const Part& part, const api::ClusterPolicySpec& policy, const Facts& facts) {
  DaemonSet ds = NewDaemonSet(
      {.name = kName, .account = kAccount, .deploy = "container-toolkit", .scc = "hostmount-anyuid"}, facts);
  Narrow(part, kRuntimeLabel, ds);
  PodSpec& pod = ds.pod.spec;
  pod.host_pid = true;
  ASSIGN(Container launcher, BringLauncher(policy, facts, pod));
  ASSIGN(Container driver, DriverValidation(policy, facts, pod));
  pod.init_containers = {std::move(launcher), std::move(driver)};
  AddVolumes(part.value, policy, facts, pod);
  ASSIGN(std::string image, ResolveImage(policy.toolkit, "CONTAINER_TOOLKIT_IMAGE", facts, "spec.toolkit"));
  Container main = Main(std::move(image), part.value, policy, facts);
  ApplyComponent(policy.toolkit, pod, main);
  TRY(AddEngine(part.value, policy, facts, pod, main));
  pod.containers = {std::move(main)};
  return FinishDaemonSet(std::move(ds), policy, facts);
}

}  // namespace

bool Enabled(const api::ClusterPolicySpec& policy, const Facts&) { return policy.toolkit.IsEnabled(); }

Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts) {
  std::vector<Object> out;
  // Its driver-validation is the first on a node that can say what is wrong with the driver; the toolkit itself
  // tells of entries that vanished from the engine's configuration.
  AddAccount({.name = kAccount,
              .cluster_rules = NodeReportRules(),
              .rules = {{.groups = {"apps"}, .resources = {"daemonsets"}, .verbs = {"list"}}}},
             facts, out);
  for (const Part& part : PartsByRuntime(facts)) {
    ASSIGN(Object ds, MakeDaemonSet(part, policy, facts));
    out.push_back(std::move(ds));
  }
  return out;
}

}  // namespace gpuop::operands::toolkit
