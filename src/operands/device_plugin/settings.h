#pragma once
// What the device plugin was told, by flags, environment and settings file, in this order of weight.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "container/flags.h"
#include "operands/device_plugin/xid_policy.h"
#include "operands/plugin_settings.h"
#include "operands/readiness_gate_plan.h"

namespace gpuop::operands::device_plugin {

/// What MIG devices are offered as.
enum class MigStrategy {
  kNone,    ///< not at all: a GPU is a GPU
  kSingle,  ///< as nvidia.com/gpu, all of one kind
  kMixed,   ///< as nvidia.com/mig-PROFILE
};

/// How a container is told its devices; several at once are possible.
enum class ListStrategy { kEnvvar, kVolumeMounts, kCdiAnnotations, kCdiCri };

/// What devices are called towards a container; the kubelet knows UUIDs only.
enum class IdStrategy { kUuid, kIndex };

/// Which GPU the next share (or MIG device) comes from: the least or the most used one.
enum class Spread { kDistributed, kPacked };

struct Settings {
  MigStrategy mig = MigStrategy::kNone;
  /// End when the driver cannot be asked at the start, instead of waiting for it.
  bool fail_on_init_error = true;
  /// The driver's root and that of its device nodes on the host, and the driver's root as this process sees it.
  std::string driver_root = "/", dev_root = "/", container_driver_root = "/driver-root";
  bool pass_device_specs = false;
  std::set<ListStrategy> lists = {ListStrategy::kEnvvar};
  IdStrategy ids = IdStrategy::kUuid;
  Spread spread = Spread::kDistributed;
  bool gdrcopy = false, gds = false, mofed = false;
  std::vector<unsigned> imex_channels;
  bool imex_required = false;

  std::string cdi_annotation_prefix = "cdi.k8s.io/";
  /// nvidia-cdi-hook or nvidia-ctk, on the host.
  std::string cdi_hook = "/usr/bin/nvidia-ctk";
  std::set<std::string> cdi_features, cdi_disabled_hooks;
  std::string cdi_folder = "/var/run/cdi";

  /// Of the MPS daemon on the host; empty without one.
  std::string mps_root;
  /// Empty: serve, and register with nobody.
  std::string kubelet_socket = "/var/lib/kubelet/device-plugins/kubelet.sock";
  std::string config_file;
  /// "" or "ADDRESS:PORT": where metrics and health are served.
  std::string metrics_address;
  /// The node's name, its mark while GPUs cannot be had yet, and whether its conditions tell of GPUs that are not
  /// healthy. Without a name there are neither.
  std::string node;
  GateSettings gate;
  bool tell_node = false;
  std::string kubeconfig;

  PluginSettings::Sharing sharing;
  ResourceNames names;
  XidPolicy xids;

  bool Uses(ListStrategy strategy) const { return lists.contains(strategy); }
  bool UsesCdi() const { return Uses(ListStrategy::kCdiAnnotations) || Uses(ListStrategy::kCdiCri); }
  /// Every strategy is one of CDI's: nothing else is told to the container.
  bool OnlyCdi() const { return !Uses(ListStrategy::kEnvvar) && !Uses(ListStrategy::kVolumeMounts); }
};

/// getenv(3).
using GetEnv = std::function<const char*(const char*)>;

/// Reads the command line, without the program's name, and the variables behind it. kInvalid names the flag.
Result<container::FlagValues> ReadFlags(const std::vector<std::string>& args, const GetEnv& env);
/// What comes of them and of the settings file; `file` is null without one. kInvalid names the flag or the field.
Result<Settings> MakeSettings(const container::FlagValues& flags, const GetEnv& env, const PluginSettings* file);

/// The flags, for --help.
std::string Help();

}  // namespace gpuop::operands::device_plugin
