// Memory and copies of bytes and rectangles.

#include <cstring>

#include "machine/cudart/driver.h"

namespace gpuop::machine::cudart {
namespace {

/// cudaPointerAttributes of CUDA 13.
struct PointerAttributes {
  int type;  ///< 0 unregistered, 1 host, 2 device, 3 managed
  int device;
  void* device_pointer;
  void* host_pointer;
  long reserved[8];
};

void** Out(std::uint64_t* address) { return reinterpret_cast<void**>(address); }

cuda::Memcpy2D Rectangle(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height) {
  cuda::Memcpy2D copy{};
  copy.src_type = copy.dst_type = cuda::kMemoryUnified;
  copy.src_device = Address(from);
  copy.dst_device = Address(to);
  copy.src_pitch = from_pitch;
  copy.dst_pitch = to_pitch;
  copy.width = width;
  copy.height = height;
  return copy;
}

}  // namespace

GPUOP_CUDART Error cudaMalloc(void** made, std::size_t bytes) {
  return WithDevice([&](const Driver& driver) {
    std::uint64_t address = 0;
    if (made == nullptr) return Cu::kInvalidValue;
    const Cu rc = bytes == 0 ? Cu::kSuccess : driver.MemAlloc(&address, bytes);
    *made = *Out(&address);
    return rc;
  });
}
GPUOP_CUDART Error cudaFree(void* address) {
  return WithDevice([&](const Driver& driver) { return driver.MemFree(Address(address)); });
}
GPUOP_CUDART Error cudaMallocPitch(void** made, std::size_t* pitch, std::size_t width, std::size_t height) {
  return WithDevice([&](const Driver& driver) {
    std::uint64_t address = 0;
    const Cu rc = driver.MemAllocPitch(&address, pitch, width, height, 4);
    if (rc == Cu::kSuccess) *made = *Out(&address);
    return rc;
  });
}
GPUOP_CUDART Error cudaHostAlloc(void** made, std::size_t bytes, unsigned flags) {
  return WithDevice([&](const Driver& driver) { return driver.MemHostAlloc(made, bytes, flags); });
}
GPUOP_CUDART Error cudaMallocHost(void** made, std::size_t bytes) { return cudaHostAlloc(made, bytes, 0); }
GPUOP_CUDART Error cudaFreeHost(void* address) {
  return WithDevice(
      [&](const Driver& driver) { return address == nullptr ? Cu::kSuccess : driver.MemFreeHost(address); });
}
GPUOP_CUDART Error cudaHostRegister(void* address, std::size_t bytes, unsigned flags) {
  return WithDevice([&](const Driver& driver) { return driver.MemHostRegister(address, bytes, flags); });
}
GPUOP_CUDART Error cudaHostUnregister(void* address) {
  return WithDevice([&](const Driver& driver) { return driver.MemHostUnregister(address); });
}
GPUOP_CUDART Error cudaHostGetDevicePointer(void** made, void* address, unsigned flags) {
  return WithDevice([&](const Driver& driver) {
    std::uint64_t got = 0;
    const Cu rc = driver.MemHostGetDevicePointer(&got, address, flags);
    if (rc == Cu::kSuccess) *made = *Out(&got);
    return rc;
  });
}
GPUOP_CUDART Error cudaHostGetFlags(unsigned* flags, void* address) {
  return WithDevice([&](const Driver& driver) { return driver.MemHostGetFlags(flags, address); });
}
GPUOP_CUDART Error cudaMallocManaged(void** made, std::size_t bytes, unsigned flags) {
  return WithDevice([&](const Driver& driver) {
    std::uint64_t address = 0;
    const Cu rc = driver.MemAllocManaged(&address, bytes, flags);
    if (rc == Cu::kSuccess) *made = *Out(&address);
    return rc;
  });
}
GPUOP_CUDART Error cudaMallocAsync(void** made, std::size_t bytes, void* stream) {
  return WithDevice([&](const Driver& driver) {
    std::uint64_t address = 0;
    const Cu rc = driver.MemAllocAsync(&address, bytes, stream);
    if (rc == Cu::kSuccess) *made = *Out(&address);
    return rc;
  });
}
GPUOP_CUDART Error cudaFreeAsync(void* address, void* stream) {
  return WithDevice([&](const Driver& driver) { return driver.MemFreeAsync(Address(address), stream); });
}
/// cudaMemLocation is CUmemLocation, and the advice is the driver's.
GPUOP_CUDART Error cudaMemPrefetchAsync(const void* address, std::size_t bytes, cuda::MemLocation to, unsigned flags,
                                        void* stream) {
  return WithDevice(
      [&](const Driver& driver) { return driver.MemPrefetchAsync(Address(address), bytes, to, flags, stream); });
}
GPUOP_CUDART Error cudaMemAdvise(const void* address, std::size_t bytes, int advice, cuda::MemLocation where) {
  return WithDevice([&](const Driver& driver) { return driver.MemAdvise(Address(address), bytes, advice, where); });
}
GPUOP_CUDART Error cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return WithDevice([&](const Driver& driver) { return driver.MemGetInfo(free, total); });
}

