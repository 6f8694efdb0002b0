#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace gpuop::operands::config_manager {

/// What to do when neither the node's label nor a default names a configuration: tried in the order given.
enum class Fallback {
  kNamed,   ///< the one called "default"
  kSingle,  ///< the only one there is
  kEmpty,   ///< none: the program runs with its own defaults
};

/// What config-manager was told, by flags and environment.
struct Options {
  bool oneshot = false;
  std::string kubeconfig, node;
  std::string label = "nvidia.com/device-plugin.config";
  /// The folder of configurations, and the link that names the chosen one. Absolute.
  std::string source, destination;
  std::string default_config;
  std::vector<Fallback> fallbacks;
  bool send_signal = true;
  int signal = 1;
  std::string process = "nvidia-device-plugin";
  /// Where metrics and health are served (":9402"); empty: nowhere.
  std::string metrics_address;
};

/// Reads command line (without the program's name) and variables; `variable` is getenv(3). kInvalid names the flag.
Result<Options> ReadOptions(const std::vector<std::string>& arguments,
                            const std::function<const char*(const char*)>& variable);

/// The flags, for --help.
std::string Help();

}  // namespace gpuop::operands::config_manager
