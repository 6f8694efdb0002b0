#include "machine/nvml/names.h"

#include <cstdio>
#include <cstring>

namespace gpuop::machine::nvml {

void UuidBytes(std::string_view text, unsigned char* bytes) {
  std::memset(bytes, 0, 16);
  int digits = 0;
  for (const char c : text) {
    const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (value < 0 || digits == 32) continue;
    bytes[digits / 2] = static_cast<unsigned char>(bytes[digits / 2] << 4 | value);
    ++digits;
  }
}

gpu::nvml::PciInfo PciInfoOf(const layout::DeviceFacts& facts) {
  gpu::nvml::PciInfo out{};
  std::snprintf(out.busIdLegacy, sizeof out.busIdLegacy, "%04X:%02X:%02X.0", facts.pci_domain & 0xffff,
                facts.pci_bus & 0xff, facts.pci_device & 0xff);
  std::snprintf(out.busId, sizeof out.busId, "%08X:%02X:%02X.0", facts.pci_domain, facts.pci_bus, facts.pci_device);
  out.domain = facts.pci_domain;
  out.bus = facts.pci_bus;
  out.device = facts.pci_device;
  out.pciDeviceId = facts.pci_id;
  out.pciSubSystemId = facts.pci_subsystem;
  return out;
}

}  // namespace gpuop::machine::nvml
