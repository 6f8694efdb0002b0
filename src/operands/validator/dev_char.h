#pragma once

#include "base/result.h"
#include "os/fs.h"

namespace gpuop::operands::validator {

/// Makes the links that are missing in `dev_char`, the host's /dev/char, for all of NVIDIA's devices that there are or
/// could be ("195:0" to "/dev/nvidia0"): engines that hand rules to systemd find devices by number there, and forget
/// them without. The error says how to do without.
Result<> LinkDevChar(const os::Fs& host, os::Fs& dev_char);

}  // namespace gpuop::operands::validator
