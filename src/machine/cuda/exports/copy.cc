// Copies and fills.

#include <algorithm>
#include <cstring>
#include <optional>

#include "machine/cuda/exports/process.h"

namespace gpuop::machine::cuda {
namespace {

/// Where an address's bytes are on the host, if `bytes` of them are all of one piece.
struct Bytes {
  std::byte* host = nullptr;
  bool pinned = false;  ///< memory that the driver knows
  Context* owner = nullptr;
};

/// Of the driver's memory or, where `program` allows it, the program's own.
std::optional<Bytes> BytesAt(Driver& driver, std::uint64_t address, std::uint64_t bytes, bool program) {
  const auto found = driver.allocations.Find(address);
  if (!found) {
    if (!program || address == 0) return std::nullopt;
    return Bytes{reinterpret_cast<std::byte*>(address)};
  }
  const std::uint64_t offset = address - found->base;
  if (bytes > found->size - offset) return std::nullopt;
  return Bytes{found->host + offset, true, found->owner};
}

/// `wait`: the call returns when it is done. Memory that is not pinned is always waited for: the program may reuse it.
Cu Move(Driver& driver, Context& context, Stream* stream, std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
        bool to_program, bool from_program, bool wait) {
  if (bytes == 0) return Cu::kSuccess;
  const auto target = BytesAt(driver, to, bytes, to_program), source = BytesAt(driver, from, bytes, from_program);
  if (!target || !source) return Cu::kInvalidValue;
  // A copy between devices that the caller waits for comes after what was asked of the other device before.
  for (Context* owner : {target->owner, source->owner})
    if (wait && owner != nullptr && owner != &context) owner->Synchronize(nullptr);
  const Queue::Ticket ticket =
      context.Push(stream, [t = target->host, s = source->host, bytes] { std::memmove(t, s, bytes); });
  if (!wait && target->pinned && source->pinned) return Cu::kSuccess;
  context.Wait(ticket);
  return context.Check();
}

std::uint64_t Address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

Cu Copy(std::uint64_t to, std::uint64_t from, std::size_t bytes, bool to_program, bool from_program, bool wait,
        void* stream) {
  return WithStream(stream, [&](Driver& driver, Context& context, Stream* on) {
    return Move(driver, context, on, to, from, bytes, to_program, from_program, wait);
  });
}

/// One side of a copy of two or three dimensions.
struct Side {
  int type = 0;
  std::uint64_t address = 0;
  std::size_t x = 0, pitch = 0, slice = 0;  ///< slice: bytes from one plane to the next
};

Cu CopyPlanes(const Side& to, const Side& from, std::size_t width, std::size_t height, std::size_t depth, bool wait,
              void* stream) {
  if (to.type == kMemoryArray || from.type == kMemoryArray) return Cu::kNotSupported;
  if (width == 0 || height == 0 || depth == 0) return Cu::kSuccess;
  if (height > 1 && (to.pitch < width || from.pitch < width)) return Cu::kInvalidValue;
  return WithStream(stream, [&](Driver& driver, Context& context, Stream* on) {
    const auto extent = [&](const Side& side) { return (depth - 1) * side.slice + (height - 1) * side.pitch + width; };
    const auto target = BytesAt(driver, to.address, extent(to), to.type != kMemoryDevice);
    const auto source = BytesAt(driver, from.address, extent(from), from.type != kMemoryDevice);
    if (!target || !source) return Cu::kInvalidValue;
    const Queue::Ticket ticket = context.Push(on, [=, t = target->host, s = source->host] {
      for (std::size_t z = 0; z < depth; ++z)
        for (std::size_t y = 0; y < height; ++y)
          std::memmove(t + z * to.slice + y * to.pitch, s + z * from.slice + y * from.pitch, width);
    });
    if (!wait && target->pinned && source->pinned) return Cu::kSuccess;
    context.Wait(ticket);
    return context.Check();
  });
}

Cu Copy2D(const Memcpy2D* copy, bool wait, void* stream) {
  if (copy == nullptr) return Cu::kInvalidValue;
  const auto base = [](int type, const void* host, std::uint64_t device) {
    return type == kMemoryHost ? Address(host) : device;
  };
  const Side to{copy->dst_type,
                base(copy->dst_type, copy->dst_host, copy->dst_device) + copy->dst_y * copy->dst_pitch + copy->dst_x,
                copy->dst_x, copy->dst_pitch, 0};
  const Side from{copy->src_type,
                  base(copy->src_type, copy->src_host, copy->src_device) + copy->src_y * copy->src_pitch + copy->src_x,
                  copy->src_x, copy->src_pitch, 0};
  return CopyPlanes(to, from, copy->width, copy->height, 1, wait, stream);
}

Cu Copy3D(const Memcpy3D* copy, bool wait, void* stream) {
  if (copy == nullptr) return Cu::kInvalidValue;
  const std::size_t to_slice = copy->dst_pitch * copy->dst_height, from_slice = copy->src_pitch * copy->src_height;
  const std::uint64_t to_base = copy->dst_type == kMemoryHost ? Address(copy->dst_host) : copy->dst_device;
  const std::uint64_t from_base = copy->src_type == kMemoryHost ? Address(copy->src_host) : copy->src_device;
  const Side to{copy->dst_type, to_base + copy->dst_z * to_slice + copy->dst_y * copy->dst_pitch + copy->dst_x,
                copy->dst_x, copy->dst_pitch, to_slice};
  const Side from{copy->src_type, from_base + copy->src_z * from_slice + copy->src_y * copy->src_pitch + copy->src_x,
                  copy->src_x, copy->src_pitch, from_slice};
  return CopyPlanes(to, from, copy->width, copy->height, copy->depth, wait, stream);
}

template <class T>
Cu Fill(std::uint64_t to, std::size_t pitch, T value, std::size_t width, std::size_t height, void* stream) {
  if (to % sizeof(T) != 0) return Cu::kInvalidValue;
  return WithStream(stream, [&](Driver& driver, Context& context, Stream* on) {
    if (width == 0 || height == 0) return Cu::kSuccess;
    const std::size_t bytes = width * sizeof(T);
    if (height > 1 && pitch < bytes) return Cu::kInvalidValue;
    const auto target = BytesAt(driver, to, (height - 1) * pitch + bytes, false);
    if (!target) return Cu::kInvalidValue;
    context.Push(on, [=, t = target->host] {
      for (std::size_t y = 0; y < height; ++y) std::fill_n(reinterpret_cast<T*>(t + y * pitch), width, value);
    });
    return Cu::kSuccess;
  });
}

}  // namespace

GPUOP_CUDA Cu cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  return Copy(to, Address(from), bytes, false, true, true, nullptr);
}
GPUOP_CUDA Cu cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  return Copy(Address(to), from, bytes, true, false, true, nullptr);
}
GPUOP_CUDA Cu cuMemcpyDtoD_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  return Copy(to, from, bytes, false, false, false, nullptr);
}
GPUOP_CUDA Cu cuMemcpy(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  return Copy(to, from, bytes, true, true, true, nullptr);
}
GPUOP_CUDA Cu cuMemcpyPeer(std::uint64_t to, void*, std::uint64_t from, void*, std::size_t bytes) {
  return Copy(to, from, bytes, false, false, true, nullptr);
}
GPUOP_CUDA Cu cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void* stream) {
  return Copy(to, Address(from), bytes, false, true, false, stream);
}
GPUOP_CUDA Cu cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void* stream) {
  return Copy(Address(to), from, bytes, true, false, false, stream);
}
GPUOP_CUDA Cu cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, void* stream) {
  return Copy(to, from, bytes, false, false, false, stream);
}
GPUOP_CUDA Cu cuMemcpyAsync(std::uint64_t to, std::uint64_t from, std::size_t bytes, void* stream) {
  return Copy(to, from, bytes, true, true, false, stream);
}
GPUOP_CUDA Cu cuMemcpyPeerAsync(std::uint64_t to, void*, std::uint64_t from, void*, std::size_t bytes, void* stream) {
  return Copy(to, from, bytes, false, false, false, stream);
}
GPUOP_CUDA Cu cuMemcpy2D_v2(const Memcpy2D* copy) { return Copy2D(copy, true, nullptr); }
GPUOP_CUDA Cu cuMemcpy2DUnaligned_v2(const Memcpy2D* copy) { return Copy2D(copy, true, nullptr); }
GPUOP_CUDA Cu cuMemcpy2DAsync_v2(const Memcpy2D* copy, void* stream) { return Copy2D(copy, false, stream); }
GPUOP_CUDA Cu cuMemcpy3D_v2(const Memcpy3D* copy) { return Copy3D(copy, true, nullptr); }
GPUOP_CUDA Cu cuMemcpy3DAsync_v2(const Memcpy3D* copy, void* stream) { return Copy3D(copy, false, stream); }

