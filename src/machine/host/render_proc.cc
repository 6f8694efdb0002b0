#include <fmt/core.h>

#include "machine/host/render.h"
#include "machine/state/nodes.h"

namespace gpuop::machine {
namespace {

std::string Capability(std::uint32_t minor, bool everybody) {
  return fmt::format("DeviceFileMinor: {}\nDeviceFileMode: {}\nDeviceFileModify: 1\n", minor, everybody ? 292 : 256);
}

std::string VersionFile(const Spec& spec, const layout::Machine& machine) {
  const std::string_view arch = KernelName(spec.host.architecture);
  const std::string build = "Release Build  (buildd@machine)  Tue Apr  8 12:41:17 UTC 2025\n";
  const std::string head =
      machine.open_kernel_module != 0
          ? fmt::format("NVRM version: NVIDIA UNIX Open Kernel Module for {}  {}  ", arch, LoadedVersion(spec, machine))
          : fmt::format("NVRM version: NVIDIA UNIX {} Kernel Module  {}  ", arch, LoadedVersion(spec, machine));
  return head + build + "GCC version:  gcc version 11.4.0\n";
}

std::string Information(const layout::Machine& machine, const layout::Device& device) {
  const layout::DeviceFacts& facts = device.facts;
  return fmt::format(
      "Model: \t\t {}\nIRQ:   \t\t {}\nGPU UUID: \t {}\nVideo BIOS: \t {}\nBus Type: \t PCIe\nDMA Size: \t 47 bits\n"
      "DMA Mask: \t 0x7fffffffffff\nBus Location: \t {}\nDevice Minor: \t {}\nGPU Firmware: \t {}\nGPU Excluded:\t "
      "No\n",
      facts.name.view(), 96 + facts.minor, facts.uuid.view(), facts.vbios.view(), AddressOf(facts), facts.minor,
      facts.gsp_firmware != 0 ? machine.driver_version.view() : std::string_view("N/A"));
}

std::string MigMinors(const layout::Machine& machine) {
  std::string out = fmt::format("config {}\nmonitor {}\n", kMigConfigMinor, kMigMonitorMinor);
  for (std::uint32_t d = 0; d < machine.device_count; ++d)
    for (std::uint32_t g = 0; g < layout::kMaxGpuInstances; ++g) {
      out += fmt::format("gpu{}/gi{}/access {}\n", d, g, GpuInstanceMinor(d, g));
      for (std::uint32_t c = 0; c < layout::kMaxComputeInstances; ++c)
        out += fmt::format("gpu{}/gi{}/ci{}/access {}\n", d, g, c, ComputeInstanceMinor(d, g, c));
    }
  return out;
}

void Instances(const layout::Device& device, Tree& tree) {
  const std::uint32_t minor = device.facts.minor;
  const std::string mig = fmt::format("/proc/driver/nvidia/capabilities/gpu{}/mig", minor);
  tree.Folder(mig);
  for (std::uint32_t g = 0; g < layout::kMaxGpuInstances; ++g) {
    const layout::GpuInstance& instance = device.instances[g];
    if (instance.in_use == 0) continue;
    tree.File(fmt::format("{}/gi{}/access", mig, g), Capability(GpuInstanceMinor(minor, g), true), 0444);
    for (std::uint32_t c = 0; c < layout::kMaxComputeInstances; ++c)
      if (instance.compute[c].in_use != 0)
        tree.File(fmt::format("{}/gi{}/ci{}/access", mig, g, c), Capability(ComputeInstanceMinor(minor, g, c), true),
                  0444);
  }
}

std::string Modules(const Spec& spec, bool loaded) {
  std::string out = "overlay 151552 12 - Live 0x0000000000000000\nbr_netfilter 32768 0 - Live 0x0000000000000000\n";
  if (!loaded) return out;
  const std::string taint = spec.driver.kernel_module == KernelModule::kOpen ? " (OE)" : " (POE)";
  return "nvidia_uvm 4943872 0 - Live 0x0000000000000000" + taint + "\nnvidia_drm 122880 0 - Live 0x0000000000000000" +
         taint + "\nnvidia_modeset 1355776 1 nvidia_drm, Live 0x0000000000000000" + taint +
         "\nnvidia 54018048 2 nvidia_uvm,nvidia_modeset, Live 0x0000000000000000" + taint + "\n" + out;
}

}  // namespace

void RenderProc(const Spec& spec, const layout::Machine& machine, Tree& tree) {
  const bool loaded = DriverLoaded(spec, machine);
  std::string devices = "Character devices:\n  1 mem\n  4 tty\n  5 /dev/tty\n 10 misc\n";
  if (loaded)
    devices +=
        "195 nvidia\n195 nvidiactl\n234 nvidia-nvswitch\n235 nvidia-nvlink\n236 nvidia-caps\n237 "
        "nvidia-caps-imex-channels\n510 nvidia-uvm\n";
  tree.File("/proc/devices", devices + "\nBlock devices:\n  7 loop\n259 blkext\n", 0444);
  tree.File("/proc/modules", Modules(spec, loaded), 0444);
  tree.File("/proc/version", fmt::format("Linux version {} (buildd@machine) (gcc 11.4.0) #1 SMP\n", spec.host.kernel),
            0444);
  tree.Folder("/proc/driver");
  if (!loaded) return;
  tree.File("/proc/driver/nvidia/version", VersionFile(spec, machine), 0444);
  tree.File("/proc/driver/nvidia/params",
            "ResmanDebugLevel: 4294967295\nModifyDeviceFiles: 1\nDeviceFileUID: 0\nDeviceFileGID: 0\nDeviceFileMode: "
            "438\nEnableMSI: 1\n",
            0444);
  tree.File("/proc/driver/nvidia/capabilities/mig/config", Capability(kMigConfigMinor, false), 0444);
  tree.File("/proc/driver/nvidia/capabilities/mig/monitor", Capability(kMigMonitorMinor, true), 0444);
  tree.File("/proc/driver/nvidia/capabilities/fabric-mgmt", Capability(0, false), 0444);
  tree.File("/proc/driver/nvidia-caps/mig-minors", MigMinors(machine), 0444);
  for (std::uint32_t i = 0; i < machine.device_count; ++i) {
    tree.File("/proc/driver/nvidia/gpus/" + AddressOf(machine.devices[i].facts) + "/information",
              Information(machine, machine.devices[i]), 0444);
    if (!machine.devices[i].facts.mig_model.empty()) Instances(machine.devices[i], tree);
  }
}

}  // namespace gpuop::machine
