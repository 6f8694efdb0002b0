#pragma once
// The nodes of an NVIDIADriver in pools that need a DaemonSet each. Pure.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/nvidia_driver.h"
#include "operands/driver_pool.h"
#include "operator/node_state.h"

namespace gpuop::op {

struct DriverPools {
  std::vector<operands::DriverPool> pools;  ///< by name
  /// Nodes of the driver whose operating system, or kernel, nobody tells.
  std::vector<std::string> unknown_nodes;
};

/// Pools of the nodes that carry the driver's name as owner: by operating system; with precompiled modules also by
/// kernel; with OpenShift's Driver Toolkit by RHCOS version.
DriverPools PoolsOf(const api::NvidiaDriver& driver, std::span<const std::shared_ptr<const NodeState>> nodes,
                    bool driver_toolkit, const std::string& host_root);

/// NVIDIA's name of a pool's DaemonSet. `hashed` is the driver's uid, with "-" and kernel or RHCOS version if the pool
/// has one. At most 63 characters: what stands before the hash is cut.
std::string PoolName(const std::string& driver_type, const std::string& os_tag, const std::string& hashed);

}  // namespace gpuop::op
