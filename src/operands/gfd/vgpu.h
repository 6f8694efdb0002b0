#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpuop::operands::gfd {

/// What a virtual GPU's PCI configuration space says of the machine that serves it.
struct VgpuHost {
  std::string driver_version, driver_branch;
  bool operator==(const VgpuHost&) const = default;
};

/// Reads a PCI configuration space; nullopt unless it belongs to a virtual GPU. Its vendor capability (id 9) then holds
/// "VF" and records, of which the first has driver version and branch in ten bytes each. Any bytes are safe.
std::optional<VgpuHost> ParseVgpu(std::string_view config_space);

}  // namespace gpuop::operands::gfd
