#pragma once
// How Prometheus finds the operator's own metrics (controller.md §3.9).

#include <vector>

#include "api/cluster_policy.h"
#include "base/result.h"
#include "operands/build/meta.h"
#include "operands/facts.h"

namespace gpuop::operands::operator_metrics {

bool Enabled(const api::ClusterPolicySpec& policy, const Facts& facts);
Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts);

}  // namespace gpuop::operands::operator_metrics
