#pragma once

#include <string>

#include "base/metrics.h"

namespace gpuop::op {

/// The operator's own numbers, by NVIDIA's names where NVIDIA has one.
struct OperatorMetrics {
  explicit OperatorMetrics(MetricRegistry& registry);

  /// Of one operand: how many Pods are wanted and how many are available.
  void SetOperand(const std::string& operand, std::int64_t desired, std::int64_t available);

  MetricRegistry& registry;
  Gauge& gpu_nodes;
  Gauge& reconciliation_status;  ///< 1 ready, 0 not ready, -1 no policy, or one that cannot be acted on
  Gauge& last_success;           ///< unix time
  Counter& reconciliations;
  Counter& failures;
  Gauge& has_nfd_labels;
  Gauge& driver_toolkit_enabled;  ///< 1 on, 0 off, -1 asked for but impossible
  Gauge& driver_toolkit_nfd_too_old;
  Gauge& driver_toolkit_imagestream_missing;
  Gauge& driver_toolkit_rhcos_tags_missing;
  Gauge& driver_toolkit_imagestream_broken;
  Gauge& auto_upgrade;
  Histogram& turn_seconds;
};

}  // namespace gpuop::op
