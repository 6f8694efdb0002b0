#include "operands/sandbox_validator/manifest.h"

#include "operands/draft.h"
#include "operands/image.h"
#include "operands/waits.h"

namespace gpuop::operands::sandbox_validator {
namespace {

constexpr const char* kName = "nvidia-sandbox-validator";

/// One component: the host is seen by those that look at devices, the driver by the vGPU manager's.
struct Step {
  const char* component;
  const api::EnvBlock* env;
  bool sees_host, sees_driver, knows_workload, s0;
};

Result<Container> MakeStep(const Step& step, const api::ClusterPolicySpec& policy, const Facts& facts, PodSpec& pod) {
  const Paths paths = PathsOf(policy.host_paths);
  Env env{{.name = "WITH_WAIT", .value = "true"}, {.name = "COMPONENT", .value = step.component}, NodeName()};
  if (step.knows_workload) env.Set("DEFAULT_GPU_WORKLOAD_CONFIG", policy.sandbox_workloads.default_workload);
  if (step.env != nullptr) env.Set(EnvOf(step.env->env));
  ASSIGN(Container out, ValidatorInit(std::string(step.component) + "-validation", std::move(env), policy, facts, pod));
  if (step.s0) out.security->se_linux = SeLinux{.level = "s0"};
  if (step.sees_host) {
    out.mounts.push_back(HostRootMount());
    pod.AddVolume(HostRoot(paths));
  }
  if (step.sees_driver) {
    out.mounts.push_back({.name = "driver-install-path",
                          .path = kDefaultDriverInstallDir,
                          .propagation = std::string(kHostToContainer)});
    pod.AddVolume(HostVolume("driver-install-path", paths.driver_install_dir));
  }
  out.mounts.push_back(ValidationsMount(kBidirectional));
  return out;
}

Result<Object> MakeDaemonSet(const api::ClusterPolicySpec& policy, const Facts& facts) {
  DaemonSet ds = NewDaemonSet({.name = kName,
                               .labels = {{"app", kName}, {"app.kubernetes.io/part-of", "gpu-operator"}},
                               .deploy = "sandbox-validator"},
                              facts);
  PodSpec& pod = ds.pod.spec;
  pod.AddVolume(Validations());
  const api::Validator& validator = policy.validator;
  const bool cc = policy.cc_manager.IsEnabled() && policy.sandbox_workloads.mode == "kata";
  for (const Step& step : {Step{"cc-manager", nullptr, false, false, false, true},
                           Step{"vfio-pci", &validator.vfio_pci, true, false, true, true},
                           Step{"vgpu-manager", &validator.vgpu_manager, true, true, true, true},
                           Step{"vgpu-devices", &validator.vgpu_devices, false, false, true, false}}) {
    if (step.env == nullptr && !cc) continue;
    ASSIGN(Container init, MakeStep(step, policy, facts, pod));
    pod.init_containers.push_back(std::move(init));
  }
  std::vector<std::string> hold = {"hold"};
  for (const char* file : {"workload-type", "vfio-pci-ready", "vgpu-manager-ready", "host-vgpu-manager-ready",
                           "vgpu-devices-ready", "cc-manager-ready"})
    hold.push_back(std::string("--remove=") + kValidations + "/" + file);
  ASSIGN(Container main, Waiter(kName, std::move(hold), policy, facts, pod));
  main.env.Set(EnvOf(validator.env));
  main.mounts = {ValidationsMount()};
  pod.containers = {std::move(main)};
  if (validator.host_network.value_or(false)) {
    pod.host_network = true;
    pod.dns_policy = "ClusterFirstWithHostNet";
  }
  return FinishDaemonSet(std::move(ds), policy, facts);
}

}  // namespace

bool Enabled(const api::ClusterPolicySpec& policy, const Facts&) { return policy.sandbox_workloads.IsEnabled(); }

Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts) {
  std::vector<Object> out;
  AddAccount({.name = kName, .cluster_rules = {{.groups = {""}, .resources = {"nodes"}, .verbs = {"get"}}}}, facts,
             out);
  AddConstraints({.account = kName}, facts, out);
  ASSIGN(Object ds, MakeDaemonSet(policy, facts));
  out.push_back(std::move(ds));
  return out;
}

}  // namespace gpuop::operands::sandbox_validator
