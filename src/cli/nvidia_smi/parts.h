#pragma once
// What each command of nvidia-smi does.

#include <string>

#include "cli/nvidia_smi/arguments.h"
#include "cli/nvidia_smi/command.h"
#include "cli/nvidia_smi/gpu.h"

namespace gpuop::cli::nvidia_smi {

/// No arguments: the table.
Outcome Summary(const gpu::Nvml& nvml, const std::vector<Gpu>& gpus, const std::string& now);
/// -L
Outcome List(const std::vector<Gpu>& gpus);
/// -q
Outcome Report(const gpu::Nvml& nvml, const Arguments& arguments, const std::vector<Gpu>& gpus, std::size_t attached,
               const std::string& now);
/// --query-gpu and --query-compute-apps
Outcome QueryGpus(const Arguments& arguments, const std::vector<Gpu>& gpus, std::size_t attached,
                  const std::string& now);
Outcome QueryApps(const Arguments& arguments, const std::vector<Gpu>& gpus, const std::string& now);
/// topo -m and nvlink -s
Outcome Topology(const std::vector<Gpu>& gpus);
Outcome LinkStatus(const std::vector<Gpu>& gpus);
/// mig …
Outcome MigList(const Arguments& arguments, const std::vector<Gpu>& gpus);
Outcome MigCreate(const Arguments& arguments, const std::vector<Gpu>& gpus);
Outcome MigDestroy(const Arguments& arguments, const std::vector<Gpu>& gpus);
/// -mig, -pm, -c and -r
Outcome SetMig(const Arguments& arguments, const std::vector<Gpu>& gpus);
Outcome SetPersistence(const Arguments& arguments, const std::vector<Gpu>& gpus);
Outcome SetComputeMode(const Arguments& arguments, const std::vector<Gpu>& gpus);
Outcome Reset(const std::vector<Gpu>& gpus);

/// A program on a GPU.
struct Process {
  unsigned pid = 0;
  /// "C", "G", "C+G" or "M+C".
  std::string type;
  std::string name;
  std::optional<unsigned> gpu_instance, compute_instance;
  std::optional<unsigned long long> bytes;
};
/// By pid.
std::vector<Process> ProcessesOn(const Gpu& gpu);

}  // namespace gpuop::cli::nvidia_smi
