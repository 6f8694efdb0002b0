// Pools of stream-ordered memory: cudaMemPoolProps, cudaMemAccessDesc and the attributes are the driver's.

#include "machine/cudart/driver.h"

namespace gpuop::machine::cudart {

GPUOP_CUDART Error cudaDeviceGetDefaultMemPool(void** pool, int device) {
  return WithDriver([&](const Driver& driver) { return driver.DeviceGetDefaultMemPool(pool, device); });
}
GPUOP_CUDART Error cudaDeviceGetMemPool(void** pool, int device) {
  return WithDriver([&](const Driver& driver) { return driver.DeviceGetMemPool(pool, device); });
}
GPUOP_CUDART Error cudaDeviceSetMemPool(int device, void* pool) {
  return WithDriver([&](const Driver& driver) { return driver.DeviceSetMemPool(device, pool); });
}
GPUOP_CUDART Error cudaMemPoolCreate(void** pool, const cuda::MemPoolProps* props) {
  return WithDriver([&](const Driver& driver) { return driver.MemPoolCreate(pool, props); });
}
GPUOP_CUDART Error cudaMemPoolDestroy(void* pool) {
  return WithDriver([&](const Driver& driver) { return driver.MemPoolDestroy(pool); });
}
GPUOP_CUDART Error cudaMemPoolTrimTo(void* pool, std::size_t keep) {
  return WithDriver([&](const Driver& driver) { return driver.MemPoolTrimTo(pool, keep); });
}
GPUOP_CUDART Error cudaMemPoolSetAttribute(void* pool, int attribute, void* value) {
  return WithDriver([&](const Driver& driver) { return driver.MemPoolSetAttribute(pool, attribute, value); });
}
GPUOP_CUDART Error cudaMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return WithDriver([&](const Driver& driver) { return driver.MemPoolGetAttribute(pool, attribute, value); });
}
GPUOP_CUDART Error cudaMemPoolSetAccess(void* pool, const cuda::MemAccess* access, std::size_t count) {
  return WithDriver([&](const Driver& driver) { return driver.MemPoolSetAccess(pool, access, count); });
}
GPUOP_CUDART Error cudaMemPoolGetAccess(int* flags, void* pool, const cuda::MemLocation* location) {
  return WithDriver([&](const Driver& driver) { return driver.MemPoolGetAccess(flags, pool, location); });
}
GPUOP_CUDART Error cudaMallocFromPoolAsync(void** made, std::size_t bytes, void* pool, void* stream) {
  return WithDevice([&](const Driver& driver) {
    std::uint64_t address = 0;
    const Cu rc = driver.MemAllocFromPoolAsync(&address, bytes, pool, stream);
    if (rc == Cu::kSuccess) *made = reinterpret_cast<void*>(address);
    return rc;
  });
}

}  // namespace gpuop::machine::cudart