GPUOP_CUDA Cu cuMemsetD8_v2(std::uint64_t to, unsigned char value, std::size_t count) {
  return Fill(to, 0, value, count, 1, nullptr);
}
GPUOP_CUDA Cu cuMemsetD16_v2(std::uint64_t to, unsigned short value, std::size_t count) {
  return Fill(to, 0, value, count, 1, nullptr);
}
GPUOP_CUDA Cu cuMemsetD32_v2(std::uint64_t to, unsigned value, std::size_t count) {
  return Fill(to, 0, value, count, 1, nullptr);
}
GPUOP_CUDA Cu cuMemsetD2D8_v2(std::uint64_t to, std::size_t pitch, unsigned char value, std::size_t width,
                              std::size_t height) {
  return Fill(to, pitch, value, width, height, nullptr);
}
GPUOP_CUDA Cu cuMemsetD2D16_v2(std::uint64_t to, std::size_t pitch, unsigned short value, std::size_t width,
                               std::size_t height) {
  return Fill(to, pitch, value, width, height, nullptr);
}
GPUOP_CUDA Cu cuMemsetD2D32_v2(std::uint64_t to, std::size_t pitch, unsigned value, std::size_t width,
                               std::size_t height) {
  return Fill(to, pitch, value, width, height, nullptr);
}
GPUOP_CUDA Cu cuMemsetD8Async(std::uint64_t to, unsigned char value, std::size_t count, void* stream) {
  return Fill(to, 0, value, count, 1, stream);
}
GPUOP_CUDA Cu cuMemsetD16Async(std::uint64_t to, unsigned short value, std::size_t count, void* stream) {
  return Fill(to, 0, value, count, 1, stream);
}
GPUOP_CUDA Cu cuMemsetD32Async(std::uint64_t to, unsigned value, std::size_t count, void* stream) {
  return Fill(to, 0, value, count, 1, stream);
}
GPUOP_CUDA Cu cuMemsetD2D8Async(std::uint64_t to, std::size_t pitch, unsigned char value, std::size_t width,
                                std::size_t height, void* stream) {
  return Fill(to, pitch, value, width, height, stream);
}
GPUOP_CUDA Cu cuMemsetD2D16Async(std::uint64_t to, std::size_t pitch, unsigned short value, std::size_t width,
                                 std::size_t height, void* stream) {
  return Fill(to, pitch, value, width, height, stream);
}
GPUOP_CUDA Cu cuMemsetD2D32Async(std::uint64_t to, std::size_t pitch, unsigned value, std::size_t width,
                                 std::size_t height, void* stream) {
  return Fill(to, pitch, value, width, height, stream);
}

}  // namespace gpuop::machine::cuda
