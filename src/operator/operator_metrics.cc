#include "operator/operator_metrics.h"

namespace gpuop::op {

OperatorMetrics::OperatorMetrics(MetricRegistry& r)
    : registry(r),
      gpu_nodes(r.gauge("gpu_operator_gpu_nodes_total", "Nodes with NVIDIA GPUs.")),
      reconciliation_status(r.gauge("gpu_operator_reconciliation_status",
                                    "1: all operands are ready; 0: some are not; -1: no policy can be acted on.")),
      last_success(r.gauge("gpu_operator_reconciliation_last_success_ts_seconds",
                           "When all operands were last found ready, in seconds since 1970.")),
      reconciliations(r.counter("gpu_operator_reconciliation_total", "Turns for ClusterPolicies.")),
      failures(
          r.counter("gpu_operator_reconciliation_failed_total", "Turns that found operands not ready, or failed.")),
      has_nfd_labels(r.gauge("gpu_operator_reconciliation_has_nfd_labels",
                             "Whether any node carries labels of node feature discovery.")),
      driver_toolkit_enabled(r.gauge("gpu_operator_openshift_driver_toolkit_enabled",
                                     "OpenShift's Driver Toolkit: 1 in use, 0 not, -1 asked for but impossible.")),
      driver_toolkit_nfd_too_old(
          r.gauge("gpu_operator_openshift_driver_toolkit_nfd_too_old", "Whether no node tells its RHCOS version.")),
      driver_toolkit_imagestream_missing(r.gauge("gpu_operator_openshift_driver_toolkit_imagestream_missing",
                                                 "Whether the Driver Toolkit's ImageStream is missing.")),
      driver_toolkit_rhcos_tags_missing(r.gauge("gpu_operator_openshift_driver_toolkit_rhcos_tags_missing",
                                                "Whether the ImageStream lacks the RHCOS version of some node.")),
      driver_toolkit_imagestream_broken(r.gauge("gpu_operator_openshift_driver_toolkit_imagestream_broken",
                                                "Whether the ImageStream has a tag without a name.")),
      auto_upgrade(
          r.gauge("gpu_operator_driver_auto_upgrade_enabled", "Whether running drivers are replaced by the operator.")),
      turn_seconds(r.histogram("gpu_operator_reconciliation_duration_seconds",
                               "How long a turn for a ClusterPolicy took.", ExponentialBounds(0.0005, 4, 8))) {}

void OperatorMetrics::SetOperand(const std::string& operand, std::int64_t desired, std::int64_t available) {
  registry.gauge("gpu_operator_operand_pods_desired", "Pods that an operand should have.", {{"operand", operand}})
      .Set(static_cast<double>(desired));
  registry
      .gauge("gpu_operator_operand_pods_available", "Pods of an operand that are available.", {{"operand", operand}})
      .Set(static_cast<double>(available));
}

}  // namespace gpuop::op
