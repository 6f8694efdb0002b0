#include "gpu/cuda/kernels.h"

// GPUOP_KERNELS_PTX is the file's path; CMake knows that this file depends on it.
asm(".section .rodata\n"
    ".global gpuop_kernels_ptx\n"
    "gpuop_kernels_ptx:\n"
    ".incbin \"" GPUOP_KERNELS_PTX
    "\"\n"
    ".byte 0\n"
    ".previous\n");

extern "C" const char gpuop_kernels_ptx[];

namespace gpuop::gpu::cuda {

const char* KernelsPtx() { return gpuop_kernels_ptx; }

}  // namespace gpuop::gpu::cuda
