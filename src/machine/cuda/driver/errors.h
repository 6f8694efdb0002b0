#pragma once

#include "machine/cuda/driver/abi.h"
#include "machine/cuda/exec/launch.h"

namespace gpuop::machine::cuda {

/// "CUDA_ERROR_INVALID_VALUE" and "invalid argument"; nullptr for a code that there is not.
const char* ErrorName(Cu code);
const char* ErrorText(Cu code);

/// What a context answers after a kernel ended so.
Cu ErrorOf(exec::Trap trap);

}  // namespace gpuop::machine::cuda
