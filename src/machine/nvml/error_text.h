#pragma once

#include "gpu/nvml_abi.h"

namespace gpuop::machine::nvml {

/// What nvmlErrorString says; programs print it, and some compare it.
const char* ErrorText(gpu::nvml::Return result);

}  // namespace gpuop::machine::nvml
