#pragma once
// Functions that gpu/nvml_abi.h does not list because the product does not call them, and other programs do.

#include "gpu/nvml_abi.h"

#define GPUOP_NVML_MORE_FUNCTIONS(X)                                                                            \
  X(DeviceGetMemoryAffinity, Device device, unsigned node_set_size, unsigned long* node_set, unsigned scope)    \
  X(DeviceGetMultiGpuBoard, Device device, unsigned* multi_gpu)                                                 \
  X(DeviceGetDefaultEccMode, Device device, EnableState* mode)                                                  \
  X(DeviceValidateInforom, Device device)                                                                       \
  X(DeviceGetEncoderStats, Device device, unsigned* sessions, unsigned* average_fps, unsigned* average_latency) \
  X(DeviceGetAccountingMode, Device device, EnableState* mode)                                                  \
  X(DeviceGetMinMaxFanSpeed, Device device, unsigned* low, unsigned* high)                                      \
  X(GetExcludedDeviceCount, unsigned* count)

#pragma GCC visibility push(default)
extern "C" {
#define GPUOP_DECLARE(name, ...) gpuop::gpu::nvml::Return nvml##name(__VA_ARGS__);
namespace gpuop::gpu::nvml {
GPUOP_NVML_MORE_FUNCTIONS(GPUOP_DECLARE)
}
#undef GPUOP_DECLARE
}
#pragma GCC visibility pop
