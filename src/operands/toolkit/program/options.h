#pragma once

#include <functional>
#include <string>
#include <vector>

#include "container/engine/config.h"
#include "container/engine/plan.h"

namespace gpuop::operands::toolkit {

/// What `nvidia-ctk-installer` 1.20 is told by flags and variables.
struct Options {
  bool no_daemon = false, no_runtime_config = false, nri = false, ignore_errors = false;
  std::string pid_file;
  /// With `nri`: the engine's socket, our place among its plugins, the namespace of this toolkit, and further ones
  /// whose Pods may have management devices.
  std::string nri_socket, nri_index, nri_namespace;
  std::vector<std::string> nri_management_namespaces;
  /// The Node that is told what happens here; empty outside of a Pod of ours.
  std::string node;
  /// This program, for what it asks of itself in a process of its own.
  std::string self;
  /// The flags as they were given.
  std::vector<std::string> arguments;

  /// Files go to `install_dir`/toolkit, copied from `source`.
  std::string install_dir, source;
  std::string driver_root, driver_root_ctr, dev_root, dev_root_ctr;
  bool cdi = false;
  std::string cdi_output_dir, cdi_vendor, cdi_class;
  bool create_control_nodes = false;

  /// Written to the runtime's configuration when set.
  std::string runtime_debug, runtime_log_level, runtime_mode, default_kind, cli_debug;
  std::vector<std::string> annotation_prefixes, low_level_runtimes, features;
  bool accept_env = true, accept_mounts = false, skip_mode_detection = true;

  container::EngineKind engine = container::EngineKind::kDocker;
  container::EngineFiles files;
  std::string socket, restart_mode, host_root;
  bool restart_mode_given = false;
  /// What systemd restarts.
  std::string unit;
  /// The root below which `files` are written, and the one below which they can be watched.
  std::string engine_root = "/", watch_root;
  container::EngineWish wish;
  /// CRI-O: the OCI hook file of NVIDIA's toolkit, and whether it was asked for instead of runtimes.
  std::string crio_hook_file;
  bool crio_by_hook = false;
};

/// kInvalid names the flag or variable.
Result<Options> ReadOptions(const std::vector<std::string>& arguments,
                            const std::function<const char*(const char*)>& variable);
/// The flags with their variables and defaults, for people.
std::string OptionsHelp();

}  // namespace gpuop::operands::toolkit
