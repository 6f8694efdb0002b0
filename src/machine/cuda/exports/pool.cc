// Stream-ordered memory and its pools.

#include <cstring>
#include <memory>

#include "machine/cuda/exports/process.h"

namespace gpuop::machine::cuda {
namespace {

/// CUmemPool_attribute: the four that count bytes are 64 bits wide, the three that allow reuse are ints.
enum PoolAttribute : int {
  kReuseFirst = 1,
  kReuseLast = 3,
  kReleaseThreshold = 4,
  kReserved = 5,
  kReservedHigh = 6,
  kUsed = 7,
  kUsedHigh = 8,
};

Cu AllocateFrom(std::uint64_t* made, std::size_t bytes, void* stream) {
  if (made == nullptr) return Cu::kInvalidValue;
  return WithStream(stream, [&](Driver&, Context& context, Stream*) {
    Allocation allocation;
    const Cu rc = context.Allocate(Allocation::Kind::kDevice, bytes, allocation, 0, true);
    if (rc == Cu::kSuccess) *made = allocation.base;
    return rc;
  });
}

template <class F>
Cu WithPool(void* handle, F call) {
  return WithDriver([&](Driver& driver) {
    const auto pool = driver.pools.Find(handle);
    return pool == nullptr ? Cu::kInvalidValue : call(driver, *pool);
  });
}

Cu DefaultPool(void** made, int ordinal) {
  return WithDriver([&](Driver& driver) {
    if (driver.FindDevice(ordinal) == nullptr) return Cu::kInvalidDevice;
    if (made == nullptr) return Cu::kInvalidValue;
    *made = driver.default_pools[static_cast<std::size_t>(ordinal)];
    return Cu::kSuccess;
  });
}

}  // namespace

GPUOP_CUDA Cu cuMemAllocAsync(std::uint64_t* made, std::size_t bytes, void* stream) {
  return AllocateFrom(made, bytes, stream);
}
GPUOP_CUDA Cu cuMemAllocFromPoolAsync(std::uint64_t* made, std::size_t bytes, void* pool, void* stream) {
  return WithPool(pool, [&](Driver&, Pool&) { return AllocateFrom(made, bytes, stream); });
}
GPUOP_CUDA Cu cuMemFreeAsync(std::uint64_t address, void* stream) {
  return WithStream(stream, [&](Driver& driver, Context& context, Stream* on) {
    const auto known = driver.allocations.Find(address);
    if (!known || known->base != address) return Cu::kInvalidValue;
    context.Push(on, [owner = known->owner, address] { owner->FreeNow(address); });
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuDeviceGetDefaultMemPool(void** made, int ordinal) { return DefaultPool(made, ordinal); }
GPUOP_CUDA Cu cuDeviceGetMemPool(void** made, int ordinal) { return DefaultPool(made, ordinal); }
GPUOP_CUDA Cu cuDeviceSetMemPool(int ordinal, void* pool) {
  return WithPool(pool, [&](Driver& driver, Pool&) {
    return driver.FindDevice(ordinal) == nullptr ? Cu::kInvalidDevice : Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuMemPoolCreate(void** made, const MemPoolProps* props) {
  if (made == nullptr || props == nullptr) return Cu::kInvalidValue;
  return WithDriver([&](Driver& driver) {
    if (props->location.type != 1) return Cu::kNotSupported;  // CU_MEM_LOCATION_TYPE_DEVICE
    if (props->handle_types != 0) return Cu::kNotSupported;
    if (driver.FindDevice(props->location.id) == nullptr) return Cu::kInvalidDevice;
    *made = driver.pools.Add(std::make_shared<Pool>(Pool{.ordinal = props->location.id, .attributes = {}}));
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuMemPoolDestroy(void* handle) {
  return WithPool(handle, [&](Driver& driver, Pool& pool) {
    const Pool* given = driver.default_pools[static_cast<std::size_t>(pool.ordinal)];
    if (given == &pool) return Cu::kInvalidValue;
    driver.pools.Remove(handle);
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuMemPoolTrimTo(void* handle, std::size_t) {
  return WithPool(handle, [](Driver&, Pool&) { return Cu::kSuccess; });
}
GPUOP_CUDA Cu cuMemPoolSetAttribute(void* handle, int attribute, void* value) {
  return WithPool(handle, [&](Driver&, Pool& pool) {
    if (value == nullptr || attribute < kReuseFirst || attribute > kUsedHigh || attribute == kReserved ||
        attribute == kUsed)
      return Cu::kInvalidValue;
    std::uint64_t wide = 0;
    std::memcpy(&wide, value, attribute <= kReuseLast ? 4 : 8);
    pool.attributes[attribute] = wide;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuMemPoolGetAttribute(void* handle, int attribute, void* value) {
  return WithPool(handle, [&](Driver&, Pool& pool) {
    if (value == nullptr || attribute < kReuseFirst || attribute > kUsedHigh) return Cu::kInvalidValue;
    const auto set = pool.attributes.find(attribute);
    const std::uint64_t wide = set != pool.attributes.end() ? set->second : attribute <= kReuseLast ? 1 : 0;
    std::memcpy(value, &wide, attribute <= kReuseLast ? 4 : 8);
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuMemPoolSetAccess(void* handle, const MemAccess* access, std::size_t) {
  return WithPool(handle, [&](Driver&, Pool&) { return access == nullptr ? Cu::kInvalidValue : Cu::kSuccess; });
}
GPUOP_CUDA Cu cuMemPoolGetAccess(int* flags, void* handle, const MemLocation* location) {
  return WithPool(handle, [&](Driver&, Pool& pool) {
    if (flags == nullptr || location == nullptr) return Cu::kInvalidValue;
    *flags = location->id == pool.ordinal ? 3 : 0;
    return Cu::kSuccess;
  });
}

}  // namespace gpuop::machine::cuda
