#pragma once

#include <string>
#include <string_view>

#include "gpu/nvml_abi.h"
#include "machine/state/layout.h"

namespace gpuop::machine::nvml {

/// The 16 bytes of a UUID text; zeros when it is none.
void UuidBytes(std::string_view text, unsigned char* bytes);

/// Addresses, ids and bus names of a device.
gpu::nvml::PciInfo PciInfoOf(const layout::DeviceFacts& facts);

}  // namespace gpuop::machine::nvml
