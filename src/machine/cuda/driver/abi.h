#pragma once
// What of NVIDIA's cuda.h (13.x) this library speaks: our own declarations of its values and structures. e2e/cuda
// holds their sizes, offsets and values to that header.

#include <cstddef>
#include <cstdint>

namespace gpuop::machine::cuda {

/// CUresult.
enum class Cu : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kDeviceUnavailable = 46,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kEccUncorrectable = 214,
  kUnsupportedLimit = 215,
  kPeerAccessUnsupported = 217,
  kInvalidPtx = 218,
  kUnsupportedPtxVersion = 222,
  kFileNotFound = 301,
  kOperatingSystem = 304,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kPrimaryContextActive = 708,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidPc = 718,
  kLaunchFailed = 719,
  kCooperativeLaunchTooLarge = 720,
  kNotSupported = 801,
  kSystemNotReady = 802,
  kSystemDriverMismatch = 803,
  kStreamCaptureUnsupported = 900,
  kUnknown = 999,
};

struct Uuid {
  unsigned char bytes[16];
};

/// CUlaunchAttribute.
struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    int cooperative;
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
};
inline constexpr int kLaunchCooperative = 2, kLaunchClusterDimension = 4;

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  void* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

enum MemoryType : int { kMemoryHost = 1, kMemoryDevice = 2, kMemoryArray = 3, kMemoryUnified = 4 };

/// CUDA_MEMCPY2D_v2.
struct Memcpy2D {
  std::size_t src_x, src_y;
  int src_type;
  const void* src_host;
  std::uint64_t src_device;
  void* src_array;
  std::size_t src_pitch;
  std::size_t dst_x, dst_y;
  int dst_type;
  void* dst_host;
  std::uint64_t dst_device;
  void* dst_array;
  std::size_t dst_pitch;
  std::size_t width, height;
};

/// CUDA_MEMCPY3D_v2.
struct Memcpy3D {
  std::size_t src_x, src_y, src_z, src_lod;
  int src_type;
  const void* src_host;
  std::uint64_t src_device;
  void* src_array;
  void* reserved0;
  std::size_t src_pitch, src_height;
  std::size_t dst_x, dst_y, dst_z, dst_lod;
  int dst_type;
  void* dst_host;
  std::uint64_t dst_device;
  void* dst_array;
  void* reserved1;
  std::size_t dst_pitch, dst_height;
  std::size_t width, height, depth;
};

/// CUmemLocation and CUmemPoolProps.
struct MemLocation {
  int type;
  int id;
};
struct MemPoolProps {
  int alloc_type;
  int handle_types;
  MemLocation location;
  void* security;
  std::size_t max_size;
  unsigned short usage;
  unsigned char gpu_direct;
  unsigned char reserved[53];
};
struct MemAccess {
  MemLocation location;
  int flags;
};

enum JitOption : int {
  kJitInfoLog = 3,
  kJitInfoLogSize = 4,
  kJitErrorLog = 5,
  kJitErrorLogSize = 6,
};
enum JitInput : int { kJitCubin = 0, kJitPtx = 1, kJitFatbinary = 2, kJitObject = 3, kJitLibrary = 4 };

/// CUfunction_attribute.
enum FunctionAttribute : int {
  kFuncMaxThreads = 0,
  kFuncSharedBytes = 1,
  kFuncConstBytes = 2,
  kFuncLocalBytes = 3,
  kFuncRegisters = 4,
  kFuncPtxVersion = 5,
  kFuncBinaryVersion = 6,
  kFuncCacheModeCa = 7,
  kFuncMaxDynamicShared = 8,
  kFuncCarveout = 9,
  kFuncAttributes = 18,  ///< how many cuda.h knows
};

enum PointerAttribute : int {
  kPointerContext = 1,
  kPointerMemoryType = 2,
  kPointerDevice = 3,
  kPointerHost = 4,
  kPointerSyncMemops = 6,
  kPointerBufferId = 7,
  kPointerIsManaged = 8,
  kPointerOrdinal = 9,
  kPointerIpcCapable = 10,
  kPointerRangeStart = 11,
  kPointerRangeSize = 12,
  kPointerMapped = 13,
  kPointerHandleTypes = 14,
  kPointerGpuDirect = 15,
  kPointerAccess = 16,
  kPointerMempool = 17,
};

enum Limit : int { kLimitStack = 0, kLimitPrintf = 1, kLimitHeap = 2, kLimits = 11 };

}  // namespace gpuop::machine::cuda
