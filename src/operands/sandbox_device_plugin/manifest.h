#pragma once
// The device plugins of virtual machines: KubeVirt's and Kata's (controller.md §4.16).

#include <vector>

#include "api/cluster_policy.h"
#include "base/result.h"
#include "operands/build/meta.h"
#include "operands/facts.h"

namespace gpuop::operands::sandbox_device_plugin {

bool KubevirtEnabled(const api::ClusterPolicySpec& policy, const Facts& facts);
Result<std::vector<Object>> RenderKubevirt(const api::ClusterPolicySpec& policy, const Facts& facts);
bool KataEnabled(const api::ClusterPolicySpec& policy, const Facts& facts);
Result<std::vector<Object>> RenderKata(const api::ClusterPolicySpec& policy, const Facts& facts);

}  // namespace gpuop::operands::sandbox_device_plugin
