#pragma once
// What is wrong with a policy or a driver beyond what its schema says. Pure.

#include <string>
#include <vector>

#include "api/cluster_policy.h"
#include "api/nvidia_driver.h"

namespace gpuop::op {

/// One thing that is wrong: "spec.driver.env[2].name: …" as one text, because that is how people read it.
using Problems = std::vector<std::string>;

Problems CheckPolicy(const api::ClusterPolicySpec& spec);
Problems CheckDriver(const api::NvidiaDriverSpec& spec);

}  // namespace gpuop::op
