#include "operands/device_plugin/manifest.h"

#include <algorithm>

#include "operands/device_plugin/news_setting.h"
#include "operands/draft.h"
#include "operands/gate_manifest.h"
#include "operands/image.h"
#include "operands/plugin_config.h"
#include "operands/waits.h"

namespace gpuop::operands::device_plugin {
namespace {

constexpr const char* kName = "nvidia-device-plugin-daemonset";
constexpr const char* kAccount = "nvidia-device-plugin";

/// What the plugin tells of its node is asked for by its environment (docs/device-plugin.md), and so are the rights.
bool TellsNews(const api::ClusterPolicySpec& policy) {
  return std::ranges::any_of(policy.device_plugin.env, [](const api::EnvVar& env) {
    return env.name == kNewsVariable && AsksForNews(env.value);
  });
}

Result<std::vector<Rule>> RulesFor(const api::ClusterPolicySpec& policy) {
  ASSIGN(const GateSettings gate, GateOf(policy));
  std::vector<Rule> rules = {{.groups = {""}, .resources = {"nodes"}, .verbs = {"get", "list", "watch"}}};
  const bool tells = TellsNews(policy);
  if (gate.taint) rules.push_back({.groups = {""}, .resources = {"nodes"}, .verbs = {"patch"}});
  if (tells || !gate.condition.empty())
    rules.push_back({.groups = {""}, .resources = {"nodes/status"}, .verbs = {"patch"}});
  if (tells) rules.push_back({.groups = {""}, .resources = {"events"}, .verbs = {"create"}});
  return rules;
}

Env MainEnv(const api::ClusterPolicySpec& policy, bool needs_node_name) {
  Env env{{.name = "PASS_DEVICE_SPECS", .value = "true"},
          {.name = "FAIL_ON_INIT_ERROR", .value = "true"},
          {.name = "DEVICE_LIST_STRATEGY", .value = "envvar"},
          {.name = "DEVICE_ID_STRATEGY", .value = "uuid"},
          {.name = "NVIDIA_VISIBLE_DEVICES", .value = "all"},
          {.name = "NVIDIA_DRIVER_CAPABILITIES", .value = "all"},
          {.name = "MPS_ROOT", .value = policy.device_plugin.mps.root}};
  if (policy.gds.IsEnabled()) {
    env.Set("GDS_ENABLED", "true");
    env.Set("MOFED_ENABLED", "true");
  }
  if (policy.gdrcopy.IsEnabled()) env.Set("GDRCOPY_ENABLED", "true");
  SetMigEnv(policy, env);
  if (needs_node_name) env.Set(NodeName());
  if (policy.cdi.enabled) {
    env.Set("CDI_ENABLED", "true");
    env.Set("DEVICE_LIST_STRATEGY", "cdi-annotations,cdi-cri");
    env.Set("CDI_ANNOTATION_PREFIX", "cdi.k8s.io/");
    if (policy.toolkit.IsEnabled())
      env.Set("NVIDIA_CDI_HOOK_PATH", policy.toolkit.install_dir + "/toolkit/nvidia-cdi-hook");
  }
  return env;
}

Container Main(std::string image, const api::ClusterPolicySpec& policy, bool needs_node_name) {
  return {
      .name = "nvidia-device-plugin",
      .image = std::move(image),
      .command = AfterDriver("nvidia-device-plugin",
                             {"--if-module=gdrdrv:GDRCOPY_ENABLED=true", "--if-module=nvidia_fs:GDS_ENABLED=true",
                              "--if-module=nvidia_fs:MOFED_ENABLED=true"}),
      .env = MainEnv(policy, needs_node_name),
      .security = Privileged(),
      .mounts = {LauncherMount(),
                 {.name = "device-plugin", .path = "/var/lib/kubelet/device-plugins"},
                 ValidationsMount(),
                 {.name = "driver-install-dir", .path = "/driver-root", .propagation = std::string(kHostToContainer)},
                 HostRootMount(),
                 {.name = "cdi-root", .path = "/var/run/cdi"},
                 {.name = "mps-shm", .path = "/dev/shm"},
                 {.name = "mps-root", .path = "/mps"}}};
}

Result<Object> MakeDaemonSet(const api::ClusterPolicySpec& policy, const Facts& facts, bool needs_node_name) {
  const Paths paths = PathsOf(policy.host_paths);
  const std::string& mps_root = policy.device_plugin.mps.root;
  DaemonSet ds =
      NewDaemonSet({.name = kName, .account = kAccount, .deploy = "device-plugin", .scc = "hostmount-anyuid"}, facts);
  PodSpec& pod = ds.pod.spec;
  ASSIGN(Container wait, WaitForToolkit(ValidationsMount(kHostToContainer), true, policy, facts, pod));
  pod.init_containers = {std::move(wait)};
  for (Volume& volume :
       std::vector{HostVolume("device-plugin", paths.kubelet_root + "/device-plugins"), Validations(),
                   DriverInstallDir(paths), HostRoot(paths), HostVolume("cdi-root", "/var/run/cdi", kDirectoryOrCreate),
                   HostVolume("mps-root", mps_root, kDirectoryOrCreate), HostVolume("mps-shm", mps_root + "/shm")})
    pod.AddVolume(std::move(volume));
  ASSIGN(std::string image, ResolveImage(policy.device_plugin, "DEVICE_PLUGIN_IMAGE", facts, "spec.devicePlugin"));
  pod.containers = {Main(std::move(image), policy, needs_node_name)};
  TRY(AddPluginConfig("nvidia-device-plugin", policy, facts, pod));
  ApplyComponent(policy.device_plugin, pod, pod.containers.front());
  UseGpuRuntime(ds, "nvidia-device-plugin", policy, facts);
  return FinishDaemonSet(std::move(ds), policy, facts);
}

}  // namespace

bool Enabled(const api::ClusterPolicySpec& policy, const Facts&) { return policy.device_plugin.IsEnabled(); }

Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts) {
  std::vector<Object> out;
  ASSIGN(std::vector<Rule> rules, RulesFor(policy));
  const bool tells_of_its_node = rules.size() > 1;
  AddAccount({.name = kAccount, .cluster_rules = std::move(rules)}, facts, out);
  ASSIGN(Object ds, MakeDaemonSet(policy, facts, tells_of_its_node));
  out.push_back(std::move(ds));
  return out;
}

}  // namespace gpuop::operands::device_plugin
