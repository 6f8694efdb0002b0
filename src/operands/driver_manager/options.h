#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace gpuop::operands::driver_manager {

/// What the driver manager was told, by its environment (toolkit-cdi-validator-driver.md §6.1.2).
struct Options {
  std::string node, ns = "gpu-operator", kubeconfig;
  bool evict_gpu_pods = true;
  /// Drain the whole node when something still holds the driver after GPU Pods have gone.
  bool auto_drain = true;
  /// Evict also Pods that nobody makes again, and Pods whose emptyDir is lost with them.
  bool force = false, delete_empty_dir = false;
  /// Which Pods a drain of the whole node evicts, by their labels; empty: all of them.
  std::string pod_selector;
  /// For evictions, and for operands to go.
  Duration timeout = std::chrono::minutes(30);
  std::string custom_label;
  /// The driver container builds a module on the network driver, which is the host's own or another container's.
  bool rdma = false, host_mofed = false;
  bool force_reinstall = false;
  std::string config_digest;
};

using GetEnv = std::function<std::optional<std::string>(const std::string& name)>;
/// kInvalid names the variable. DRAIN_TIMEOUT_SECONDS is seconds, or a span as Go writes it; 0 is the default.
Result<Options> ReadOptions(const GetEnv& env);

}  // namespace gpuop::operands::driver_manager
