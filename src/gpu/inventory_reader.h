#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gpu/inventory.h"
#include "gpu/inventory_device.h"
#include "gpu/nvml.h"
#include "os/fs.h"

namespace gpuop::gpu {

/// Reads inventories of one machine. What cannot change while a driver is loaded (identity, profiles of a model, NUMA
/// nodes, PCI topology) is asked for once. Not thread-safe.
class InventoryReader {
 public:
  /// `host`, the machine's own tree of files, tells the NUMA node of each GPU; null leaves it out.
  explicit InventoryReader(const Nvml& nvml, const os::Fs* host = nullptr) : nvml_(nvml), host_(host) {}

  /// What a pass asks for. How GPUs are connected (NVLinks, fabric, closeness) takes most of the calls to NVML.
  enum class Extent { kAll, kWithoutConnections };
  /// One pass over all GPUs. A GPU that fails is in the answer with its reason; an error means that NVML does not even
  /// say which GPUs there are.
  Result<Inventory> Read(Extent extent = Extent::kAll);

 private:
  /// A kind of GPU instance as this device offers it.
  struct Profile {
    unsigned id = 0;
    std::string name;
    unsigned slices = 0;
    std::uint64_t memory_mib = 0;
  };
  struct Constants {
    std::optional<Identity> identity;
    std::vector<NvLink> links;
    std::optional<int> numa_node;
    std::vector<Profile> profiles;
    bool profiles_read = false;
  };

  Device ReadDevice(unsigned index, const Nvml::Handle& handle, Extent extent);
  void ReadCloseness(const std::vector<Nvml::Handle>& handles, Inventory& inventory);
  void ReadMig(nvml::Device handle, Device& device, Constants& constants);
  void ReadGpuInstances(nvml::Device handle, Device& device, const Constants& constants);
  void ReadMigDevices(nvml::Device handle, Device& device);
  void ReadProfiles(nvml::Device handle, const Device& device, Constants& constants) const;
  std::optional<int> ReadNumaNode(const Device& device) const;
  Closeness::Path ReadPath(const Device& a, nvml::Device handle_a, const Device& b, nvml::Device handle_b);

  const Nvml& nvml_;
  const os::Fs* const host_;
  std::map<std::string, Constants, std::less<>> constants_;  // by UUID
  std::map<std::pair<std::string, std::string>, Closeness::Path> paths_;
};

}  // namespace gpuop::gpu
