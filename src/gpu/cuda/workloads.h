#pragma once
// Small programs by which a device proves that it computes: each runs a kernel and compares every bit of its results
// with the CPU's.

#include <cstdint>

#include "gpu/cuda/driver.h"

namespace gpuop::gpu::cuda {

/// A session with the kernels loaded.
Result<std::unique_ptr<Session>> OpenWorkloads(const Driver& driver, DeviceOrdinal device);

// Each is an error when the device cannot do it, and kIo with the first wrong element ("vector add: element 17 is
// 0x3f800000 instead of 0x40000000, 1 of 1024 wrong") when it computes wrongly.

Result<> RunVectorAdd(Session& session, unsigned count);
Result<> RunReduction(Session& session, unsigned count);
/// `edge` is a multiple of kTile.
Result<> RunMatrixProduct(Session& session, unsigned edge);
/// Fills `bytes` of device memory with a pattern and reads it back on the device.
Result<> RunMemoryPattern(Session& session, std::size_t bytes, std::uint32_t seed);

}  // namespace gpuop::gpu::cuda
