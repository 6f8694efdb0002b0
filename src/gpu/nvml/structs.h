#pragma once
// NVML's structs and the numbers by which callers say which form of a struct they bring.

#include "gpu/nvml/device_structs.h"
#include "gpu/nvml/mig_structs.h"
#include "gpu/nvml/sample_structs.h"

namespace gpuop::gpu::nvml {

/// What the field `version` of a struct must hold: how large it is and which form it has.
template <class T>
constexpr unsigned VersionOf(unsigned form) {
  return static_cast<unsigned>(sizeof(T)) | form << 24;
}
inline constexpr unsigned kVersionOfPciInfoExtV1 = VersionOf<PciInfoExtV1>(1);  // nvmlPciInfoExt_v1
inline constexpr unsigned kVersionOfMemoryV2 = VersionOf<MemoryV2>(2);          // nvmlMemory_v2
inline constexpr unsigned kVersionOfProcessDetailListV1 =
    VersionOf<ProcessDetailListV1>(1);                                            // nvmlProcessDetailList_v1
inline constexpr unsigned kVersionOfC2cModeInfoV1 = VersionOf<C2cModeInfoV1>(1);  // nvmlC2cModeInfo_v1
inline constexpr unsigned kVersionOfDeviceAddressingModeV1 =
    VersionOf<DeviceAddressingModeV1>(1);                                           // nvmlDeviceAddressingMode_v1
inline constexpr unsigned kVersionOfRepairStatusV1 = VersionOf<RepairStatusV1>(1);  // nvmlRepairStatus_v1
inline constexpr unsigned kVersionOfUUIDV1 = VersionOf<UUIDV1>(1);                  // nvmlUUID_v1
inline constexpr unsigned kVersionOfProcessesUtilizationInfoV1 =
    VersionOf<ProcessesUtilizationInfoV1>(1);  // nvmlProcessesUtilizationInfo_v1
inline constexpr unsigned kVersionOfEccSramErrorStatusV1 =
    VersionOf<EccSramErrorStatusV1>(1);                                             // nvmlEccSramErrorStatus_v1
inline constexpr unsigned kVersionOfPlatformInfoV1 = VersionOf<PlatformInfoV1>(1);  // nvmlPlatformInfo_v1
inline constexpr unsigned kVersionOfPlatformInfoV2 = VersionOf<PlatformInfoV2>(2);  // nvmlPlatformInfo_v2
inline constexpr unsigned kVersionOfPowerValueV2 = VersionOf<PowerValueV2>(2);      // nvmlPowerValue_v2
inline constexpr unsigned kVersionOfSystemEventSetCreateRequestV1 =
    VersionOf<SystemEventSetCreateRequestV1>(1);  // nvmlSystemEventSetCreateRequest_v1
inline constexpr unsigned kVersionOfSystemEventSetFreeRequestV1 =
    VersionOf<SystemEventSetFreeRequestV1>(1);  // nvmlSystemEventSetFreeRequest_v1
inline constexpr unsigned kVersionOfSystemRegisterEventRequestV1 =
    VersionOf<SystemRegisterEventRequestV1>(1);  // nvmlSystemRegisterEventRequest_v1
inline constexpr unsigned kVersionOfSystemEventSetWaitRequestV1 =
    VersionOf<SystemEventSetWaitRequestV1>(1);  // nvmlSystemEventSetWaitRequest_v1
inline constexpr unsigned kVersionOfSystemConfComputeSettingsV1 =
    VersionOf<SystemConfComputeSettingsV1>(1);  // nvmlSystemConfComputeSettings_v1
inline constexpr unsigned kVersionOfSystemConfComputeSettingsV2 =
    VersionOf<SystemConfComputeSettingsV2>(2);  // nvmlSystemConfComputeSettings_v2
inline constexpr unsigned kVersionOfGpuFabricInfoV2 = VersionOf<GpuFabricInfoV2>(2);  // nvmlGpuFabricInfo_v2
inline constexpr unsigned kVersionOfGpuFabricInfoV3 = VersionOf<GpuFabricInfoV3>(3);  // nvmlGpuFabricInfo_v3
inline constexpr unsigned kVersionOfSystemDriverBranchInfoV1 =
    VersionOf<SystemDriverBranchInfoV1>(1);                                       // nvmlSystemDriverBranchInfo_v1
inline constexpr unsigned kVersionOfTemperatureV1 = VersionOf<TemperatureV1>(1);  // nvmlTemperature_v1
inline constexpr unsigned kVersionOfNvlinkSupportedBwModesV1 =
    VersionOf<NvlinkSupportedBwModesV1>(1);                                     // nvmlNvlinkSupportedBwModes_v1
inline constexpr unsigned kVersionOfNvLinkInfoV1 = VersionOf<NvLinkInfoV1>(1);  // nvmlNvLinkInfo_v1
inline constexpr unsigned kVersionOfNvLinkInfoV2 = VersionOf<NvLinkInfoV2>(2);  // nvmlNvLinkInfo_v2
inline constexpr unsigned kVersionOfGpuInstanceProfileInfoV2 =
    VersionOf<GpuInstanceProfileInfoV2>(2);  // nvmlGpuInstanceProfileInfo_v2
inline constexpr unsigned kVersionOfGpuInstanceProfileInfoV3 =
    VersionOf<GpuInstanceProfileInfoV3>(3);  // nvmlGpuInstanceProfileInfo_v3
inline constexpr unsigned kVersionOfComputeInstanceProfileInfoV2 =
    VersionOf<ComputeInstanceProfileInfoV2>(2);  // nvmlComputeInstanceProfileInfo_v2
inline constexpr unsigned kVersionOfComputeInstanceProfileInfoV3 =
    VersionOf<ComputeInstanceProfileInfoV3>(3);  // nvmlComputeInstanceProfileInfo_v3

}  // namespace gpuop::gpu::nvml
