#include "machine/nvml/error_text.h"

namespace gpuop::machine::nvml {

const char* ErrorText(gpu::nvml::Return result) {
  using enum gpu::nvml::Return;
  switch (result) {
    case kSuccess: return "Success";
    case kUninitialized: return "Uninitialized";
    case kInvalidArgument: return "Invalid Argument";
    case kNotSupported: return "Not Supported";
    case kNoPermission: return "Insufficient Permissions";
    case kAlreadyInitialized: return "Already Initialized";
    case kNotFound: return "Not Found";
    case kInsufficientSize: return "Insufficient Size";
    case kInsufficientPower: return "Insufficient External Power";
    case kDriverNotLoaded: return "Driver Not Loaded";
    case kTimeout: return "Timeout";
    case kIrqIssue: return "Interrupt Request Issue";
    case kLibraryNotFound: return "NVML Shared Library Not Found";
    case kFunctionNotFound: return "Function Not Found";
    case kCorruptedInforom: return "Corrupted infoROM";
    case kGpuIsLost: return "GPU is lost";
    case kResetRequired: return "GPU requires reset";
    case kOperatingSystem: return "The operating system has blocked the request.";
    case kLibRmVersionMismatch: return "Driver/library version mismatch";
    case kInUse: return "In use by another client";
    case kMemory: return "Insufficient Memory";
    case kNoData: return "No data";
    case kVgpuEccNotSupported: return "ECC is not supported on vGPU";
    case kInsufficientResources: return "Insufficient Resources";
    case kFreqNotSupported: return "Requested frequency not supported";
    case kArgumentVersionMismatch: return "Argument version mismatch";
    case kDeprecated: return "The requested functionality has been deprecated";
    case kNotReady: return "The system is not ready for the request";
    case kGpuNotFound: return "No GPUs were found";
    case kInvalidState: return "Resource is in a state that does not allow this operation";
    case kResetTypeNotSupported: return "Reset type not supported";
    case kUnknown: return "Unknown Error";
  }
  return "Unknown Error";
}

}  // namespace gpuop::machine::nvml
