#pragma once

#include <string>
#include <string_view>

#include "os/fs.h"

namespace gpuop::operands::host {

/// The running kernel's release by /proc/version; empty when that cannot be read.
std::string KernelRelease(const os::Fs& host);

/// The driver's kernel module as a file.
struct ModuleFile {
  /// nvidia.ko, or a compressed one, of the running kernel; empty when there is none.
  std::string path;
  /// Why the module that there is cannot be loaded into this kernel: "/lib/modules/…/nvidia.ko was built for 5.4.0-1";
  /// empty when it can, or when there is none.
  std::string mismatch;
};
/// Looks below /lib/modules of `host` and of `driver`. Of compressed modules only the place is known.
ModuleFile FindModule(const os::Fs& host, const os::Fs& driver, std::string_view kernel);

}  // namespace gpuop::operands::host
