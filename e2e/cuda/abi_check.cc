// Our declarations of cuda.h and driver_types.h, held to NVIDIA's: compiling is the test.
#include <cuda.h>
#include <driver_types.h>

#include "machine/cuda/driver/abi.h"
#include "machine/cudart/device.h"

namespace ours = gpuop::machine::cuda;
using ours::Cu;

static_assert(static_cast<int>(Cu::kDeviceUnavailable) == CUDA_ERROR_DEVICE_UNAVAILABLE);
static_assert(static_cast<int>(Cu::kNoDevice) == CUDA_ERROR_NO_DEVICE);
static_assert(static_cast<int>(Cu::kInvalidImage) == CUDA_ERROR_INVALID_IMAGE);
static_assert(static_cast<int>(Cu::kInvalidContext) == CUDA_ERROR_INVALID_CONTEXT);
static_assert(static_cast<int>(Cu::kNoBinaryForGpu) == CUDA_ERROR_NO_BINARY_FOR_GPU);
static_assert(static_cast<int>(Cu::kEccUncorrectable) == CUDA_ERROR_ECC_UNCORRECTABLE);
static_assert(static_cast<int>(Cu::kInvalidPtx) == CUDA_ERROR_INVALID_PTX);
static_assert(static_cast<int>(Cu::kUnsupportedPtxVersion) == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
static_assert(static_cast<int>(Cu::kInvalidHandle) == CUDA_ERROR_INVALID_HANDLE);
static_assert(static_cast<int>(Cu::kNotFound) == CUDA_ERROR_NOT_FOUND);
static_assert(static_cast<int>(Cu::kIllegalAddress) == CUDA_ERROR_ILLEGAL_ADDRESS);
static_assert(static_cast<int>(Cu::kLaunchTimeout) == CUDA_ERROR_LAUNCH_TIMEOUT);
static_assert(static_cast<int>(Cu::kContextIsDestroyed) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
static_assert(static_cast<int>(Cu::kCooperativeLaunchTooLarge) == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
static_assert(static_cast<int>(Cu::kSystemDriverMismatch) == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
static_assert(static_cast<int>(Cu::kStreamCaptureUnsupported) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
static_assert(ours::kJitErrorLogSize == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES &&
              ours::kJitFatbinary == CU_JIT_INPUT_FATBINARY);
static_assert(ours::kFuncMaxDynamicShared == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(ours::kFuncAttributes == CU_FUNC_ATTRIBUTE_MAX);
static_assert(ours::kPointerMempool == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE && ours::kLimits == CU_LIMIT_MAX);
static_assert(ours::kLaunchCooperative == CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
static_assert(ours::kLaunchClusterDimension == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);

#define SAME(a, x, b, y) static_assert(offsetof(a, x) == offsetof(b, y))
static_assert(sizeof(ours::LaunchAttribute) == sizeof(CUlaunchAttribute));
SAME(ours::LaunchAttribute, value, CUlaunchAttribute, value);
static_assert(sizeof(ours::LaunchConfig) == sizeof(CUlaunchConfig));
SAME(ours::LaunchConfig, stream, CUlaunchConfig, hStream);
SAME(ours::LaunchConfig, attribute_count, CUlaunchConfig, numAttrs);
static_assert(sizeof(ours::Memcpy2D) == sizeof(CUDA_MEMCPY2D));
SAME(ours::Memcpy2D, dst_x, CUDA_MEMCPY2D, dstXInBytes);
SAME(ours::Memcpy2D, height, CUDA_MEMCPY2D, Height);
static_assert(sizeof(ours::Memcpy3D) == sizeof(CUDA_MEMCPY3D));
SAME(ours::Memcpy3D, src_pitch, CUDA_MEMCPY3D, srcPitch);
SAME(ours::Memcpy3D, dst_device, CUDA_MEMCPY3D, dstDevice);
SAME(ours::Memcpy3D, depth, CUDA_MEMCPY3D, Depth);
static_assert(sizeof(ours::MemPoolProps) == sizeof(CUmemPoolProps));
SAME(ours::MemPoolProps, max_size, CUmemPoolProps, maxSize);
static_assert(sizeof(ours::MemAccess) == sizeof(CUmemAccessDesc));

using Properties = gpuop::machine::cudart::DeviceProperties;
static_assert(sizeof(Properties) == sizeof(cudaDeviceProp));
SAME(Properties, total_memory, cudaDeviceProp, totalGlobalMem);
SAME(Properties, major, cudaDeviceProp, major);
SAME(Properties, multiprocessors, cudaDeviceProp, multiProcessorCount);
SAME(Properties, surface_alignment, cudaDeviceProp, surfaceAlignment);
SAME(Properties, l2_bytes, cudaDeviceProp, l2CacheSize);
SAME(Properties, shared_per_multiprocessor, cudaDeviceProp, sharedMemPerMultiprocessor);
SAME(Properties, shared_per_block_optin, cudaDeviceProp, sharedMemPerBlockOptin);
SAME(Properties, reserved_shared_per_block, cudaDeviceProp, reservedSharedMemPerBlock);
SAME(Properties, cluster_launch, cudaDeviceProp, clusterLaunch);
SAME(Properties, host_numa_multinode_ipc, cudaDeviceProp, hostNumaMultinodeIpcSupported);

int main() {}
