#include "operands/validator/manifest.h"

#include <algorithm>

#include "operands/draft.h"
#include "operands/image.h"
#include "operands/waits.h"

namespace gpuop::operands::validator {
namespace {

constexpr const char* kName = "nvidia-operator-validator";

/// What the validator needs to start Pods of its own.
Result<> SetPodEnv(const api::ClusterPolicySpec& policy, const Facts& facts, Env& env) {
  ASSIGN(std::string image, ResolveImage(policy.validator, "VALIDATOR_IMAGE", facts, "spec.validator"));
  env.Set(NodeName());
  env.Set(FieldVar("OPERATOR_NAMESPACE", "metadata.namespace"));
  env.Set("VALIDATOR_IMAGE", std::move(image));
  env.Set("VALIDATOR_IMAGE_PULL_POLICY", policy.validator.pull_policy);
  std::string secrets;
  for (const std::string& name : policy.validator.pull_secrets) secrets += (secrets.empty() ? "" : ",") + name;
  if (!secrets.empty()) env.Set("VALIDATOR_IMAGE_PULL_SECRETS", std::move(secrets));
  const std::string runtime_class = GpuRuntimeClass(policy, facts);
  if (!runtime_class.empty()) env.Set("VALIDATOR_RUNTIME_CLASS", runtime_class);
  return {};
}

Result<Container> Step(const char* component, Env env, const api::EnvBlock& user, const api::ClusterPolicySpec& policy,
                       const Facts& facts, PodSpec& pod) {
  env.Set(EnvOf(user.env));
  ASSIGN(Container out, ValidatorInit(std::string(component) + "-validation", std::move(env), policy, facts, pod));
  out.mounts = {ValidationsMount(kBidirectional)};
  return out;
}

Result<std::vector<Container>> Steps(const api::ClusterPolicySpec& policy, const Facts& facts, PodSpec& pod) {
  ASSIGN(Container driver, DriverValidation(policy, facts, pod));
  ASSIGN(Container toolkit, Step("toolkit",
                                 {{.name = "NVIDIA_VISIBLE_DEVICES", .value = "all"},
                                  {.name = "WITH_WAIT", .value = "false"},
                                  {.name = "COMPONENT", .value = "toolkit"}},
                                 policy.validator.toolkit, policy, facts, pod));
  Env cuda_env{{.name = "WITH_WAIT", .value = "false"}, {.name = "COMPONENT", .value = "cuda"}};
  TRY(SetPodEnv(policy, facts, cuda_env));
  ASSIGN(Container cuda, Step("cuda", std::move(cuda_env), policy.validator.cuda, policy, facts, pod));
  std::vector<Container> out;
  out.push_back(std::move(driver));
  out.push_back(std::move(toolkit));
  out.push_back(std::move(cuda));
  if (!policy.device_plugin.IsEnabled()) return out;
  Env plugin_env{{.name = "COMPONENT", .value = "plugin"},
                 {.name = "WITH_WAIT", .value = "false"},
                 {.name = "WITH_WORKLOAD", .value = "false"},
                 {.name = "MIG_STRATEGY", .value = policy.mig.strategy}};
  TRY(SetPodEnv(policy, facts, plugin_env));
  ASSIGN(Container plugin, Step("plugin", std::move(plugin_env), policy.validator.plugin, policy, facts, pod));
  out.push_back(std::move(plugin));
  return out;
}

/// Looks at the whole chain again whenever something changes. Always the operator's own image: NVIDIA's validator has
/// no such component.
Result<Container> Watcher(const api::ClusterPolicySpec& policy, const Facts& facts, PodSpec& pod) {
  ASSIGN(Container out, Waiter(kName, {}, policy, facts, pod));
  const Paths paths = PathsOf(policy.host_paths);
  out.command = {"nvidia-validator"};
  out.security = PrivilegedRoot();
  out.env = {{.name = "COMPONENT", .value = "watch"}};
  TRY(SetPodEnv(policy, facts, out.env));
  if (paths.driver_install_dir != kDefaultDriverInstallDir)
    out.env.Set("DRIVER_INSTALL_DIR_CTR_PATH", paths.driver_install_dir);
  out.env.Set(EnvOf(policy.validator.env));
  out.mounts = {
      HostRootMount(),
      {.name = "driver-install-dir", .path = paths.driver_install_dir, .propagation = std::string(kHostToContainer)},
      ValidationsMount(kBidirectional)};
  return out;
}

/// Whether the policy asks for a Pod of the device plugin's, which looks for GPUs that nobody wants.
bool PluginWorkload(const api::ClusterPolicySpec& policy) {
  return std::ranges::any_of(policy.validator.plugin.env, [](const api::EnvVar& var) {
    return var.name == "WITH_WORKLOAD" && var.value != "false";
  });
}

std::vector<Rule> ClusterRules(const api::ClusterPolicySpec& policy) {
  std::vector<Rule> out{{.groups = {""}, .resources = {"nodes"}, .verbs = {"get", "list", "watch"}},
                        {.groups = {"nvidia.com"},
                         .resources = {"clusterpolicies/finalizers", "nvidiadrivers/finalizers"},
                         .verbs = {"update"}},
                        {.groups = {""}, .resources = {"nodes/status"}, .verbs = {"patch"}},
                        {.groups = {""}, .resources = {"events"}, .verbs = {"create"}}};
  if (PluginWorkload(policy)) out.push_back({.groups = {""}, .resources = {"pods"}, .verbs = {"list"}});
  return out;
}

Result<Object> MakeDaemonSet(const api::ClusterPolicySpec& policy, const Facts& facts) {
  DaemonSet ds = NewDaemonSet({.name = kName,
                               .labels = {{"app", kName}, {"app.kubernetes.io/part-of", "gpu-operator"}},
                               .deploy = "operator-validator"},
                              facts);
  PodSpec& pod = ds.pod.spec;
  ASSIGN(pod.init_containers, Steps(policy, facts, pod));
  ASSIGN(Container main, Watcher(policy, facts, pod));
  pod.containers = {std::move(main)};
  if (policy.validator.host_network.value_or(false)) {
    pod.host_network = true;
    pod.dns_policy = "ClusterFirstWithHostNet";
  }
  UseGpuRuntime(ds, "toolkit-validation", policy, facts);
  return FinishDaemonSet(std::move(ds), policy, facts);
}

}  // namespace

bool Enabled(const api::ClusterPolicySpec&, const Facts&) { return true; }

Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts) {
  std::vector<Object> out;
  AddAccount({.name = kName,
              .cluster_rules = ClusterRules(policy),
              .rules = {{.groups = {""},
                         .resources = {"pods"},
                         .verbs = {"get", "list", "watch", "create", "update", "patch", "delete"}},
                        {.groups = {""}, .resources = {"events"}, .verbs = {"get", "list", "watch"}},
                        {.groups = {"apps"}, .resources = {"daemonsets"}, .verbs = {"get", "list", "watch"}}}},
             facts, out);
  AddConstraints({.account = kName, .host_network = true, .host_pid = true}, facts, out);
  ASSIGN(Object ds, MakeDaemonSet(policy, facts));
  out.push_back(std::move(ds));
  return out;
}

}  // namespace gpuop::operands::validator
