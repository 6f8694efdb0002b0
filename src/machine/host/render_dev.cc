#include <fmt/core.h>

#include "machine/host/render.h"
#include "machine/state/nodes.h"

namespace gpuop::machine {
namespace {

void Instances(const layout::Device& device, Tree& tree) {
  const std::uint32_t minor = device.facts.minor;
  const auto node = [&](std::uint32_t n) { tree.File(fmt::format("/dev/nvidia-caps/nvidia-cap{}", n), "", 0444); };
  for (std::uint32_t g = 0; g < layout::kMaxGpuInstances; ++g) {
    if (device.instances[g].in_use == 0) continue;
    node(GpuInstanceMinor(minor, g));
    for (std::uint32_t c = 0; c < layout::kMaxComputeInstances; ++c)
      if (device.instances[g].compute[c].in_use != 0) node(ComputeInstanceMinor(minor, g, c));
  }
}

}  // namespace

void RenderDev(const Spec& spec, const layout::Machine& machine, const DriverFiles& files, Tree& tree) {
  tree.Folder("/dev");
  tree.Folder("/dev/char");
  if (!DriverLoaded(spec, machine)) return;
  tree.SameAs("/dev/nvidiactl", files.state, 0666);
  // Engines that make device nodes of their own leave this path as the way to the state.
  tree.SameAs("/run/nvidia-persistenced/socket", files.state, 0666);
  tree.File("/dev/nvidia-modeset", "", 0666);
  if ((machine.faults & layout::kFaultUvmMissing) == 0) {
    tree.File("/dev/nvidia-uvm", "", 0666);
    tree.File("/dev/nvidia-uvm-tools", "", 0666);
  }
  tree.File(fmt::format("/dev/nvidia-caps/nvidia-cap{}", kMigConfigMinor), "", 0400);
  tree.File(fmt::format("/dev/nvidia-caps/nvidia-cap{}", kMigMonitorMinor), "", 0444);
  for (std::uint32_t i = 0; i < machine.device_count; ++i) {
    const layout::Device& device = machine.devices[i];
    if ((device.faults & layout::kFaultNodeMissing) == 0)
      tree.File(fmt::format("/dev/nvidia{}", device.facts.minor), "", 0666);
    if (!device.facts.mig_model.empty()) Instances(device, tree);
    if (!device.facts.fabric_cluster.empty()) tree.File("/dev/nvidia-caps-imex-channels/channel0", "", 0666);
  }
  if (spec.driver.fabric_manager) {
    tree.File("/dev/nvidia-nvswitchctl", "", 0666);
    tree.File("/run/nvidia-fabricmanager/socket", "", 0666);
  }
}

}  // namespace gpuop::machine
