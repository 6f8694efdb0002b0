#pragma once

#include <vector>

#include "gpu/inventory.h"

namespace gpuop::gpu {

/// A compute instance that the driver has made a device of.
struct MigDevice {
  const GpuInstance* instance;
  const ComputeInstance* compute;
};

/// A GPU's MIG devices in the order of their index. Views into `device`.
std::vector<MigDevice> MigDevicesOf(const Device& device);

}  // namespace gpuop::gpu
