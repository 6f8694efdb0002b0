#include <fmt/core.h>

#include "cli/nvidia_smi/parts.h"

namespace gpuop::cli::nvidia_smi {
namespace {

/// "1g.5gb" of the MIG device's own name, "NVIDIA A100-SXM4-40GB MIG 1g.5gb".
std::string MigName(const gpu::Nvml& nvml, gpu::nvml::Device mig) {
  const auto name = nvml.GetText(&F::DeviceGetName, mig);
  if (!name) return "N/A";
  const std::size_t at = name->rfind(" MIG ");
  return at == std::string::npos ? *name : name->substr(at + 5);
}

}  // namespace

Outcome List(const std::vector<Gpu>& gpus) {
  Outcome out;
  for (const Gpu& gpu : gpus) {
    out.text += fmt::format("GPU {}: {} (UUID: {})\n", gpu.index, OrNa(gpu.Text(&F::DeviceGetName)),
                            OrNa(gpu.Text(&F::DeviceGetUUID)));
    if (!gpu.MigEnabled()) continue;
    unsigned number = 0;
    for (const gpu::nvml::Device mig : OrNone(gpu.nvml->MigDevices(gpu.handle)))
      out.text += fmt::format("  MIG {:<11} Device {:>2}: (UUID: {})\n", MigName(*gpu.nvml, mig), number++,
                              OrNa(gpu.nvml->GetText(&F::DeviceGetUUID, mig)));
  }
  return out;
}

}  // namespace gpuop::cli::nvidia_smi
