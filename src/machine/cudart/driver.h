#pragma once
// The driver API below this run-time library, found at run time: without libcuda.so.1 every call answers
// cudaErrorInsufficientDriver, as programs expect on a machine without a driver.

#include <cstddef>
#include <cstdint>

#include "machine/cuda/driver/abi.h"

#define GPUOP_CUDART extern "C" __attribute__((visibility("default")))

namespace gpuop::machine::cudart {

using cuda::Cu;

/// cudaError_t: the driver's numbers, and some of its own.
using Error = int;
inline constexpr Error kInvalidValue = 1, kInvalidConfiguration = 9, kInvalidSymbol = 13, kInvalidDevicePointer = 17,
                       kInvalidDirection = 21, kInsufficientDriver = 35, kMissingConfiguration = 52,
                       kInvalidDeviceFunction = 98, kNoDevice = 100, kInvalidDevice = 101, kNotSupported = 801;

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

/// The entry points of libcuda.so.1 that are used here.
struct Driver {
  Cu (*Init)(unsigned);
  Cu (*DriverGetVersion)(int*);
  Cu (*GetErrorString)(Cu, const char**);
  Cu (*DeviceGetCount)(int*);
  Cu (*DeviceGetName)(char*, int, int);
  Cu (*DeviceGetUuid)(cuda::Uuid*, int);
  Cu (*DeviceTotalMem)(std::size_t*, int);
  Cu (*DeviceGetAttribute)(int*, int, int);
  Cu (*DeviceGetPCIBusId)(char*, int, int);
  Cu (*DeviceGetByPCIBusId)(int*, const char*);
  Cu (*DeviceCanAccessPeer)(int*, int, int);
  Cu (*DevicePrimaryCtxRetain)(void**, int);
  Cu (*DevicePrimaryCtxReset)(int);
  Cu (*DevicePrimaryCtxSetFlags)(int, unsigned);
  Cu (*CtxGetCurrent)(void**);
  Cu (*CtxSetCurrent)(void*);
  Cu (*CtxGetDevice)(int*);
  Cu (*CtxSynchronize)();
  Cu (*CtxSetLimit)(int, std::size_t);
  Cu (*CtxGetLimit)(std::size_t*, int);
  Cu (*CtxEnablePeerAccess)(void*, unsigned);
  Cu (*CtxDisablePeerAccess)(void*);
  Cu (*CtxGetStreamPriorityRange)(int*, int*);
  Cu (*LibraryLoadData)(void**, const void*, int*, void**, unsigned, int*, void**, unsigned);
  Cu (*LibraryUnload)(void*);
  Cu (*LibraryGetKernel)(void**, void*, const char*);
  Cu (*LibraryGetGlobal)(std::uint64_t*, std::size_t*, void*, const char*);
  Cu (*KernelGetFunction)(void**, void*);
  Cu (*FuncGetAttribute)(int*, int, void*);
  Cu (*FuncSetAttribute)(void*, int, int);
  Cu (*LaunchKernel)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                     void**);
  Cu (*LaunchKernelEx)(const cuda::LaunchConfig*, void*, void**, void**);
  Cu (*LaunchCooperativeKernel)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                                void**);
  Cu (*LaunchHostFunc)(void*, void (*)(void*), void*);
  Cu (*OccupancyMaxActiveBlocksPerMultiprocessor)(int*, void*, int, std::size_t);
  Cu (*MemGetInfo)(std::size_t*, std::size_t*);
  Cu (*MemAlloc)(std::uint64_t*, std::size_t);
  Cu (*MemAllocPitch)(std::uint64_t*, std::size_t*, std::size_t, std::size_t, unsigned);
  Cu (*MemFree)(std::uint64_t);
  Cu (*MemHostAlloc)(void**, std::size_t, unsigned);
  Cu (*MemFreeHost)(void*);
  Cu (*MemHostRegister)(void*, std::size_t, unsigned);
  Cu (*MemHostUnregister)(void*);
  Cu (*MemHostGetDevicePointer)(std::uint64_t*, void*, unsigned);
  Cu (*MemAllocManaged)(std::uint64_t*, std::size_t, unsigned);
  Cu (*MemAllocAsync)(std::uint64_t*, std::size_t, void*);
  Cu (*MemFreeAsync)(std::uint64_t, void*);
  Cu (*PointerGetAttributes)(unsigned, const int*, void**, std::uint64_t);
  Cu (*Memcpy)(std::uint64_t, std::uint64_t, std::size_t);
  Cu (*MemcpyAsync)(std::uint64_t, std::uint64_t, std::size_t, void*);
  Cu (*Memcpy2D)(const cuda::Memcpy2D*);
  Cu (*Memcpy2DAsync)(const cuda::Memcpy2D*, void*);
  Cu (*MemsetD8)(std::uint64_t, unsigned char, std::size_t);
  Cu (*MemsetD8Async)(std::uint64_t, unsigned char, std::size_t, void*);
  Cu (*MemsetD2D8)(std::uint64_t, std::size_t, unsigned char, std::size_t, std::size_t);
  Cu (*StreamCreateWithPriority)(void**, unsigned, int);
  Cu (*StreamDestroy)(void*);
  Cu (*StreamSynchronize)(void*);
  Cu (*StreamQuery)(void*);
  Cu (*StreamWaitEvent)(void*, void*, unsigned);
  Cu (*StreamAddCallback)(void*, void (*)(void*, Cu, void*), void*, unsigned);
  Cu (*StreamGetPriority)(void*, int*);
  Cu (*StreamGetFlags)(void*, unsigned*);
  Cu (*EventCreate)(void**, unsigned);
  Cu (*EventDestroy)(void*);
  Cu (*EventRecord)(void*, void*);
  Cu (*EventQuery)(void*);
  Cu (*EventSynchronize)(void*);
  Cu (*EventElapsedTime)(float*, void*, void*);
  Cu (*DeviceGetP2PAttribute)(int*, int, int, int);
  Cu (*DevicePrimaryCtxGetState)(int, unsigned*, int*);
  Cu (*DeviceGetDefaultMemPool)(void**, int);
  Cu (*DeviceGetMemPool)(void**, int);
  Cu (*DeviceSetMemPool)(int, void*);
  Cu (*MemPoolCreate)(void**, const cuda::MemPoolProps*);
  Cu (*MemPoolDestroy)(void*);
  Cu (*MemPoolTrimTo)(void*, std::size_t);
  Cu (*MemPoolSetAttribute)(void*, int, void*);
  Cu (*MemPoolGetAttribute)(void*, int, void*);
  Cu (*MemPoolSetAccess)(void*, const cuda::MemAccess*, std::size_t);
  Cu (*MemPoolGetAccess)(int*, void*, const cuda::MemLocation*);
  Cu (*MemAllocFromPoolAsync)(std::uint64_t*, std::size_t, void*, void*);
  Cu (*MemHostGetFlags)(unsigned*, void*);
  Cu (*MemPrefetchAsync)(std::uint64_t, std::size_t, cuda::MemLocation, unsigned, void*);
  Cu (*MemAdvise)(std::uint64_t, std::size_t, int, cuda::MemLocation);
  Cu (*Memcpy3D)(const cuda::Memcpy3D*);
  Cu (*Memcpy3DAsync)(const cuda::Memcpy3D*, void*);
  Cu (*MemsetD2D8Async)(std::uint64_t, std::size_t, unsigned char, std::size_t, std::size_t, void*);
  Cu (*StreamGetId)(void*, unsigned long long*);
  Cu (*StreamGetDevice)(void*, int*);
  Cu (*StreamIsCapturing)(void*, int*);
  Cu (*StreamAttachMemAsync)(void*, std::uint64_t, std::size_t, unsigned);
  Cu (*EventRecordWithFlags)(void*, void*, unsigned);
  Cu (*GetProcAddress)(const char*, void**, int, std::uint64_t, int*);
  Cu (*KernelGetName)(const char**, void*);
  Cu (*KernelGetParamInfo)(void*, std::size_t, std::size_t*, std::size_t*);
  Cu (*OccupancyAvailableDynamicSMemPerBlock)(std::size_t*, void*, int, int);
};

/// nullptr: there is no usable libcuda.so.1.
const Driver* FindDriver();

/// Remembers an error for cudaGetLastError, and answers with it.
Error Record(Error error);
inline Error Record(Cu error) { return Record(static_cast<Error>(error)); }

/// The thread's device (cudaSetDevice).
int& CurrentDevice();
/// Makes the primary context of the thread's device current, as the first call that needs one does.
Error UseDevice(const Driver& driver);

/// Runs `call` with the driver and, unless the program made another context current, the device's primary one.
template <class F>
Error WithDevice(F call) {
  const Driver* driver = FindDriver();
  if (driver == nullptr) return Record(kInsufficientDriver);
  if (const Error error = UseDevice(*driver); error != 0) return Record(error);
  return Record(call(*driver));
}

/// Runs `call` with the driver, which needs no context.
template <class F>
Error WithDriver(F call) {
  const Driver* driver = FindDriver();
  if (driver == nullptr) return Record(kInsufficientDriver);
  if (const Cu rc = driver->Init(0); rc != Cu::kSuccess) return Record(rc);
  return Record(call(*driver));
}

inline std::uint64_t Address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

GPUOP_CUDART Error cudaPeekAtLastError();

}  // namespace gpuop::machine::cudart
