#include "operands/gfd/host.h"

#include "base/text.h"
#include "os/pci.h"

namespace gpuop::operands::gfd {
namespace {

constexpr std::uint16_t kNvidia = 0x10de;

bool IsGpu(const os::PciDevice& device) {
  const std::uint32_t kind = device.class_code >> 8U;
  return device.vendor == kNvidia && (kind == 0x0302 || kind == 0x0300);
}

}  // namespace

HostFacts ReadHost(const os::Fs& fs, const std::string& machine_type_file) {
  HostFacts out;
  if (const auto text = fs.Read(machine_type_file)) out.machine_type = std::string(Split(*text, '\n').front());
  const auto devices = os::ReadPciDevices(fs);
  if (!devices) return out;
  for (const os::PciDevice& device : *devices) {
    if (IsGpu(device)) out.gpu_classes.push_back(device.class_code);
    if (device.vendor != kNvidia || out.vgpu) continue;
    if (const auto space = fs.Read("/sys/bus/pci/devices/" + device.address + "/config")) out.vgpu = ParseVgpu(*space);
  }
  return out;
}

}  // namespace gpuop::operands::gfd
