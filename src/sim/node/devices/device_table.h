#pragma once
// What the kubelet knows of devices: who offers which, and which Pod has which. Pure state; the device manager's calls
// go on around it. Facts of kubelet 1.36, pkg/kubelet/cm/devicemanager.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/json.h"

namespace gpuop::sim::node {

struct DeviceInfo {
  bool healthy = false;
  std::vector<std::int64_t> numa;  ///< empty: no topology
};

/// What one container got of one resource.
struct DeviceGrant {
  std::string pod, container, resource;  ///< pod: its uid
  std::vector<std::string> ids;
  std::string response;  ///< the plugin's ContainerAllocateResponse, as bytes
};

/// Amounts as the Node shows them.
struct DeviceAmounts {
  std::int64_t capacity = 0, allocatable = 0;
  bool operator==(const DeviceAmounts&) const = default;
};

/// Not thread-safe.
class DeviceTable {
 public:
  /// A plugin registered: the resource is there, with no devices until it lists them.
  void AddResource(const std::string& resource);
  /// What a plugin listed.
  void SetDevices(const std::string& resource, std::map<std::string, DeviceInfo> devices);
  /// Its plugin is gone: none of its devices is healthy.
  void MarkUnhealthy(const std::string& resource);
  /// The kubelet gives up waiting for a plugin.
  void RemoveResource(const std::string& resource);
  bool Has(const std::string& resource) const { return resources_.contains(resource); }
  std::map<std::string, DeviceAmounts> Amounts() const;
  const std::map<std::string, DeviceInfo>* Devices(const std::string& resource) const;

  /// What of a resource a container can still be given. Empty `have`: all was allocated before. Errors are the
  /// kubelet's, to stand in "Allocate failed due to …, which is unexpected".
  struct Choice {
    std::vector<std::string> available;
    std::size_t needed = 0;
  };
  Result<Choice> Choose(const std::string& pod, const std::string& container, const std::string& resource,
                        std::size_t required) const;
  void Grant(DeviceGrant grant);
  const std::vector<DeviceGrant>& grants() const { return grants_; }
  /// Takes back what pods have that are not in `active`.
  void Keep(const std::set<std::string>& active);

  /// The file kubelet_internal_checkpoint. After reading one, resources are there without a single device.
  std::string ToCheckpoint() const;
  Result<> ReadCheckpoint(std::string_view text);

 private:
  std::map<std::string, std::map<std::string, DeviceInfo>> resources_;
  std::vector<DeviceGrant> grants_;
};

/// `needed` of `available`, those in `preferred` first, otherwise in the order of their names.
std::vector<std::string> PickDevices(const std::vector<std::string>& available,
                                     const std::vector<std::string>& preferred, std::size_t needed);

}  // namespace gpuop::sim::node
