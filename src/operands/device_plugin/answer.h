#pragma once
// What a container is given for its devices: a pure function of the settings and the devices' ids.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "operands/device_plugin/resources.h"

namespace gpuop::operands::device_plugin {

/// What the node has besides GPUs, as far as it is asked for.
struct Extras {
  /// Control nodes that there are: "/dev/nvidiactl", ….
  std::vector<std::string> control_nodes = {};
  /// Channels whose node is there.
  std::vector<unsigned> imex_channels = {};
  /// CDI devices that a spec describes: "gdrcopy=all", ….
  std::vector<std::string> cdi_devices = {};
  bool operator==(const Extras&) const = default;
};

struct Answer {
  struct Mount {
    std::string container_path, host_path;
    bool operator==(const Mount&) const = default;
  };
  std::map<std::string, std::string> env = {};
  std::vector<Mount> mounts = {};
  /// Device nodes as containers see them, and as the host does; readable and writable.
  std::vector<Mount> nodes = {};
  std::map<std::string, std::string> annotations = {};
  std::vector<std::string> cdi_devices = {};
  bool operator==(const Answer&) const = default;
};

/// Of CDI names in the specs that the plugin writes.
inline constexpr std::string_view kCdiVendor = "k8s.device-plugin.nvidia.com";

/// Why a container may not have these ids of `resource` (kIo, in the words that the kubelet shows): one is unknown, or
/// they are several shares where only one is allowed.
Result<> CheckRequest(const Resource& resource, const std::vector<std::string>& ids);

/// The answer to a request that CheckRequest lets pass. `fresh` is a new UUID, which makes annotations unlike.
Answer MakeAnswer(const Resource& resource, const std::vector<std::string>& ids, const Settings& settings,
                  const Extras& extras, const std::string& fresh);

}  // namespace gpuop::operands::device_plugin
