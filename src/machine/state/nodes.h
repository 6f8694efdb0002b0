#pragma once
// Which of the machine's device nodes this process has: they decide what a driver library shows.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "machine/state/clients.h"
#include "machine/state/state.h"

namespace gpuop::machine {

/// The nodes below one /dev. A node that is there but may not be opened (a container's device rules, permissions)
/// counts as missing; a character device without a driver behind it counts as present. Immutable.
class Nodes {
 public:
  /// `folder` is what stands for /dev.
  explicit Nodes(std::string folder) : folder_(std::move(folder)) {}
  /// Every node there could be: for programs outside any machine's view.
  static Nodes All() { return Nodes(""); }

  bool Control() const { return Usable("nvidiactl"); }
  /// Whether it is there at all, be it forbidden to this process.
  bool HasControl() const;
  bool Device(std::uint32_t minor) const { return Usable("nvidia" + std::to_string(minor)); }
  bool Uvm() const { return Usable("nvidia-uvm"); }
  /// /dev/nvidia-caps/nvidia-capN.
  bool Capability(std::uint32_t minor) const { return Readable("nvidia-caps/nvidia-cap" + std::to_string(minor)); }

  const std::string& folder() const { return folder_; }

 private:
  bool Usable(const std::string& name) const;
  bool Readable(const std::string& name) const;

  std::string folder_;
};

/// The minor numbers of /dev/nvidia-caps/nvidia-capN, as /proc/driver/nvidia-caps/mig-minors lists them.
inline constexpr std::uint32_t kMigConfigMinor = 1, kMigMonitorMinor = 2;
/// Of gpuN/giM/access, where N is the device's minor.
constexpr std::uint32_t GpuInstanceMinor(std::uint32_t device_minor, std::uint32_t gpu_instance) {
  return 3 + device_minor * 135 + gpu_instance * 9;
}
/// Of gpuN/giM/ciK/access.
constexpr std::uint32_t ComputeInstanceMinor(std::uint32_t device_minor, std::uint32_t gpu_instance,
                                             std::uint32_t compute_instance) {
  return GpuInstanceMinor(device_minor, gpu_instance) + 1 + compute_instance;
}

/// Where a driver library finds its machine.
struct Found {
  std::unique_ptr<State> state;
  Nodes nodes;
};

/// Finds the machine as a driver library does: GPUOP_MACHINE_STATE names the state file (and GPUOP_MACHINE_DEV what
/// stands for /dev; without it /dev is used if it has nvidiactl, else every node counts as present); otherwise
/// /dev/nvidiactl is the state file; otherwise, where nvidiactl is a character device, /run/nvidia-persistenced/socket,
/// this process's or that of the host whose library this is. kNotFound: there is no /dev/nvidiactl, which in life means
/// that no driver is loaded, or that the container got no GPU.
Result<Found> FindMachine();

/// The indices of the devices whose node is present, in the machine's order.
std::vector<std::uint32_t> VisibleDevices(const layout::Machine& machine, const Nodes& nodes);

/// The compute instances of one device whose two capability nodes are present, ordered by GPU and compute instance.
std::vector<Place> VisibleInstances(const layout::Machine& machine, const Nodes& nodes, std::uint32_t device);

/// "MIG-…": the same for the same place on the same GPU, whenever the instance was made.
std::string MigUuid(const layout::Device& device, std::uint32_t gpu_instance, std::uint32_t compute_instance);
/// `kind` ("GPU-") and a UUID that is the same for the same key.
std::string NameUuid(std::string_view kind, const std::string& key);

}  // namespace gpuop::machine
