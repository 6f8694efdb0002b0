#pragma once
// NVML's structs, declared by ourselves: fields have NVML's names and places, which abi_test holds to the published
// nvml.h. The comment on each struct is NVML's name of it.

#include "gpu/nvml/constants.h"
#include "gpu/nvml/types.h"

namespace gpuop::gpu::nvml {

/// nvmlSystemDriverBranchInfo_v1_t.
struct SystemDriverBranchInfoV1 {
  unsigned version;
  char branch[80];
};

/// nvmlUUIDValue_t.
union UUIDValue {
  char str[41];
  unsigned char bytes[16];
};

/// nvmlUUID_v1_t.
struct UUIDV1 {
  unsigned version;
  unsigned type;
  UUIDValue value;
};

/// nvmlC2cModeInfo_v1_t.
struct C2cModeInfoV1 {
  unsigned isC2cEnabled;
};

/// nvmlDeviceAddressingMode_v1_t.
struct DeviceAddressingModeV1 {
  unsigned version;
  unsigned value;
};

/// nvmlRepairStatus_v1_t.
struct RepairStatusV1 {
  unsigned version;
  unsigned bChannelRepairPending;
  unsigned bTpcRepairPending;
};

/// nvmlUnrepairableMemoryStatus_v1_t.
struct UnrepairableMemoryStatusV1 {
  unsigned bUnrepairableMemory;
};

/// nvmlPciInfoExt_v1_t.
struct PciInfoExtV1 {
  unsigned version;
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pciDeviceId;
  unsigned pciSubSystemId;
  unsigned baseClass;
  unsigned subClass;
  char busId[32];
};

/// nvmlPciInfo_t.
struct PciInfo {
  char busIdLegacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pciDeviceId;
  unsigned pciSubSystemId;
  char busId[32];
};

/// nvmlTemperature_v1_t.
struct TemperatureV1 {
  unsigned version;
  TemperatureSensors sensorType;
  int temperature;
};

/// nvmlMemory_t: bytes.
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

/// nvmlMemory_v2_t: bytes.
struct MemoryV2 {
  unsigned version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};

/// nvmlEccErrorCounts_t.
struct EccErrorCounts {
  unsigned long long l1Cache;
  unsigned long long l2Cache;
  unsigned long long deviceMemory;
  unsigned long long registerFile;
};

/// nvmlBAR1Memory_t: bytes.
struct BAR1Memory {
  unsigned long long bar1Total;
  unsigned long long bar1Free;
  unsigned long long bar1Used;
};

/// nvmlViolationTime_t.
struct ViolationTime {
  unsigned long long referenceTime;
  unsigned long long violationTime;
};

/// nvmlGpuFabricInfo_t.
struct GpuFabricInfo {
  unsigned char clusterUuid[16];
  Return status;
  unsigned cliqueId;
  unsigned char state;
};

/// nvmlGpuFabricInfo_v3_t.
struct GpuFabricInfoV3 {
  unsigned version;
  unsigned char clusterUuid[16];
  Return status;
  unsigned cliqueId;
  unsigned char state;
  unsigned healthMask;
  unsigned char healthSummary;
};

/// nvmlConfComputeSystemCaps_t.
struct ConfComputeSystemCaps {
  unsigned cpuCaps;
  unsigned gpusCaps;
};

/// nvmlConfComputeSystemState_t.
struct ConfComputeSystemState {
  unsigned environment;
  unsigned ccFeature;
  unsigned devToolsMode;
};

/// nvmlConfComputeMemSizeInfo_t.
struct ConfComputeMemSizeInfo {
  unsigned long long protectedMemSizeKib;
  unsigned long long unprotectedMemSizeKib;
};

/// nvmlSystemConfComputeSettings_v1_t.
struct SystemConfComputeSettingsV1 {
  unsigned version;
  unsigned environment;
  unsigned ccFeature;
  unsigned devToolsMode;
  unsigned multiGpuMode;
};

/// nvmlSystemConfComputeSettings_v2_t.
struct SystemConfComputeSettingsV2 {
  unsigned version;
  unsigned environment;
  unsigned ccFeature;
  unsigned devToolsMode;
  unsigned multiGpuMode;
  unsigned tdispState;
};

/// nvmlEccSramErrorStatus_v1_t.
struct EccSramErrorStatusV1 {
  unsigned version;
  unsigned long long aggregateUncParity;
  unsigned long long aggregateUncSecDed;
  unsigned long long aggregateCor;
  unsigned long long volatileUncParity;
  unsigned long long volatileUncSecDed;
  unsigned long long volatileCor;
  unsigned long long aggregateUncBucketL2;
  unsigned long long aggregateUncBucketSm;
  unsigned long long aggregateUncBucketPcie;
  unsigned long long aggregateUncBucketMcu;
  unsigned long long aggregateUncBucketOther;
  unsigned bThresholdExceeded;
};

/// nvmlPowerValue_v2_t.
struct PowerValueV2 {
  unsigned version;
  unsigned char powerScope;
  unsigned powerValueMw;
};

/// nvmlRowRemapperHistogramValues_t.
struct RowRemapperHistogramValues {
  unsigned max;
  unsigned high;
  unsigned partial;
  unsigned low;
  unsigned none;
};

/// nvmlPlatformInfo_v2_t.
struct PlatformInfoV2 {
  unsigned version;
  unsigned char ibGuid[16];
  unsigned char chassisSerialNumber[16];
  unsigned char slotNumber;
  unsigned char trayIndex;
  unsigned char hostId;
  unsigned char peerType;
  unsigned char moduleId;
};

/// nvmlNvlinkSupportedBwModes_v1_t.
struct NvlinkSupportedBwModesV1 {
  unsigned version;
  unsigned char bwModes[23];
  unsigned char totalBwModes;
};

/// nvmlNvlinkFirmwareVersion_t.
struct NvlinkFirmwareVersion {
  unsigned char ucodeType;
  unsigned major;
  unsigned minor;
  unsigned subMinor;
};

/// nvmlNvlinkFirmwareInfo_t.
struct NvlinkFirmwareInfo {
  NvlinkFirmwareVersion firmwareVersion[100];
  unsigned numValidEntries;
};

/// nvmlNvLinkInfo_v2_t.
struct NvLinkInfoV2 {
  unsigned version;
  unsigned isNvleEnabled;
  NvlinkFirmwareInfo firmwareInfo;
};

/// nvmlGpuFabricInfo_v2_t.
struct GpuFabricInfoV2 {
  unsigned version;
  unsigned char clusterUuid[16];
  Return status;
  unsigned cliqueId;
  unsigned char state;
  unsigned healthMask;
};

/// nvmlNvLinkInfo_v1_t.
struct NvLinkInfoV1 {
  unsigned version;
  unsigned isNvleEnabled;
};

/// nvmlPlatformInfo_v1_t.
struct PlatformInfoV1 {
  unsigned version;
  unsigned char ibGuid[16];
  unsigned char rackGuid[16];
  unsigned char chassisPhysicalSlotNumber;
  unsigned char computeSlotIndex;
  unsigned char nodeIndex;
  unsigned char peerType;
  unsigned char moduleId;
};

}  // namespace gpuop::gpu::nvml
