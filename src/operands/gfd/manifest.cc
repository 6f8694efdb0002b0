#include "operands/gfd/manifest.h"

#include "operands/draft.h"
#include "operands/image.h"
#include "operands/plugin_config.h"
#include "operands/waits.h"

namespace gpuop::operands::gfd {
namespace {

constexpr const char* kName = "gpu-feature-discovery";
constexpr const char* kAccount = "nvidia-gpu-feature-discovery";

Container Main(std::string image, const api::ClusterPolicySpec& policy, const Facts& facts) {
  Container main{.name = kName,
                 .image = std::move(image),
                 .command = {"gpu-feature-discovery"},
                 .env = {{.name = "GFD_SLEEP_INTERVAL", .value = "60s"},
                         {.name = "GFD_FAIL_ON_INIT_ERROR", .value = "true"},
                         FieldVar("NAMESPACE", "metadata.namespace"),
                         NodeName(),
                         FieldVar("POD_NAME", "metadata.name")},
                 .security = Privileged(),
                 .mounts = {{.name = "output-dir", .path = "/etc/kubernetes/node-feature-discovery/features.d"},
                            {.name = "host-sys", .path = "/sys", .read_only = true}}};
  // NVIDIA's image asks for all GPUs by itself; ours, which is everybody's image, for none.
  if (main.image == facts.operator_image) main.env.Set("NVIDIA_VISIBLE_DEVICES", "all");
  if (facts.openshift.present) main.env.Set("USE_NODE_FEATURE_API", "false");
  SetMigEnv(policy, main.env);
  return main;
}

Result<Object> MakeDaemonSet(const api::ClusterPolicySpec& policy, const Facts& facts) {
  DaemonSet ds = NewDaemonSet({.name = kName,
                               .account = kAccount,
                               .labels = {{"app", kName}, {"app.kubernetes.io/part-of", "nvidia-gpu"}},
                               .deploy = "gpu-feature-discovery"},
                              facts);
  PodSpec& pod = ds.pod.spec;
  const Mount run{.name = "run-nvidia", .path = "/run/nvidia", .propagation = std::string(kHostToContainer)};
  ASSIGN(Container wait, WaitForToolkit(run, false, policy, facts, pod));
  pod.init_containers = {std::move(wait)};
  pod.volumes = {HostVolume("output-dir", "/etc/kubernetes/node-feature-discovery/features.d"),
                 HostVolume("host-sys", "/sys"), HostVolume("run-nvidia", "/run/nvidia", kDirectory)};
  ASSIGN(std::string image, ResolveImage(policy.gfd, "GFD_IMAGE", facts, "spec.gfd"));
  pod.containers = {Main(std::move(image), policy, facts)};
  TRY(AddPluginConfig("gpu-feature-discovery", policy, facts, pod));
  ApplyComponent(policy.gfd, pod, pod.containers.front());
  UseGpuRuntime(ds, kName, policy, facts);
  return FinishDaemonSet(std::move(ds), policy, facts);
}

}  // namespace

bool Enabled(const api::ClusterPolicySpec& policy, const Facts&) { return policy.gfd.IsEnabled(); }

Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts) {
  std::vector<Object> out;
  AddAccount({.name = kAccount,
              .cluster_rules = {{.groups = {""}, .resources = {"nodes"}, .verbs = {"get", "list", "watch"}}},
              .rules = {{.groups = {""}, .resources = {"pods"}, .verbs = {"get"}},
                        {.groups = {"nfd.k8s-sigs.io"},
                         .resources = {"nodefeatures"},
                         .verbs = {"get", "list", "watch", "create", "update"}}}},
             facts, out);
  AddConstraints({.account = kAccount}, facts, out);
  ASSIGN(Object ds, MakeDaemonSet(policy, facts));
  out.push_back(std::move(ds));
  return out;
}

}  // namespace gpuop::operands::gfd
