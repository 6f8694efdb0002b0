#pragma once
// The driver of a ClusterPolicy and of NVIDIADrivers (controller.md §2.5, §4.2): a DaemonSet for each OS, for each
// kernel with precompiled modules, for each RHCOS version with OpenShift's Driver Toolkit.

#include <vector>

#include "api/cluster_policy.h"
#include "api/nvidia_driver.h"
#include "base/result.h"
#include "operands/build/meta.h"
#include "operands/driver_pool.h"
#include "operands/facts.h"

namespace gpuop::operands::driver {

bool Enabled(const api::ClusterPolicySpec& policy, const Facts& facts);
Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts);

/// The objects of one pool of an NVIDIADriver.
Result<std::vector<Object>> RenderPool(const api::NvidiaDriver& driver, const DriverPool& pool, const Facts& facts);

/// Groups whose nodes get no driver because there is no image for their OS, or their OS is unknown.
std::vector<NodeGroup> GroupsWithoutImage(const api::ClusterPolicySpec& policy, const Facts& facts);

}  // namespace gpuop::operands::driver