/// Directions 0 to 4; with unified addressing each address says by itself what it is.
GPUOP_CUDART Error cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  if (kind < 0 || kind > 4) return Record(kInvalidDirection);
  return WithDevice([&](const Driver& driver) { return driver.Memcpy(Address(to), Address(from), bytes); });
}
GPUOP_CUDART Error cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* stream) {
  if (kind < 0 || kind > 4) return Record(kInvalidDirection);
  return WithDevice(
      [&](const Driver& driver) { return driver.MemcpyAsync(Address(to), Address(from), bytes, stream); });
}
GPUOP_CUDART Error cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes) {
  return cudaMemcpy(to, from, bytes, 3);
}
GPUOP_CUDART Error cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes, void* stream) {
  return cudaMemcpyAsync(to, from, bytes, 3, stream);
}
GPUOP_CUDART Error cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                std::size_t width, std::size_t height, int) {
  return WithDevice([&](const Driver& driver) {
    const cuda::Memcpy2D copy = Rectangle(to, to_pitch, from, from_pitch, width, height);
    return driver.Memcpy2D(&copy);
  });
}
GPUOP_CUDART Error cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                     std::size_t width, std::size_t height, int, void* stream) {
  return WithDevice([&](const Driver& driver) {
    const cuda::Memcpy2D copy = Rectangle(to, to_pitch, from, from_pitch, width, height);
    return driver.Memcpy2DAsync(&copy, stream);
  });
}
GPUOP_CUDART Error cudaMemset(void* to, int value, std::size_t bytes) {
  return WithDevice(
      [&](const Driver& driver) { return driver.MemsetD8(Address(to), static_cast<unsigned char>(value), bytes); });
}
GPUOP_CUDART Error cudaMemsetAsync(void* to, int value, std::size_t bytes, void* stream) {
  return WithDevice([&](const Driver& driver) {
    return driver.MemsetD8Async(Address(to), static_cast<unsigned char>(value), bytes, stream);
  });
}
GPUOP_CUDART Error cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return WithDevice([&](const Driver& driver) {
    return driver.MemsetD2D8(Address(to), pitch, static_cast<unsigned char>(value), width, height);
  });
}
GPUOP_CUDART Error cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                                     void* stream) {
  return WithDevice([&](const Driver& driver) {
    return driver.MemsetD2D8Async(Address(to), pitch, static_cast<unsigned char>(value), width, height, stream);
  });
}
GPUOP_CUDART Error cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  if (attributes == nullptr) return Record(kInvalidValue);
  return WithDevice([&](const Driver& driver) {
    unsigned type = 0;
    int managed = 0, ordinal = 0;
    std::uint64_t device = 0;
    const int asked[] = {cuda::kPointerMemoryType, cuda::kPointerIsManaged, cuda::kPointerOrdinal,
                         cuda::kPointerDevice};
    void* places[] = {&type, &managed, &ordinal, &device};
    const Cu rc = driver.PointerGetAttributes(4, asked, places, Address(pointer));
    std::memset(attributes, 0, sizeof *attributes);
    attributes->type = managed != 0 ? 3 : static_cast<int>(type);
    attributes->device = ordinal;
    attributes->device_pointer = *Out(&device);
    if (type != cuda::kMemoryDevice || managed != 0) attributes->host_pointer = const_cast<void*>(pointer);
    return rc;
  });
}

}  // namespace gpuop::machine::cudart
