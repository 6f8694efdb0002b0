#pragma once
// The driver's Pods as one description, whichever resource asks for them (controller.md §2.5, §4.2).

#include <optional>
#include <string>
#include <vector>

#include "api/cluster_policy.h"
#include "api/nvidia_driver.h"
#include "operands/draft.h"
#include "operands/facts.h"

namespace gpuop::operands::driver {

/// GPUDirect Storage or GDRCopy beside the driver.
struct SidecarSettings {
  std::string image, pull_policy;
  std::vector<std::string> args;
  std::vector<EnvVar> env;
};

/// Everything that a driver Pod depends on, resolved.
struct Settings {
  /// "spec.driver" or "spec", for errors.
  std::string field;
  /// gpu, vgpu or vgpu-host-manager.
  std::string type = "gpu";
  std::string kernel_module_type = {};
  bool precompiled = false;

  std::string image = {}, pull_policy = {};
  std::vector<std::string> pull_secrets = {}, args = {};
  std::vector<EnvVar> env = {};
  Resources resources = {};
  std::string secret_env = {};
  std::optional<bool> host_network = {};

  api::DriverManager manager = {};
  std::optional<api::ProbeTimes> startup = {}, liveness = {}, readiness = {};
  bool rdma = false, host_mofed = false;
  std::optional<SidecarSettings> gds = {}, gdrcopy = {};

  std::string repo_config = {}, cert_config = {}, kernel_module_config = {}, virtual_topology = {};
  std::string licensing_config_map = {}, licensing_secret = {};
  bool nls = false;

  /// What the nodes are. The Driver Toolkit is used where `rhcos_version` is set.
  std::string os_id = {}, os_version = {}, runtime = {}, rhcos_version = {};
  Paths paths = {};
  /// The operator's image, for the launcher.
  api::ImageSource launcher = {};

  /// An NVIDIADriver's Pods have NVIDIA_VISIBLE_DEVICES=void in the driver container.
  bool own_resource = false;

  bool UsesDriverToolkit() const { return !rhcos_version.empty(); }
};

/// Of a ClusterPolicy, for nodes of one group. `image` is resolved for the group's OS, and kernel if precompiled.
Result<Settings> SettingsOf(const api::ClusterPolicySpec& policy, const Facts& facts, const NodeGroup& group);
/// Of an NVIDIADriver, for one of its pools.
Result<Settings> SettingsOf(const api::NvidiaDriverSpec& driver, const Facts& facts, const NodeGroup& group,
                            const std::string& host_root);

}  // namespace gpuop::operands::driver
