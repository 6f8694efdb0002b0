#pragma once
// What is wrong with a resource as a whole, before anything of it is rendered.

#include <string>
#include <vector>

#include "api/cluster_policy.h"
#include "api/nvidia_driver.h"
#include "operands/facts.h"

namespace gpuop::operands {

/// Settings of a policy that exclude each other, or cannot work. Each text begins with the field. Empty when there are
/// none.
std::vector<std::string> Check(const api::ClusterPolicySpec& policy);
std::vector<std::string> Check(const api::NvidiaDriverSpec& driver);

/// Groups whose nodes need a driver from the policy and get none: their OS is unknown, or NVIDIA publishes no image for
/// it and the policy names none of its own. OsTag names it; the ways out are a driver that the host brings
/// (nvidia.com/gpu.deploy.driver=false on the node) and an image of one's own (spec.driver.repository).
std::vector<NodeGroup> GroupsWithoutDriverImage(const api::ClusterPolicySpec& policy, const Facts& facts);

}  // namespace gpuop::operands
