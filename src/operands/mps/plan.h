#pragma once
// Which MPS daemons a node needs, and what each is told. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/inventory.h"
#include "operands/plugin_settings.h"

namespace gpuop::operands::mps {

/// A GPU that a daemon serves.
struct SharedGpu {
  std::string uuid;
  unsigned index = 0;
  std::uint64_t memory_mib = 0;
  bool operator==(const SharedGpu&) const = default;
};

/// One daemon, of one resource.
struct DaemonPlan {
  /// As the plugin offers it: "nvidia.com/gpu", or "nvidia.com/gpu.shared" when it is renamed.
  std::string resource;
  std::int64_t replicas = 0;
  std::vector<SharedGpu> gpus;
  /// ROOT/RESOURCE/pipe and …/log.
  std::string pipe_folder, log_folder;
  bool operator==(const DaemonPlan&) const = default;

  /// The variables that the daemon and its clients find each other by.
  std::map<std::string, std::string> Variables() const;
  /// Each client's share of a GPU's threads.
  std::int64_t ThreadPercentage() const { return 100 / replicas; }
  /// What is written to its standard input once it runs: each client's share of memory (where the GPU has a memory of
  /// its own) and of threads.
  std::string Commands() const;
};

/// How many clients MPS serves on one GPU: 48 from Volta (7.0) on, 16 before (CUDA MPS documentation, "Volta MPS").
std::int64_t MostClients(unsigned compute_major);

/// The daemons for a node; none when the settings do not share by MPS. kInvalid when MPS cannot serve what they ask
/// for: MIG in use, a resource other than nvidia.com/gpu, more replicas than a GPU serves. GPUs that cannot be read are
/// left out.
Result<std::vector<DaemonPlan>> PlanDaemons(const gpu::Inventory& inventory, const PluginSettings& settings,
                                            std::string_view mig_strategy, const std::string& root);

/// The mount options of the shared memory: half of what the node has ("MemTotal:  16384 kB"), 64 MiB when that cannot
/// be read.
std::string ShmOptions(std::string_view meminfo);

}  // namespace gpuop::operands::mps
