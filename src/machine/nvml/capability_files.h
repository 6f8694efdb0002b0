#pragma once
// The files that appear with an instance: its capability node under /dev/nvidia-caps (which on a real machine
// nvidia-modprobe makes for the library) and its folder under /proc/driver/nvidia/capabilities.

#include <cstdint>

#include "machine/state/layout.h"

namespace gpuop::machine::nvml {

/// Of a GPU instance, or of one of its compute instances. Where this process cannot write there is nothing to do: the
/// machine's own view is written by whoever may.
void MakeCapability(const layout::DeviceFacts& facts, std::uint32_t gpu_instance, std::uint32_t compute_instance);
void RemoveCapability(const layout::DeviceFacts& facts, std::uint32_t gpu_instance, std::uint32_t compute_instance);
/// Of every instance of a device.
void RemoveCapabilities(const layout::DeviceFacts& facts);

}  // namespace gpuop::machine::nvml
