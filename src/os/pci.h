#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fs.h"

namespace gpuop::os {

/// A PCI function as sysfs shows it (Documentation/ABI/testing/sysfs-bus-pci).
struct PciDevice {
  /// "0000:3b:00.0".
  std::string address;
  std::uint16_t vendor = 0, device = 0;
  std::uint16_t subsystem_vendor = 0, subsystem_device = 0;
  /// Base class, sub-class and programming interface: 0x030200 is a 3D controller.
  std::uint32_t class_code = 0;
  std::uint8_t revision = 0;
  /// Absent on machines with a single node.
  std::optional<int> numa_node = std::nullopt;
  /// The driver that is bound to it, or empty.
  std::string driver = {};
  /// Absent without an IOMMU.
  std::optional<int> iommu_group = std::nullopt;

  bool operator==(const PciDevice&) const = default;
};

/// Every device below /sys/bus/pci/devices of `fs`, by address. A device that has no readable vendor, device or class
/// (it is going away) is passed over; other missing or odd files leave their field as it is above. A machine without
/// PCI has no devices.
Result<std::vector<PciDevice>> ReadPciDevices(const Fs& fs);

}  // namespace gpuop::os
