#include "gpu/inventory.h"

#include <fmt/core.h>

#include <algorithm>

namespace gpuop::gpu {
namespace {

/// By what a device is known from one snapshot to the next: its place for one whose UUID cannot be read.
std::string KeyOf(const Device& device) { return device.uuid.empty() ? device.pci.Sysfs() : device.uuid; }

const Device* FindSame(const Inventory& in, const Device& device) {
  for (const Device& other : in.devices)
    if (!device.uuid.empty() && other.uuid == device.uuid) return &other;
  for (const Device& other : in.devices)
    if ((device.uuid.empty() || other.uuid.empty()) && other.pci == device.pci) return &other;
  return nullptr;
}

void DiffDevice(const Device& before, const Device& after, std::vector<InventoryChange>& out) {
  using What = InventoryChange::What;
  const auto add = [&](What what) { out.push_back({what, KeyOf(after)}); };
  const bool was_lost = !before.unreadable.empty(), is_lost = !after.unreadable.empty();
  if (was_lost != is_lost) add(is_lost ? What::kLost : What::kRecovered);
  if (was_lost || is_lost) return;  // the rest of it was not read then, or is not now
  if (before.mig.capable != after.mig.capable || before.mig.enabled != after.mig.enabled ||
      before.mig.pending != after.mig.pending)
    add(What::kMigMode);
  if (before.mig.instances != after.mig.instances) add(What::kMigDevices);
  if (before.links != after.links) add(What::kLinks);
  if (before.fabric != after.fabric) add(What::kFabric);
  Device rest = before;
  rest.mig = after.mig;
  rest.links = after.links;
  rest.fabric = after.fabric;
  if (rest != after) add(What::kOther);
}

}  // namespace

std::string PciLocation::Sysfs() const { return fmt::format("{:04x}:{:02x}:{:02x}.0", domain, bus, device); }
std::string PciLocation::Nvml() const { return fmt::format("{:08X}:{:02X}:{:02X}.0", domain, bus, device); }

const Closeness* Inventory::Between(unsigned i, unsigned j) const {
  const std::size_t n = devices.size();
  return i < n && j < n && closeness.size() == n * n ? &closeness[i * n + j] : nullptr;
}

const Device* Inventory::FindDevice(std::string_view uuid) const {
  const auto it = std::ranges::find(devices, uuid, &Device::uuid);
  return it == devices.end() ? nullptr : &*it;
}

std::vector<InventoryChange> Diff(const Inventory& before, const Inventory& after) {
  std::vector<InventoryChange> out;
  if (before.driver_version != after.driver_version || before.cuda_version != after.cuda_version ||
      before.confidential != after.confidential)
    out.push_back({InventoryChange::What::kDriver, {}});
  for (const Device& device : after.devices) {
    const Device* const old = FindSame(before, device);
    if (old == nullptr)
      out.push_back({InventoryChange::What::kAdded, KeyOf(device)});
    else
      DiffDevice(*old, device, out);
  }
  for (const Device& device : before.devices)
    if (FindSame(after, device) == nullptr) out.push_back({InventoryChange::What::kRemoved, KeyOf(device)});
  return out;
}

std::string_view FamilyName(unsigned major, unsigned minor) {
  switch (major) {
    case 1: return "tesla";
    case 2: return "fermi";
    case 3: return "kepler";
    case 5: return "maxwell";
    case 6: return "pascal";
    case 7: return minor < 5 ? "volta" : "turing";
    case 8: return minor < 9 ? "ampere" : "ada-lovelace";
    case 9: return "hopper";
    case 10:
    case 12: return "blackwell";
    case 13: return "rubin";
    default: return "undefined";
  }
}

}  // namespace gpuop::gpu
