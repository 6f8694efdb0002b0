#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace gpuop::operands::validator {

/// What is looked at.
enum class Component {
  kDriver,
  kToolkit,
  kCuda,
  kPlugin,
  kMofed,
  kVfioPci,
  kVgpuManager,
  kVgpuDevices,
  kCcManager,
  kNvidiaFs,
  kGdrcopy,
  kNvidiaPeermem,
  kMetrics,
  kWatch,  ///< ours: waits for changes and proves the chain anew
};

/// The component's name on the command line: "nvidia-fs".
std::string_view Name(Component component);

/// What the program was told, by flags and environment (toolkit-cdi-validator-driver.md §5.1).
struct Options {
  Component component = Component::kDriver;
  std::string kubeconfig, node, ns;
  bool with_wait = false, with_workload = true, cleanup_all = false;
  std::string output_dir = "/run/nvidia/validations";
  /// How often something is looked at again that tells nobody when it changes.
  Duration interval = std::chrono::seconds(5);
  int metrics_port = 0;
  std::string default_workload;
  bool dev_char_links = true;
  std::string host_root = "/", driver_install_dir = "/run/nvidia/driver", driver_install_dir_ctr = "/run/nvidia/driver";
  bool skip_gpu_init = false;
  // Pods that the validator makes.
  std::string image, pull_policy, runtime_class;
  std::vector<std::string> pull_secrets;
  // mofed
  bool rdma = false, host_mofed = false;
  /// How long the driver may take to answer; it wakes GPUs that sleep.
  Duration driver_limit = std::chrono::seconds(60);
  /// How long the workload may take for one device.
  Duration device_limit = std::chrono::seconds(30);
  // watch
  /// How often GPUs that are awake are asked for what no event tells of (heat, narrow links); 0: never.
  Duration health_interval = std::chrono::minutes(10);
};

using GetEnv = std::function<std::optional<std::string>(const std::string& name)>;

/// Reads the command line (without the program's name) and the environment, flags first. kInvalid names the flag and
/// its variable. nullopt: help was asked for.
Result<std::optional<Options>> ReadOptions(const std::vector<std::string>& args, const GetEnv& env);

/// The flags, for --help.
std::string Help();

}  // namespace gpuop::operands::validator
