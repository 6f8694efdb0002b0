#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "os/fs.h"

namespace gpuop::gpu {

/// Where a driver's library `soname` may be, best first. With a driver root ("/run/nvidia/driver", "/driver-root") only
/// paths below it that exist, links resolved inside it; without one ("" or "/") the loader's own search, then the usual
/// folders.
std::vector<std::string> DriverLibraryCandidates(const std::string& driver_root, std::string_view soname);
/// Those below a driver root, as paths in it without links.
std::vector<std::string> DriverLibrariesIn(const os::Fs& root, std::string_view soname);

}  // namespace gpuop::gpu
