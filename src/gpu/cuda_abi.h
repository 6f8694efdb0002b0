#pragma once
// The CUDA driver API as it is between a program and libcuda.so.1, as far as this project calls it: declared by
// ourselves and held to NVIDIA's cuda.h by abi_test. The comment on each line is CUDA's own name.

#include <cstddef>

namespace gpuop::gpu::cuda {

/// CUresult.
enum class Status : unsigned {
  kSuccess = 0,                  // CUDA_SUCCESS
  kInvalidValue = 1,             // CUDA_ERROR_INVALID_VALUE
  kOutOfMemory = 2,              // CUDA_ERROR_OUT_OF_MEMORY
  kNotInitialized = 3,           // CUDA_ERROR_NOT_INITIALIZED
  kDeinitialized = 4,            // CUDA_ERROR_DEINITIALIZED
  kStubLibrary = 34,             // CUDA_ERROR_STUB_LIBRARY
  kDeviceUnavailable = 46,       // CUDA_ERROR_DEVICE_UNAVAILABLE
  kNoDevice = 100,               // CUDA_ERROR_NO_DEVICE
  kInvalidDevice = 101,          // CUDA_ERROR_INVALID_DEVICE
  kInvalidImage = 200,           // CUDA_ERROR_INVALID_IMAGE
  kInvalidContext = 201,         // CUDA_ERROR_INVALID_CONTEXT
  kNoBinaryForGpu = 209,         // CUDA_ERROR_NO_BINARY_FOR_GPU
  kEccUncorrectable = 214,       // CUDA_ERROR_ECC_UNCORRECTABLE
  kInvalidPtx = 218,             // CUDA_ERROR_INVALID_PTX
  kUnsupportedPtxVersion = 222,  // CUDA_ERROR_UNSUPPORTED_PTX_VERSION
  kOperatingSystem = 304,        // CUDA_ERROR_OPERATING_SYSTEM
  kInvalidHandle = 400,          // CUDA_ERROR_INVALID_HANDLE
  kNotFound = 500,               // CUDA_ERROR_NOT_FOUND
  kNotReady = 600,               // CUDA_ERROR_NOT_READY
  kIllegalAddress = 700,         // CUDA_ERROR_ILLEGAL_ADDRESS
  kLaunchOutOfResources = 701,   // CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
  kLaunchTimeout = 702,          // CUDA_ERROR_LAUNCH_TIMEOUT
  kLaunchFailed = 719,           // CUDA_ERROR_LAUNCH_FAILED
  kNotPermitted = 800,           // CUDA_ERROR_NOT_PERMITTED
  kNotSupported = 801,           // CUDA_ERROR_NOT_SUPPORTED
  kSystemNotReady = 802,         // CUDA_ERROR_SYSTEM_NOT_READY
  kSystemDriverMismatch = 803,   // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
  kCompatNotSupported = 804,     // CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
  kUnknown = 999,                // CUDA_ERROR_UNKNOWN
};

/// CUdevice_attribute.
enum class Attribute : unsigned {
  kMaxThreadsPerBlock = 1,    // CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK
  kMultiprocessorCount = 16,  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
  kIntegrated = 18,           // CU_DEVICE_ATTRIBUTE_INTEGRATED
  kComputeMode = 20,          // CU_DEVICE_ATTRIBUTE_COMPUTE_MODE
  kComputeMajor = 75,         // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
  kComputeMinor = 76,         // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
};

/// CUuuid.
struct Uuid {
  char bytes[16];
};

using DeviceOrdinal = int;                // CUdevice
using DevicePtr = unsigned long long;     // CUdeviceptr
using Context = struct ContextHandle*;    // CUcontext
using Module = struct ModuleHandle*;      // CUmodule
using Function = struct FunctionHandle*;  // CUfunction
using Stream = struct StreamHandle*;      // CUstream
using Event = struct EventHandle*;        // CUevent

}  // namespace gpuop::gpu::cuda

/// X(name, parameters…) for `CUresult cu<name>(parameters…)`.
#define GPUOP_CUDA_FUNCTIONS(X)                                                                                \
  X(Init, unsigned flags)                                                                                      \
  X(DriverGetVersion, int* version)                                                                            \
  X(GetErrorName, Status status, const char** name)                                                            \
  X(GetErrorString, Status status, const char** text)                                                          \
  X(DeviceGetCount, int* count)                                                                                \
  X(DeviceGet, DeviceOrdinal* device, int ordinal)                                                             \
  X(DeviceGetName, char* name, int length, DeviceOrdinal device)                                               \
  X(DeviceGetUuid_v2, Uuid* uuid, DeviceOrdinal device)                                                        \
  X(DeviceTotalMem_v2, std::size_t* bytes, DeviceOrdinal device)                                               \
  X(DeviceGetAttribute, int* value, Attribute attribute, DeviceOrdinal device)                                 \
  X(DeviceGetPCIBusId, char* bus_id, int length, DeviceOrdinal device)                                         \
  X(DevicePrimaryCtxRetain, Context* context, DeviceOrdinal device)                                            \
  X(DevicePrimaryCtxRelease_v2, DeviceOrdinal device)                                                          \
  X(CtxSetCurrent, Context context)                                                                            \
  X(CtxSynchronize)                                                                                            \
  X(MemGetInfo_v2, std::size_t* free, std::size_t* total)                                                      \
  X(MemAlloc_v2, DevicePtr* pointer, std::size_t bytes)                                                        \
  X(MemFree_v2, DevicePtr pointer)                                                                             \
  X(MemcpyHtoD_v2, DevicePtr to, const void* from, std::size_t bytes)                                          \
  X(MemcpyDtoH_v2, void* to, DevicePtr from, std::size_t bytes)                                                \
  X(MemsetD8_v2, DevicePtr pointer, unsigned char value, std::size_t count)                                    \
  X(ModuleLoadData, Module* module, const void* image)                                                         \
  X(ModuleUnload, Module module)                                                                               \
  X(ModuleGetFunction, Function* function, Module module, const char* name)                                    \
  X(LaunchKernel, Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,      \
    unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, void** extra) \
  X(EventCreate, Event* event, unsigned flags)                                                                 \
  X(EventRecord, Event event, Stream stream)                                                                   \
  X(EventSynchronize, Event event)                                                                             \
  X(EventElapsedTime, float* milliseconds, Event start, Event end)                                             \
  X(EventDestroy_v2, Event event)

namespace gpuop::gpu::cuda {

/// The driver's functions as pointers; null where a library has none.
struct Functions {
#define GPUOP_CUDA_POINTER(name, ...) Status (*name)(__VA_ARGS__) = nullptr;
  GPUOP_CUDA_FUNCTIONS(GPUOP_CUDA_POINTER)
#undef GPUOP_CUDA_POINTER
};

}  // namespace gpuop::gpu::cuda
