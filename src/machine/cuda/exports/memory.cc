// Memory: device, host, managed, from pools; what a pointer is.

#include <algorithm>
#include <cstring>

#include "machine/cuda/exports/process.h"

namespace gpuop::machine::cuda {
namespace {

/// Memory's pages are what host registration rounds to.
constexpr std::size_t kPitch = 512;

Cu AllocateHost(void** made, std::size_t bytes, unsigned flags) {
  if (made == nullptr) return Cu::kInvalidValue;
  return WithContext([&](Driver&, Context& context) {
    Allocation allocation;
    const Cu rc = context.Allocate(Allocation::Kind::kHost, bytes, allocation, flags);
    if (rc == Cu::kSuccess) *made = allocation.host;
    return rc;
  });
}

/// Frees with the context that owns the memory, whichever is current.
Cu Free(std::uint64_t base, std::initializer_list<Allocation::Kind> kinds) {
  return WithContext([&](Driver& driver, Context&) {
    const auto known = driver.allocations.Find(base);
    if (!known || known->base != base || std::ranges::find(kinds, known->kind) == kinds.end()) return Cu::kInvalidValue;
    return known->owner->Free(base);
  });
}

Cu Pointer(Driver& driver, void* data, int attribute, const Allocation& found, std::uint64_t address) {
  const bool device = found.kind == Allocation::Kind::kDevice;
  const std::uint64_t offset = address - found.base;
  const auto put = [&](auto value) {
    std::memcpy(data, &value, sizeof value);
    return Cu::kSuccess;
  };
  switch (attribute) {
    case kPointerContext: return put(static_cast<void*>(found.owner));
    case kPointerMemoryType:
      return put(
          static_cast<unsigned>(device || found.kind == Allocation::Kind::kManaged ? kMemoryDevice : kMemoryHost));
    case kPointerDevice: return put(address);
    case kPointerHost:
      if (device) return Cu::kInvalidValue;
      return put(static_cast<void*>(found.host + offset));
    case kPointerSyncMemops: return put(0);
    case kPointerBufferId: return put(found.id);
    case kPointerIsManaged: return put(found.kind == Allocation::Kind::kManaged ? 1 : 0);
    case kPointerOrdinal: return put(found.owner->device().ordinal);
    case kPointerIpcCapable: return put(0);
    case kPointerRangeStart: return put(found.base);
    case kPointerRangeSize: return put(found.size);
    case kPointerMapped: return put(1);
    case kPointerHandleTypes: return put(std::uint64_t{0});
    case kPointerGpuDirect: return put(0);
    case kPointerAccess: return put(3);
    case kPointerMempool:
      return put(static_cast<void*>(
          found.from_pool ? driver.default_pools[static_cast<std::size_t>(found.owner->device().ordinal)] : nullptr));
    default: return Cu::kInvalidValue;
  }
}

/// What an address that nobody allocated is: attributes that only make sense for memory are zero.
Cu NoPointer(void* data, int attribute) {
  const bool narrow = attribute == kPointerMemoryType || attribute == kPointerIsManaged || attribute == kPointerMapped;
  std::memset(data, 0, narrow ? 4 : 8);
  if (attribute != kPointerOrdinal) return Cu::kSuccess;
  const int nobody = -2;
  std::memcpy(data, &nobody, sizeof nobody);
  return Cu::kSuccess;
}

}  // namespace

GPUOP_CUDA Cu cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return WithContext([&](Driver&, Context& context) {
    const Client::Memory memory = context.memory();
    if (free != nullptr) *free = memory.free;
    if (total != nullptr) *total = memory.total;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuMemAlloc_v2(std::uint64_t* made, std::size_t bytes) {
  if (made == nullptr) return Cu::kInvalidValue;
  return WithContext([&](Driver&, Context& context) {
    Allocation allocation;
    const Cu rc = context.Allocate(Allocation::Kind::kDevice, bytes, allocation);
    if (rc == Cu::kSuccess) *made = allocation.base;
    return rc;
  });
}
GPUOP_CUDA Cu cuMemAllocPitch_v2(std::uint64_t* made, std::size_t* pitch, std::size_t width, std::size_t height,
                                 unsigned element) {
  if (pitch == nullptr || (element != 4 && element != 8 && element != 16) || width == 0 || height == 0)
    return Cu::kInvalidValue;
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return cuMemAlloc_v2(made, *pitch * height);
}
GPUOP_CUDA Cu cuMemFree_v2(std::uint64_t address) {
  if (address == 0) return WithContext([](Driver&, Context&) { return Cu::kSuccess; });
  return Free(address, {Allocation::Kind::kDevice, Allocation::Kind::kManaged});
}
GPUOP_CUDA Cu cuMemGetAddressRange_v2(std::uint64_t* base, std::size_t* bytes, std::uint64_t address) {
  return WithContext([&](Driver& driver, Context&) {
    const auto found = driver.allocations.Find(address);
    if (!found) return Cu::kNotFound;
    if (base != nullptr) *base = found->base;
    if (bytes != nullptr) *bytes = found->size;
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuMemAllocHost_v2(void** made, std::size_t bytes) { return AllocateHost(made, bytes, 0); }
GPUOP_CUDA Cu cuMemHostAlloc(void** made, std::size_t bytes, unsigned flags) {
  return AllocateHost(made, bytes, flags);
}
GPUOP_CUDA Cu cuMemFreeHost(void* address) {
  return Free(reinterpret_cast<std::uint64_t>(address), {Allocation::Kind::kHost});
}
GPUOP_CUDA Cu cuMemAllocManaged(std::uint64_t* made, std::size_t bytes, unsigned flags) {
  if (made == nullptr || (flags != 1 && flags != 2)) return Cu::kInvalidValue;
  return WithContext([&](Driver&, Context& context) {
    Allocation allocation;
    const Cu rc = context.Allocate(Allocation::Kind::kManaged, bytes, allocation, flags);
    if (rc == Cu::kSuccess) *made = allocation.base;
    return rc;
  });
}
GPUOP_CUDA Cu cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned flags) {
  if (address == nullptr || bytes == 0) return Cu::kInvalidValue;
  return WithContext([&](Driver& driver, Context& context) {
    return driver.allocations.Register(address, bytes, &context, flags) ? Cu::kSuccess
                                                                        : Cu::kHostMemoryAlreadyRegistered;
  });
}
GPUOP_CUDA Cu cuMemHostUnregister(void* address) {
  const Cu rc = Free(reinterpret_cast<std::uint64_t>(address), {Allocation::Kind::kRegistered});
  return rc == Cu::kInvalidValue ? Cu::kHostMemoryNotRegistered : rc;
}
GPUOP_CUDA Cu cuMemHostGetDevicePointer_v2(std::uint64_t* made, void* address, unsigned flags) {
  if (made == nullptr || flags != 0) return Cu::kInvalidValue;
  return WithContext([&](Driver& driver, Context&) {
    const auto found = driver.allocations.Find(reinterpret_cast<std::uint64_t>(address));
    if (!found || found->kind == Allocation::Kind::kDevice) return Cu::kInvalidValue;
    *made = reinterpret_cast<std::uint64_t>(address);
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuMemHostGetFlags(unsigned* flags, void* address) {
  return WithContext([&](Driver& driver, Context&) {
    const auto found = driver.allocations.Find(reinterpret_cast<std::uint64_t>(address));
    if (flags == nullptr || !found || found->kind != Allocation::Kind::kHost) return Cu::kInvalidValue;
    *flags = found->flags | 2U;  // CU_MEMHOSTALLOC_DEVICEMAP: always so with unified addressing
    return Cu::kSuccess;
  });
}

GPUOP_CUDA Cu cuPointerGetAttribute(void* data, int attribute, std::uint64_t address) {
  if (data == nullptr) return Cu::kInvalidValue;
  return WithDriver([&](Driver& driver) {
    const auto found = driver.allocations.Find(address);
    return found ? Pointer(driver, data, attribute, *found, address) : Cu::kInvalidValue;
  });
}
GPUOP_CUDA Cu cuPointerGetAttributes(unsigned count, const int* attributes, void** data, std::uint64_t address) {
  if (attributes == nullptr || data == nullptr) return Cu::kInvalidValue;
  return WithDriver([&](Driver& driver) {
    const auto found = driver.allocations.Find(address);
    for (unsigned i = 0; i < count; ++i)
      if (!found || Pointer(driver, data[i], attributes[i], *found, address) != Cu::kSuccess)
        NoPointer(data[i], attributes[i]);
    return Cu::kSuccess;
  });
}
GPUOP_CUDA Cu cuPointerSetAttribute(const void* value, int attribute, std::uint64_t address) {
  return WithDriver([&](Driver& driver) {
    const bool good = value != nullptr && attribute == kPointerSyncMemops && driver.allocations.Find(address);
    return good ? Cu::kSuccess : Cu::kInvalidValue;
  });
}

/// Managed memory is one and the same for host and devices: there is nothing to move, and no advice to take.
GPUOP_CUDA Cu cuMemPrefetchAsync(std::uint64_t address, std::size_t, int, void* stream) {
  return WithStream(stream, [&](Driver& driver, Context&, Stream*) {
    return driver.allocations.Find(address) ? Cu::kSuccess : Cu::kInvalidValue;
  });
}
GPUOP_CUDA Cu cuMemPrefetchAsync_v2(std::uint64_t address, std::size_t bytes, MemLocation, unsigned, void* stream) {
  return cuMemPrefetchAsync(address, bytes, 0, stream);
}
GPUOP_CUDA Cu cuMemAdvise(std::uint64_t address, std::size_t, int, int) {
  return WithDriver(
      [&](Driver& driver) { return driver.allocations.Find(address) ? Cu::kSuccess : Cu::kInvalidValue; });
}
GPUOP_CUDA Cu cuMemAdvise_v2(std::uint64_t address, std::size_t bytes, int advice, MemLocation) {
  return cuMemAdvise(address, bytes, advice, 0);
}

}  // namespace gpuop::machine::cuda
