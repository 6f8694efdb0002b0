#include "gpu/nvml/table.h"

namespace gpuop::gpu::nvml {

std::string_view ReturnName(Return value) {
  switch (value) {
    case Return::kSuccess: return "NVML_SUCCESS";
    case Return::kUninitialized: return "NVML_ERROR_UNINITIALIZED";
    case Return::kInvalidArgument: return "NVML_ERROR_INVALID_ARGUMENT";
    case Return::kNotSupported: return "NVML_ERROR_NOT_SUPPORTED";
    case Return::kNoPermission: return "NVML_ERROR_NO_PERMISSION";
    case Return::kAlreadyInitialized: return "NVML_ERROR_ALREADY_INITIALIZED";
    case Return::kNotFound: return "NVML_ERROR_NOT_FOUND";
    case Return::kInsufficientSize: return "NVML_ERROR_INSUFFICIENT_SIZE";
    case Return::kInsufficientPower: return "NVML_ERROR_INSUFFICIENT_POWER";
    case Return::kDriverNotLoaded: return "NVML_ERROR_DRIVER_NOT_LOADED";
    case Return::kTimeout: return "NVML_ERROR_TIMEOUT";
    case Return::kIrqIssue: return "NVML_ERROR_IRQ_ISSUE";
    case Return::kLibraryNotFound: return "NVML_ERROR_LIBRARY_NOT_FOUND";
    case Return::kFunctionNotFound: return "NVML_ERROR_FUNCTION_NOT_FOUND";
    case Return::kCorruptedInforom: return "NVML_ERROR_CORRUPTED_INFOROM";
    case Return::kGpuIsLost: return "NVML_ERROR_GPU_IS_LOST";
    case Return::kResetRequired: return "NVML_ERROR_RESET_REQUIRED";
    case Return::kOperatingSystem: return "NVML_ERROR_OPERATING_SYSTEM";
    case Return::kLibRmVersionMismatch: return "NVML_ERROR_LIB_RM_VERSION_MISMATCH";
    case Return::kInUse: return "NVML_ERROR_IN_USE";
    case Return::kMemory: return "NVML_ERROR_MEMORY";
    case Return::kNoData: return "NVML_ERROR_NO_DATA";
    case Return::kVgpuEccNotSupported: return "NVML_ERROR_VGPU_ECC_NOT_SUPPORTED";
    case Return::kInsufficientResources: return "NVML_ERROR_INSUFFICIENT_RESOURCES";
    case Return::kFreqNotSupported: return "NVML_ERROR_FREQ_NOT_SUPPORTED";
    case Return::kArgumentVersionMismatch: return "NVML_ERROR_ARGUMENT_VERSION_MISMATCH";
    case Return::kDeprecated: return "NVML_ERROR_DEPRECATED";
    case Return::kNotReady: return "NVML_ERROR_NOT_READY";
    case Return::kGpuNotFound: return "NVML_ERROR_GPU_NOT_FOUND";
    case Return::kInvalidState: return "NVML_ERROR_INVALID_STATE";
    case Return::kResetTypeNotSupported: return "NVML_ERROR_RESET_TYPE_NOT_SUPPORTED";
    case Return::kUnknown: return "NVML_ERROR_UNKNOWN";
  }
  return "NVML_ERROR_UNKNOWN";
}

}  // namespace gpuop::gpu::nvml
