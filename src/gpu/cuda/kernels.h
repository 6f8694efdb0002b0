#pragma once

namespace gpuop::gpu::cuda {

/// The text of kernels.ptx beside this header, ended by a zero byte as the driver wants it.
const char* KernelsPtx();

}  // namespace gpuop::gpu::cuda
