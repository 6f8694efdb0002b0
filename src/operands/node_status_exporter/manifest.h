#pragma once
// The state of each node's GPU software for Prometheus (controller.md §4.11).

#include <vector>

#include "api/cluster_policy.h"
#include "base/result.h"
#include "operands/build/meta.h"
#include "operands/facts.h"

namespace gpuop::operands::node_status_exporter {

bool Enabled(const api::ClusterPolicySpec& policy, const Facts& facts);
Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts);

}  // namespace gpuop::operands::node_status_exporter
