#include "operands/node_status_exporter/manifest.h"

#include "operands/draft.h"
#include "operands/image.h"

namespace gpuop::operands::node_status_exporter {
namespace {

constexpr const char* kName = "nvidia-node-status-exporter";
constexpr std::int32_t kPort = 8000;

Result<Object> MakeDaemonSet(const api::ClusterPolicySpec& policy, const Facts& facts) {
  DaemonSet ds = NewDaemonSet({.name = kName, .deploy = "node-status-exporter", .scc = kName}, facts);
  PodSpec& pod = ds.pod.spec;
  ASSIGN(std::string image,
         ResolveImage(policy.node_status_exporter, "VALIDATOR_IMAGE", facts, "spec.nodeStatusExporter"));
  Container main{
      .name = kName,
      .image = std::move(image),
      .command = {"nvidia-validator"},
      .env = {{.name = "NVIDIA_VISIBLE_DEVICES", .value = "void"},
              {.name = "COMPONENT", .value = "metrics"},
              {.name = "METRICS_PORT", .value = std::to_string(kPort)},
              NodeName(),
              FieldVar("OPERATOR_NAMESPACE", "metadata.namespace")},
      .ports = {{.name = "node-status", .container_port = kPort}},
      .security = PrivilegedRoot(),
      .mounts = {HostRootMount(),
                 {.name = "run-nvidia", .path = "/run/nvidia", .propagation = std::string(kHostToContainer)}}};
  ApplyComponent(policy.node_status_exporter, pod, main);
  pod.containers = {std::move(main)};
  pod.volumes = {HostRoot(PathsOf(policy.host_paths)), HostVolume("run-nvidia", "/run/nvidia", kDirectory)};
  return FinishDaemonSet(std::move(ds), policy, facts);
}

PrometheusRuleItem Alert(const char* name, const char* expr, const char* what) {
  return {.alert = name,
          .expr = expr,
          .duration = "30m",
          .labels = {{"severity", "warning"}},
          .annotations = {{"summary", what}, {"description", "Node {{ $labels.node }}: " + std::string(what)}}};
}

Object Alerts(const Facts& facts) {
  return ToObject(
      PrometheusRule{.meta = Named("nvidia-node-status-exporter-alerts", facts, {{"app", kName}}),
                     .group = "Alert on node deployment failure",
                     .rules = {Alert("GPUOperatorNodeDeploymentFailed", "gpu_operator_nvidia_pci_devices_total == 0",
                                     "no NVIDIA device is seen on the PCI bus"),
                               Alert("GPUOperatorNodeDeploymentDriverFailed",
                                     "gpu_operator_node_driver_ready == 0 or gpu_operator_node_driver_validation == 0",
                                     "the GPU driver is not ready"),
                               Alert("GPUOperatorNodeDeploymentToolkitFailed",
                                     "gpu_operator_node_driver_ready == 1 and gpu_operator_node_toolkit_ready == 0",
                                     "the driver is ready and the container toolkit is not"),
                               Alert("GPUOperatorNodeDeploymentCudaFailed",
                                     "gpu_operator_node_toolkit_ready == 1 and gpu_operator_node_cuda_ready == 0",
                                     "driver and toolkit are ready and CUDA does not work in a container")}});
}

}  // namespace

bool Enabled(const api::ClusterPolicySpec& policy, const Facts&) { return policy.node_status_exporter.IsEnabled(); }

Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts) {
  const StringMap app{{"app", kName}};
  std::vector<Object> out;
  AddAccount({.name = kName,
              .cluster_rules = {{.groups = {""}, .resources = {"nodes"}, .verbs = {"get", "list", "watch"}}},
              .rules = {{.groups = {""}, .resources = {"pods"}, .verbs = {"get", "list"}},
                        {.groups = {"apps"}, .resources = {"daemonsets"}, .verbs = {"get", "list", "watch"}}},
              .labels = app},
             facts, out);
  AddConstraints({.account = kName, .host_network = true, .host_pid = true}, facts, out);
  out.push_back(ToObject(
      Service{.meta = {.name = kName, .ns = facts.ns, .labels = app, .annotations = {{"prometheus.io/scrape", "true"}}},
              .selector = app,
              .ports = {{.name = "node-status", .port = kPort}}}));
  AddServiceMonitor(kName, "node-status", "node-status", {}, facts, out);
  if (facts.openshift.present && facts.prometheus_rules) out.push_back(Alerts(facts));
  ASSIGN(Object ds, MakeDaemonSet(policy, facts));
  out.push_back(std::move(ds));
  return out;
}

}  // namespace gpuop::operands::node_status_exporter
