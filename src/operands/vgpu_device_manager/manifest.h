#pragma once
// The vGPU device manager (controller.md §4.13).

#include <vector>

#include "api/cluster_policy.h"
#include "base/result.h"
#include "operands/build/meta.h"
#include "operands/facts.h"

namespace gpuop::operands::vgpu_device_manager {

bool Enabled(const api::ClusterPolicySpec& policy, const Facts& facts);
Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts);

}  // namespace gpuop::operands::vgpu_device_manager
