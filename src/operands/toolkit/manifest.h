#pragma once
// The container toolkit (controller.md §4.3).

#include <vector>

#include "api/cluster_policy.h"
#include "base/result.h"
#include "operands/build/meta.h"
#include "operands/facts.h"

namespace gpuop::operands::toolkit {

bool Enabled(const api::ClusterPolicySpec& policy, const Facts& facts);
Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts);

}  // namespace gpuop::operands::toolkit
