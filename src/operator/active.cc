#include "operator/active.h"

#include <tuple>

namespace gpuop::op {

std::shared_ptr<const api::ClusterPolicy> ActivePolicy(
    const std::vector<std::shared_ptr<const api::ClusterPolicy>>& policies) {
  std::shared_ptr<const api::ClusterPolicy> out;
  for (const auto& policy : policies) {
    if (policy->meta.deleting()) continue;
    if (!out || std::tie(policy->meta.created, policy->meta.name) < std::tie(out->meta.created, out->meta.name))
      out = policy;
  }
  return out;
}

}  // namespace gpuop::op
