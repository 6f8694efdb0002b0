// Memory in three dimensions: slices of rows, each row with a pitch. There are no arrays.

#include "machine/cudart/driver.h"

namespace gpuop::machine::cudart {
namespace {

/// cudaExtent, cudaPos, cudaPitchedPtr and cudaMemcpy3DParms of CUDA 13. Widths and x of plain memory count bytes.
struct Extent {
  std::size_t width, height, depth;
};
struct Position {
  std::size_t x, y, z;
};
struct Pitched {
  void* pointer;
  std::size_t pitch, width, height;
};
struct CopyParameters {
  void* from_array;
  Position from_at;
  Pitched from;
  void* to_array;
  Position to_at;
  Pitched to;
  Extent extent;
  int kind;
};

/// cudaChannelFormatDesc.
struct ChannelFormat {
  int x, y, z, w, kind;
};

Error Copy(const CopyParameters* p, auto call) {
  if (p == nullptr) return Record(kInvalidValue);
  if (p->kind < 0 || p->kind > 4) return Record(kInvalidDirection);
  return WithDevice([&](const Driver& driver) {
    if (p->from_array != nullptr || p->to_array != nullptr) return Cu::kNotSupported;
    cuda::Memcpy3D copy{};
    copy.src_type = copy.dst_type = cuda::kMemoryUnified;
    copy.src_x = p->from_at.x, copy.src_y = p->from_at.y, copy.src_z = p->from_at.z;
    copy.src_device = Address(p->from.pointer), copy.src_pitch = p->from.pitch, copy.src_height = p->from.height;
    copy.dst_x = p->to_at.x, copy.dst_y = p->to_at.y, copy.dst_z = p->to_at.z;
    copy.dst_device = Address(p->to.pointer), copy.dst_pitch = p->to.pitch, copy.dst_height = p->to.height;
    copy.width = p->extent.width, copy.height = p->extent.height, copy.depth = p->extent.depth;
    return call(driver, copy);
  });
}

/// Slices of a volume follow each other, so a part that has all rows of them is one rectangle.
Error Fill(const Pitched& to, const Extent& extent, auto call) {
  return WithDevice([&](const Driver& driver) {
    for (std::size_t z = 0; z < extent.depth; ++z)
      if (const Cu rc = call(driver, Address(to.pointer) + z * to.pitch * to.height); rc != Cu::kSuccess) return rc;
    return Cu::kSuccess;
  });
}

}  // namespace

GPUOP_CUDART ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return {x, y, z, w, kind}; }
GPUOP_CUDART Error cudaMalloc3D(Pitched* made, Extent extent) {
  if (made == nullptr) return Record(kInvalidValue);
  return WithDevice([&](const Driver& driver) {
    std::uint64_t address = 0;
    std::size_t pitch = 0;
    const Cu rc = driver.MemAllocPitch(&address, &pitch, extent.width, extent.height * extent.depth, 4);
    if (rc == Cu::kSuccess) *made = {reinterpret_cast<void*>(address), pitch, extent.width, extent.height};
    return rc;
  });
}
GPUOP_CUDART Error cudaMemcpy3D(const CopyParameters* p) {
  return Copy(p, [](const Driver& driver, const cuda::Memcpy3D& copy) { return driver.Memcpy3D(&copy); });
}
GPUOP_CUDART Error cudaMemcpy3DAsync(const CopyParameters* p, void* stream) {
  return Copy(p, [&](const Driver& driver, const cuda::Memcpy3D& copy) { return driver.Memcpy3DAsync(&copy, stream); });
}
GPUOP_CUDART Error cudaMemset3D(Pitched to, int value, Extent extent) {
  return Fill(to, extent, [&](const Driver& driver, std::uint64_t slice) {
    return driver.MemsetD2D8(slice, to.pitch, static_cast<unsigned char>(value), extent.width, extent.height);
  });
}
GPUOP_CUDART Error cudaMemset3DAsync(Pitched to, int value, Extent extent, void* stream) {
  return Fill(to, extent, [&](const Driver& driver, std::uint64_t slice) {
    return driver.MemsetD2D8Async(slice, to.pitch, static_cast<unsigned char>(value), extent.width, extent.height,
                                  stream);
  });
}

}  // namespace gpuop::machine::cudart
