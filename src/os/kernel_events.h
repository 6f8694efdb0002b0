#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gpuop::os {

/// What the kernel tells of one device or module (its uevents; Documentation/ABI/testing/sysfs-uevent).
struct KernelEvent {
  std::string action;     ///< add, remove, change, bind, unbind, move, online, offline
  std::string path;       ///< below /sys: "/module/nvidia"
  std::string subsystem;  ///< pci, module, usb, net, block, …
  bool operator==(const KernelEvent&) const = default;
};

/// Listens until it is destroyed; then no callback runs and none will come.
class KernelEvents {
 public:
  virtual ~KernelEvents() = default;
  /// Calls back on a thread of its own. An event whose subsystem is empty stands for some that were lost.
  /// kUnsupported where the kernel tells this process nothing.
  static Result<std::unique_ptr<KernelEvents>> Start(std::function<void(const KernelEvent&)> callback);
};

/// Reads one message of the kernel; kInvalid for what is none.
Result<KernelEvent> ParseKernelEvent(std::string_view message);

}  // namespace gpuop::os
