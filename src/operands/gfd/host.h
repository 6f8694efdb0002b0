#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operands/gfd/labels.h"
#include "os/fs.h"

namespace gpuop::operands::gfd {

/// Asks the host what labels need besides NVML. What cannot be read is left out, as HostFacts says. `timestamp` is the
/// caller's.
HostFacts ReadHost(const os::Fs& fs, const std::string& machine_type_file);

}  // namespace gpuop::operands::gfd
