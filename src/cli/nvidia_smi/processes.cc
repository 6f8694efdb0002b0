#include <algorithm>
#include <map>

#include "cli/nvidia_smi/parts.h"

namespace gpuop::cli::nvidia_smi {
namespace {

std::optional<unsigned> Id(unsigned id) {
  return id == gpu::nvml::kGpuInstanceIdAny ? std::nullopt : std::optional(id);
}

}  // namespace

std::vector<Process> ProcessesOn(const Gpu& gpu) {
  using Kind = gpu::Nvml::ProcessKind;
  std::map<std::pair<unsigned, unsigned>, Process> found;
  for (const auto& [kind, letter] :
       {std::pair(Kind::kCompute, "C"), std::pair(Kind::kGraphics, "G"), std::pair(Kind::kMps, "M+C")}) {
    const auto infos = gpu.nvml->Processes(gpu.handle, kind);
    if (!infos) continue;
    for (const gpu::nvml::ProcessInfo& info : *infos) {
      Process& process = found[{info.pid, info.gpuInstanceId}];
      process.pid = info.pid;
      process.type = process.type.empty() ? letter : process.type + "+" + letter;
      process.gpu_instance = Id(info.gpuInstanceId);
      process.compute_instance = Id(info.computeInstanceId);
      if (info.usedGpuMemory != ~0ULL) process.bytes = info.usedGpuMemory;
    }
  }
  std::vector<Process> out;
  for (auto& [key, process] : found) {
    process.name = gpu.nvml->GetText(&F::SystemGetProcessName, process.pid).value_or("[Not Found]");
    out.push_back(std::move(process));
  }
  return out;
}

}  // namespace gpuop::cli::nvidia_smi
