#pragma once
// NVML as it is between a program and libnvidia-ml.so.1: handles, enumerations, constants, structs and the list of
// functions, declared by ourselves. Types and fields keep NVML's own names (nvmlMemory_v2_t is nvml::MemoryV2), so that
// who knows NVML finds them; abi_test holds all of it to the nvml.h that NVIDIA publishes.

#include "gpu/nvml/constants.h"  // IWYU pragma: export
#include "gpu/nvml/functions.h"  // IWYU pragma: export
#include "gpu/nvml/structs.h"    // IWYU pragma: export
#include "gpu/nvml/types.h"      // IWYU pragma: export
