#include "gpu/mig_devices.h"

#include <algorithm>

namespace gpuop::gpu {

std::vector<MigDevice> MigDevicesOf(const Device& device) {
  std::vector<MigDevice> out;
  for (const GpuInstance& instance : device.mig.instances)
    for (const ComputeInstance& compute : instance.compute_instances)
      if (compute.mig_index) out.push_back({&instance, &compute});
  std::ranges::sort(out, {}, [](const MigDevice& mig) { return *mig.compute->mig_index; });
  return out;
}

}  // namespace gpuop::gpu
