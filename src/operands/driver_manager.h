#pragma once
// The init container k8s-driver-manager, which prepares a node for another driver (controller.md §4.2, §4.12).

#include <string>
#include <vector>

#include "api/components.h"
#include "base/result.h"
#include "operands/build/pod.h"
#include "operands/facts.h"

namespace gpuop::operands {

/// What differs between the Pods that have it.
struct ManagerSettings {
  const api::DriverManager& spec;
  /// Of the policy, for errors: "spec.driver.manager".
  std::string field;
  /// Whether it may evict GPU Pods, and has the variables for draining.
  bool evicts = false;
  bool rdma = false, host_mofed = false;
  /// The driver's configuration as one number; "" for none.
  std::string digest = {};
};

/// The container; its image's pull secrets go to the Pod. It mounts volumes run-nvidia, host-root and host-sys, and
/// run-mellanox-drivers when it evicts.
Result<Container> ManagerInit(const ManagerSettings& settings, Resources resources, const Facts& facts, PodSpec& pod);

}  // namespace gpuop::operands
