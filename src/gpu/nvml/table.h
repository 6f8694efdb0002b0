#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "gpu/nvml_abi.h"

namespace gpuop::gpu::nvml {

/// NVML's functions as pointers; null where a library has none. The order is that of the lists in functions.h.
struct Functions {
#define GPUOP_NVML_POINTER(name, ...) Return (*name)(__VA_ARGS__) = nullptr;
  GPUOP_NVML_FUNCTIONS(GPUOP_NVML_POINTER)
#undef GPUOP_NVML_POINTER
  const char* (*ErrorString)(Return) = nullptr;
};

/// Their names, in the order of Functions.
inline constexpr std::array kFunctionNames = {
#define GPUOP_NVML_NAME(name, ...) std::string_view("nvml" #name),
    GPUOP_NVML_FUNCTIONS(GPUOP_NVML_NAME)
#undef GPUOP_NVML_NAME
        std::string_view("nvmlErrorString"),
};

/// "NVML_ERROR_GPU_IS_LOST"; "NVML_ERROR_UNKNOWN" for a number that nvml.h does not have either.
std::string_view ReturnName(Return value);

}  // namespace gpuop::gpu::nvml
