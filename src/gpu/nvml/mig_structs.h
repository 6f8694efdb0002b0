#pragma once
// NVML's structs for MIG; see device_structs.h.

#include "gpu/nvml/types.h"

namespace gpuop::gpu::nvml {

/// nvmlDeviceAttributes_t: of a MIG device; memory in MiB.
struct DeviceAttributes {
  unsigned multiprocessorCount;
  unsigned sharedCopyEngineCount;
  unsigned sharedDecoderCount;
  unsigned sharedEncoderCount;
  unsigned sharedJpegCount;
  unsigned sharedOfaCount;
  unsigned gpuInstanceSliceCount;
  unsigned computeInstanceSliceCount;
  unsigned long long memorySizeMB;
};

/// nvmlGpuInstanceProfileInfo_t: memory in MiB; id is what create calls take.
struct GpuInstanceProfileInfo {
  unsigned id;
  unsigned isP2pSupported;
  unsigned sliceCount;
  unsigned instanceCount;
  unsigned multiprocessorCount;
  unsigned copyEngineCount;
  unsigned decoderCount;
  unsigned encoderCount;
  unsigned jpegCount;
  unsigned ofaCount;
  unsigned long long memorySizeMB;
};

/// nvmlGpuInstanceProfileInfo_v2_t: memory in MiB; id is what create calls take.
struct GpuInstanceProfileInfoV2 {
  unsigned version;
  unsigned id;
  unsigned isP2pSupported;
  unsigned sliceCount;
  unsigned instanceCount;
  unsigned multiprocessorCount;
  unsigned copyEngineCount;
  unsigned decoderCount;
  unsigned encoderCount;
  unsigned jpegCount;
  unsigned ofaCount;
  unsigned long long memorySizeMB;
  char name[96];
};

/// nvmlGpuInstancePlacement_t: in memory slices.
struct GpuInstancePlacement {
  unsigned start;
  unsigned size;
};

/// nvmlGpuInstanceInfo_t.
struct GpuInstanceInfo {
  Device device;
  unsigned id;
  unsigned profileId;
  GpuInstancePlacement placement;
};

/// nvmlComputeInstanceProfileInfo_t.
struct ComputeInstanceProfileInfo {
  unsigned id;
  unsigned sliceCount;
  unsigned instanceCount;
  unsigned multiprocessorCount;
  unsigned sharedCopyEngineCount;
  unsigned sharedDecoderCount;
  unsigned sharedEncoderCount;
  unsigned sharedJpegCount;
  unsigned sharedOfaCount;
};

/// nvmlComputeInstanceProfileInfo_v2_t.
struct ComputeInstanceProfileInfoV2 {
  unsigned version;
  unsigned id;
  unsigned sliceCount;
  unsigned instanceCount;
  unsigned multiprocessorCount;
  unsigned sharedCopyEngineCount;
  unsigned sharedDecoderCount;
  unsigned sharedEncoderCount;
  unsigned sharedJpegCount;
  unsigned sharedOfaCount;
  char name[96];
};

/// nvmlComputeInstancePlacement_t: in compute slices.
struct ComputeInstancePlacement {
  unsigned start;
  unsigned size;
};

/// nvmlComputeInstanceInfo_t.
struct ComputeInstanceInfo {
  Device device;
  GpuInstance gpuInstance;
  unsigned id;
  unsigned profileId;
  ComputeInstancePlacement placement;
};

/// nvmlGpuInstanceProfileInfo_v3_t: memory in MiB; id is what create calls take.
struct GpuInstanceProfileInfoV3 {
  unsigned version;
  unsigned id;
  unsigned sliceCount;
  unsigned instanceCount;
  unsigned multiprocessorCount;
  unsigned copyEngineCount;
  unsigned decoderCount;
  unsigned encoderCount;
  unsigned jpegCount;
  unsigned ofaCount;
  unsigned long long memorySizeMB;
  char name[96];
  unsigned capabilities;
};

/// nvmlComputeInstanceProfileInfo_v3_t.
struct ComputeInstanceProfileInfoV3 {
  unsigned version;
  unsigned id;
  unsigned sliceCount;
  unsigned instanceCount;
  unsigned multiprocessorCount;
  unsigned sharedCopyEngineCount;
  unsigned sharedDecoderCount;
  unsigned sharedEncoderCount;
  unsigned sharedJpegCount;
  unsigned sharedOfaCount;
  char name[96];
  unsigned capabilities;
};

}  // namespace gpuop::gpu::nvml
