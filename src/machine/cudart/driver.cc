#include "machine/cudart/driver.h"

#include <dlfcn.h>

#include <array>
#include <mutex>

namespace gpuop::machine::cudart {
namespace {

/// Driver's members are function pointers; these are their names, in order.
constexpr const char* kNames[] = {
    "cuInit",
    "cuDriverGetVersion",
    "cuGetErrorString",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDeviceGetUuid_v2",
    "cuDeviceTotalMem_v2",
    "cuDeviceGetAttribute",
    "cuDeviceGetPCIBusId",
    "cuDeviceGetByPCIBusId",
    "cuDeviceCanAccessPeer",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxReset_v2",
    "cuDevicePrimaryCtxSetFlags_v2",
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuCtxGetDevice",
    "cuCtxSynchronize",
    "cuCtxSetLimit",
    "cuCtxGetLimit",
    "cuCtxEnablePeerAccess",
    "cuCtxDisablePeerAccess",
    "cuCtxGetStreamPriorityRange",
    "cuLibraryLoadData",
    "cuLibraryUnload",
    "cuLibraryGetKernel",
    "cuLibraryGetGlobal",
    "cuKernelGetFunction",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cuLaunchCooperativeKernel",
    "cuLaunchHostFunc",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    "cuMemGetInfo_v2",
    "cuMemAlloc_v2",
    "cuMemAllocPitch_v2",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemFreeHost",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuMemHostGetDevicePointer_v2",
    "cuMemAllocManaged",
    "cuMemAllocAsync",
    "cuMemFreeAsync",
    "cuPointerGetAttributes",
    "cuMemcpy",
    "cuMemcpyAsync",
    "cuMemcpy2DUnaligned_v2",
    "cuMemcpy2DAsync_v2",
    "cuMemsetD8_v2",
    "cuMemsetD8Async",
    "cuMemsetD2D8_v2",
    "cuStreamCreateWithPriority",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
    "cuStreamQuery",
    "cuStreamWaitEvent",
    "cuStreamAddCallback",
    "cuStreamGetPriority",
    "cuStreamGetFlags",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventRecord",
    "cuEventQuery",
    "cuEventSynchronize",
    "cuEventElapsedTime",
    "cuDeviceGetP2PAttribute",
    "cuDevicePrimaryCtxGetState",
    "cuDeviceGetDefaultMemPool",
    "cuDeviceGetMemPool",
    "cuDeviceSetMemPool",
    "cuMemPoolCreate",
    "cuMemPoolDestroy",
    "cuMemPoolTrimTo",
    "cuMemPoolSetAttribute",
    "cuMemPoolGetAttribute",
    "cuMemPoolSetAccess",
    "cuMemPoolGetAccess",
    "cuMemAllocFromPoolAsync",
    "cuMemHostGetFlags",
    "cuMemPrefetchAsync_v2",
    "cuMemAdvise_v2",
    "cuMemcpy3D_v2",
    "cuMemcpy3DAsync_v2",
    "cuMemsetD2D8Async",
    "cuStreamGetId",
    "cuStreamGetDevice",
    "cuStreamIsCapturing",
    "cuStreamAttachMemAsync",
    "cuEventRecordWithFlags",
    "cuGetProcAddress_v2",
    "cuKernelGetName",
    "cuKernelGetParamInfo",
    "cuOccupancyAvailableDynamicSMemPerBlock",
};
using Function = void (*)();
static_assert(sizeof(Driver) == std::size(kNames) * sizeof(Function));

struct Loaded {
  Driver driver{};
  bool usable = false;
};

Loaded Load() {
  Loaded loaded;
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return loaded;
  std::array<void*, std::size(kNames)> found{};
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i] = ::dlsym(library, kNames[i]);
    if (found[i] == nullptr) return loaded;
  }
  __builtin_memcpy(&loaded.driver, found.data(), sizeof loaded.driver);
  loaded.usable = true;
  return loaded;
}

thread_local Error last_error = 0;
thread_local int device = 0;
std::mutex contexts_mu;
/// The primary contexts that this library holds, by device.
void* contexts[64] = {};

}  // namespace

const Driver* FindDriver() {
  static const Loaded loaded = Load();
  return loaded.usable ? &loaded.driver : nullptr;
}

Error Record(Error error) {
  if (error != 0 && error != static_cast<Error>(Cu::kNotReady)) last_error = error;
  return error;
}

int& CurrentDevice() { return device; }

Error UseDevice(const Driver& driver) {
  if (const Cu rc = driver.Init(0); rc != Cu::kSuccess) return static_cast<Error>(rc);
  void* current = nullptr;
  if (const Cu rc = driver.CtxGetCurrent(&current); rc != Cu::kSuccess) return static_cast<Error>(rc);
  if (current != nullptr) return 0;
  if (device < 0 || device >= 64) return kInvalidDevice;
  const std::lock_guard lock(contexts_mu);
  void*& context = contexts[device];
  if (context == nullptr)
    if (const Cu rc = driver.DevicePrimaryCtxRetain(&context, device); rc != Cu::kSuccess)
      return static_cast<Error>(rc);
  return static_cast<Error>(driver.CtxSetCurrent(context));
}

GPUOP_CUDART Error cudaGetLastError() {
  const Error error = last_error;
  last_error = 0;
  return error;
}
GPUOP_CUDART Error cudaPeekAtLastError() { return last_error; }

GPUOP_CUDART Error cudaDeviceReset() {
  const Driver* driver = FindDriver();
  if (driver == nullptr) return Record(kInsufficientDriver);
  if (const Cu rc = driver->Init(0); rc != Cu::kSuccess) return Record(rc);
  driver->CtxSetCurrent(nullptr);
  const std::lock_guard lock(contexts_mu);
  contexts[device] = nullptr;
  return Record(driver->DevicePrimaryCtxReset(device));
}

GPUOP_CUDART Error cudaSetDevice(int ordinal) {
  const Driver* driver = FindDriver();
  if (driver == nullptr) return Record(kInsufficientDriver);
  int count = 0;
  if (const Cu rc = driver->Init(0); rc != Cu::kSuccess) return Record(rc);
  driver->DeviceGetCount(&count);
  if (ordinal < 0 || ordinal >= count) return Record(kInvalidDevice);
  device = ordinal;
  driver->CtxSetCurrent(nullptr);
  return Record(UseDevice(*driver));
}

}  // namespace gpuop::machine::cudart
