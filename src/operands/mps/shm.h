#pragma once

#include <string>

#include "base/result.h"
#include "os/fs.h"

namespace gpuop::operands::mps {

/// Mounts a file system in memory on `folder` (made if need be), half as large as the node's memory: what MPS daemon
/// and clients share. Nothing is done when one is mounted there already.
Result<> MountShm(os::Fs& fs, const std::string& folder);

}  // namespace gpuop::operands::mps
