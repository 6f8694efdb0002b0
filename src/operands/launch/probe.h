#pragma once

#include <stop_token>
#include <string>

#include "base/result.h"
#include "operands/launch/environment.h"
#include "os/fs.h"
#include "os/process.h"

namespace gpuop::operands::launch {

/// Whether the driver in this container works: its module is loaded, its daemons are ready if they say anything, and
/// nvidia-smi answers. Then the validator is told by /run/nvidia/validations/.driver-ctr-ready which further modules
/// `variables` ask for. kUnavailable says what is missing.
Result<> ProbeDriver(const Variables& variables, os::Fs& fs, os::Processes& processes, std::stop_token stop);

/// kUnavailable unless the kernel module is loaded.
Result<> ProbeModule(const std::string& module, const os::Fs& fs);

}  // namespace gpuop::operands::launch
