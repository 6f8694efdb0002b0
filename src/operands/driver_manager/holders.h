#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "os/fs.h"

namespace gpuop::operands::driver_manager {

/// A process that has a GPU's device node open.
struct Holder {
  std::int64_t pid = 0;
  std::string program = {};
  std::string device = {};
  /// The UID of the Pod it runs in; empty for a process of the host's own.
  std::string pod_uid = {};

  /// "process 4711 (Xorg) of the host holds /dev/nvidia0".
  std::string Words() const;
  bool operator==(const Holder&) const = default;
};

/// Every process that holds the driver, each once, by process ID. `host` shows the machine's processes in its /proc.
/// Processes that end meanwhile are passed over.
std::vector<Holder> FindHolders(const os::Fs& host);
/// The same for one device node, "/dev/vfio/12".
std::vector<Holder> FindHoldersOf(const os::Fs& host, std::string_view node);

/// The UID of a Pod in a process's /proc/PID/cgroup: "…/kubepods-burstable-pod1234_5678.slice/…" and the like.
std::string PodUidIn(std::string_view cgroup);

}  // namespace gpuop::operands::driver_manager
