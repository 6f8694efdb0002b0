#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "operands/gfd/labels.h"
#include "operands/plugin_settings.h"

namespace gpuop::operands::gfd {

/// What the program was told, by flags, environment and settings file, in this order of weight.
struct Options {
  LabelSettings labels;
  bool fail_on_init_error = true;
  bool oneshot = false, timestamp = true;
  /// How often GPUs without events are looked at again; nullopt: never.
  std::optional<Duration> interval = std::chrono::seconds(60);
  bool use_node_feature_api = true;
  /// Empty: standard output.
  std::string output_file = "/etc/kubernetes/node-feature-discovery/features.d/gfd";
  std::string machine_type_file = "/sys/class/dmi/id/product_name";
  std::string config_file, kubeconfig;
  /// Where metrics and health are served (":9401"); empty: nowhere.
  std::string metrics_address;
  std::string ns = "default", node, pod;
};

/// A flag's value by its name ("mig-strategy"), and the environment's as far as it counts.
struct Given {
  std::map<std::string, std::string, std::less<>> values;
  bool help = false;
  std::string Get(std::string_view name, std::string_view otherwise = {}) const;
};

using GetEnv = std::function<std::optional<std::string>(const std::string& name)>;

/// Reads the command line (without the program's name) and the variables of gpu-feature-discovery (GFD_MIG_STRATEGY,
/// MIG_STRATEGY, …). kInvalid names the flag.
Result<Given> ReadGiven(const std::vector<std::string>& args, const GetEnv& env);
/// What comes of them and of the settings file, whose text and name `settings` and `config-file` are; null without one.
Result<Options> MakeOptions(const Given& given, const PluginSettings* settings);

/// The flags, for --help.
std::string Help();

}  // namespace gpuop::operands::gfd
