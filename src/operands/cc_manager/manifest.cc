#include "operands/cc_manager/manifest.h"

#include "operands/draft.h"
#include "operands/image.h"

namespace gpuop::operands::cc_manager {
namespace {

constexpr const char* kName = "nvidia-cc-manager";

Result<Object> MakeDaemonSet(const api::ClusterPolicySpec& policy, const Facts& facts) {
  const api::CcManager& cc = policy.cc_manager;
  DaemonSet ds = NewDaemonSet({.name = kName, .labels = {{"name", kName}}, .deploy = "cc-manager"}, facts);
  PodSpec& pod = ds.pod.spec;
  ASSIGN(std::string image, ResolveImage(cc, "CC_MANAGER_IMAGE", facts, "spec.ccManager"));
  Container main{
      .name = kName,
      .image = std::move(image),
      .env = {NodeName(), {.name = "NVIDIA_VISIBLE_DEVICES", .value = "void"}},
      .resources = {.limits = {{"memory", "200Mi"}}, .requests = {{"cpu", "100m"}, {"memory", "200Mi"}}},
      .lifecycle =
          Lifecycle{.pre_stop =
                        LifecycleHandler{
                            .exec = {.command = {"/bin/rm", "-f", "/run/nvidia/validations/.cc-manager-ctr-ready"}}}},
      .security = PrivilegedS0(),
      .mounts = {{.name = "run-nvidia", .path = "/run/nvidia"}, {.name = "host-sys", .path = "/sys"}}};
  if (!cc.default_mode.empty()) main.env.Set("DEFAULT_CC_MODE", cc.default_mode);
  ApplyComponent(cc, pod, main);
  pod.containers = {std::move(main)};
  pod.volumes = {HostVolume("run-nvidia", "/run/nvidia", kDirectoryOrCreate),
                 HostVolume("host-sys", "/sys", kDirectory)};
  return FinishDaemonSet(std::move(ds), policy, facts);
}

}  // namespace

bool Enabled(const api::ClusterPolicySpec& policy, const Facts&) {
  return policy.sandbox_workloads.IsEnabled() && policy.sandbox_workloads.mode == "kata" &&
         policy.cc_manager.IsEnabled();
}

Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts) {
  std::vector<Object> out;
  AddAccount({.name = kName,
              .cluster_rules = {{.groups = {""}, .resources = {"nodes"}, .verbs = {"get", "list", "patch", "watch"}}},
              .rules = {{.groups = {""}, .resources = {"pods"}, .verbs = {"get", "list", "watch"}}}},
             facts, out);
  AddConstraints({.account = kName}, facts, out);
  ASSIGN(Object ds, MakeDaemonSet(policy, facts));
  out.push_back(std::move(ds));
  return out;
}

}  // namespace gpuop::operands::cc_manager
