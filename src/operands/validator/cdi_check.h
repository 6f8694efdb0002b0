#pragma once

#include <optional>

#include "api/chain.h"
#include "os/fs.h"

namespace gpuop::operands::validator {

/// What is wrong with NVIDIA's CDI specifications of a host: one that cannot be read, or one that names a device node
/// or file that is there no longer. nullopt when all is well, also without any specification: not every engine uses
/// them.
std::optional<api::Finding> CheckCdi(const os::Fs& host);

}  // namespace gpuop::operands::validator
