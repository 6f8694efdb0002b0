#include "operands/operator_metrics/manifest.h"

#include "operands/draft.h"

namespace gpuop::operands::operator_metrics {
namespace {

constexpr const char* kName = "gpu-operator";

PrometheusRuleItem Alert(const char* name, const char* expr, const char* duration, const char* what) {
  return {.alert = name,
          .expr = expr,
          .duration = duration,
          .labels = {{"severity", "warning"}},
          .annotations = {{"summary", what}}};
}

Object Alerts(const Facts& facts) {
  return ToObject(PrometheusRule{
      .meta = Named("nvidia-gpu-operator-metrics", facts, {{"app", kName}}),
      .group = "gpu-operator",
      .rules = {
          Alert("GPUOperatorReconciliationFailed", "gpu_operator_reconciliation_status != 1", "1h",
                "GPU operands have not been ready for an hour"),
          Alert("GPUOperatorReconciliationFailedNfdLabelsMissing", "gpu_operator_reconciliation_has_nfd_labels == 0",
                "30m", "no node carries labels of node feature discovery"),
          Alert("GPUOperatorOpenshiftDriverToolkitEnabledNfdTooOld",
                "gpu_operator_openshift_driver_toolkit_nfd_too_old == 1", "30m",
                "the Driver Toolkit is asked for and node feature discovery does not say the RHCOS version"),
          Alert("GPUOperatorOpenshiftDriverToolkitEnabledImageStreamMissing",
                "gpu_operator_openshift_driver_toolkit_imagestream_missing == 1", "30m",
                "the Driver Toolkit is asked for and its image stream is missing"),
          Alert("GPUOperatorOpenshiftDriverToolkitImageStreamBroken",
                "gpu_operator_openshift_driver_toolkit_imagestream_broken == 1", "30m",
                "the Driver Toolkit's image stream has tags without a name"),
          Alert("GPUOperatorOpenshiftDriverToolkitImageTagsMissing",
                "gpu_operator_openshift_driver_toolkit_rhcos_tags_missing == 1", "30m",
                "a node's RHCOS version has no Driver Toolkit image"),
          Alert("GPUOperatorDriverAutoUpgradeFailures", "gpu_operator_nodes_upgrades_failed > 0", "30m",
                "the driver could not be upgraded on a node")}});
}

/// OpenShift's Prometheus reads services of this namespace.
void AddOpenShiftReader(const Facts& facts, std::vector<Object>& out) {
  const Meta meta = Named("prometheus-k8s", facts);
  out.push_back(ToObject(Role{
      .meta = meta,
      .rules = {{.groups = {""}, .resources = {"services", "endpoints", "pods"}, .verbs = {"get", "list", "watch"}}}}));
  out.push_back(ToObject(Binding{.meta = meta, .account = "prometheus-k8s", .account_ns = "openshift-monitoring"}));
}

}  // namespace

bool Enabled(const api::ClusterPolicySpec&, const Facts&) { return true; }

Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts) {
  const StringMap app{{"app", kName}};
  std::vector<Object> out;
  if (facts.openshift.present) AddOpenShiftReader(facts, out);
  out.push_back(ToObject(
      Service{.meta = {.name = kName, .ns = facts.ns, .labels = app, .annotations = {{"prometheus.io/scrape", "true"}}},
              .selector = app,
              .ports = {{.name = "gpu-operator-metrics", .port = 8080}}}));
  AddServiceMonitor(kName, "gpu-operator-metrics", "operator", policy.operator_.metrics.service_monitor, facts, out);
  if (facts.openshift.present && facts.prometheus_rules) out.push_back(Alerts(facts));
  return out;
}

}  // namespace gpuop::operands::operator_metrics
