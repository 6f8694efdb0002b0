#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace gpuop::sim {

/// What `gpu-operator sim` was asked for.
struct SimOptions {
  /// Hollow nodes, plain ones; `pools` may describe others.
  int nodes = 0;
  /// A file of HollowPools (kubelet/hollow_node.h); empty: none.
  std::string pools_file;
  /// Simulated machines: ready-made kinds or files, with a node's name before a "=" if wished.
  std::vector<std::string> machines;
  /// The images that they can pull (node/image/registry.h); empty: those that are always there.
  std::string images_file;
  /// Where their files are kept; empty: nowhere.
  std::string machines_folder;
  /// A kubeconfig: run the hollow nodes against its API server instead of an embedded one; empty: do not.
  std::string join;
  /// No controllers, no scheduler, no nodes.
  bool api_only = false;
  /// 0: the system chooses.
  int port = 0;
  /// Empty: the state is in memory alone.
  std::string state_file;
  bool tls = false;
  /// Where the kubeconfig goes; empty: ./gpu-operator-sim.kubeconfig.
  std::string kubeconfig;
  /// 0: from the system.
  std::uint64_t seed = 0;
  bool help = false;
};

/// Reads `--name value`, `--name=value` and flags; kInvalid names the argument that is wrong.
Result<SimOptions> ParseSimOptions(std::span<char* const> args);
std::string SimHelp();

}  // namespace gpuop::sim
