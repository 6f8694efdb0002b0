#pragma once
// The RuntimeClasses that Pods ask for GPUs with (controller.md §3.8).

#include <vector>

#include "api/cluster_policy.h"
#include "base/result.h"
#include "operands/build/meta.h"
#include "operands/facts.h"

namespace gpuop::operands::prerequisites {

bool Enabled(const api::ClusterPolicySpec& policy, const Facts& facts);
Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts);

}  // namespace gpuop::operands::prerequisites
