#include "cli/ctk/facts.h"

#include "gpu/mig_devices.h"

namespace gpuop::cli {

container::MachineFacts FactsOf(const gpu::Inventory& inventory) {
  container::MachineFacts out{.driver_version = inventory.driver_version};
  for (const gpu::Device& device : inventory.devices) {
    if (!device.unreadable.empty() || !device.minor) continue;
    container::GpuFacts gpu{.index = device.index,
                            .minor = *device.minor,
                            .uuid = device.uuid,
                            .pci = device.pci.Sysfs(),
                            .mig_enabled = device.mig.enabled,
                            .coherent = device.addressing == gpu::Addressing::kAts};
    for (const gpu::MigDevice& mig : gpu::MigDevicesOf(device))
      gpu.mig_devices.push_back({.index = *mig.compute->mig_index,
                                 .uuid = mig.compute->uuid,
                                 .gpu_instance = mig.instance->id,
                                 .compute_instance = mig.compute->id,
                                 .graphics = mig.instance->profile.contains("+gfx")});
    out.gpus.push_back(std::move(gpu));
  }
  return out;
}

}  // namespace gpuop::cli
