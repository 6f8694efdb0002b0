#pragma once
// The driver's device nodes that nobody makes on a host without udev rules for them.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/fs.h"

namespace gpuop::container {

/// A character device of the driver.
struct DriverNode {
  std::string path;
  os::DeviceNumbers device;
  bool operator==(const DriverNode&) const = default;
};

/// The nodes of the driver's control path (nvidiactl, nvidia-modeset, nvidia-uvm, nvidia-uvm-tools), by the majors in
/// /proc/devices. Empty while the driver is not loaded.
std::vector<DriverNode> ControlNodes(std::string_view proc_devices);
/// Those, a node for each GPU of /proc/driver/nvidia/gpus, and one for each capability of mig-minors: all that the
/// driver may ask for on this host, whether they are there or not. `host` shows the host's /proc.
std::vector<DriverNode> AllDriverNodes(const os::Fs& host);

/// Makes those that are missing below `dev_root`, mode 0666. Returns the paths of those that it made.
Result<std::vector<std::string>> MakeDriverNodes(const std::string& dev_root, const std::vector<DriverNode>& nodes);

}  // namespace gpuop::container
