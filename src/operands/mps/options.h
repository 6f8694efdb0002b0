#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace gpuop::operands::mps {

/// What mps-control-daemon was told, by flags and environment.
struct Options {
  /// `mount-shm` instead: makes the shared memory and ends.
  bool mount_shm = false;
  std::string config_file, mig_strategy;
  /// The node's folder for MPS, where this program's container has it.
  std::string root = "/mps";
  /// Where the driver is, for NVML; "" or "/": where the loader finds it.
  std::string driver_root;
  /// NVIDIA's daemon, searched in PATH.
  std::string daemon = "nvidia-cuda-mps-control";
  /// Where metrics and health are served (":9403"); empty: nowhere.
  std::string metrics_address;
};

/// Reads command line (without the program's name) and variables; `variable` is getenv(3). kInvalid names the flag.
Result<Options> ReadOptions(const std::vector<std::string>& arguments,
                            const std::function<const char*(const char*)>& variable);
std::string Help();

}  // namespace gpuop::operands::mps
