#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/cluster_policy.h"

namespace gpuop::op {

/// The policy that counts: the oldest, of equal age the first by name. Those being deleted do not count. Null when
/// there is none.
std::shared_ptr<const api::ClusterPolicy> ActivePolicy(
    const std::vector<std::shared_ptr<const api::ClusterPolicy>>& policies);

}  // namespace gpuop::op
