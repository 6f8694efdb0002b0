#include "operands/mps/compute_modes.h"

namespace gpuop::operands::mps {

Result<> NvmlComputeModes::SetExclusive(const std::string& uuid, bool exclusive) {
  using F = gpu::nvml::Functions;
  const auto set = [&]() -> Result<> {
    ASSIGN(const auto nvml, open_());
    ASSIGN(gpu::nvml::Device device, nvml->Get(&F::DeviceGetHandleByUUID, uuid.c_str()));
    const auto wanted = exclusive ? gpu::nvml::ComputeMode::kExclusiveProcess : gpu::nvml::ComputeMode::kDefault;
    if (const auto now = nvml->Get(&F::DeviceGetComputeMode, device); now && *now == wanted) return {};
    return nvml->Call(&F::DeviceSetComputeMode, device, wanted);
  };
  auto done = set();
  if (!done) return std::unexpected(std::move(done).error().During("compute mode of " + uuid));
  return done;
}

}  // namespace gpuop::operands::mps
