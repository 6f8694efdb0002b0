#pragma once
// NVML's functions, one line each: X(name, parameters…) for `nvmlReturn_t nvml<name>(parameters…)`. The loader makes
// its table of pointers from these lists, a library that stands in for NVML its exports. Names and parameters are those
// of the published nvml.h, to which abi_test holds them. nvmlErrorString alone is not here: it answers a text.

#include "gpu/nvml/structs.h"

/// Start, end, and the system as a whole.
#define GPUOP_NVML_SYSTEM_FUNCTIONS(X)                                                   \
  X(Init_v2)                                                                             \
  X(InitWithFlags, unsigned flags)                                                       \
  X(Shutdown)                                                                            \
  X(SystemGetDriverVersion, char* version, unsigned length)                              \
  X(SystemGetNVMLVersion, char* version, unsigned length)                                \
  X(SystemGetCudaDriverVersion, int* cuda_driver_version)                                \
  X(SystemGetCudaDriverVersion_v2, int* cuda_driver_version)                             \
  X(SystemGetProcessName, unsigned pid, char* name, unsigned length)                     \
  X(SystemGetTopologyGpuSet, unsigned cpu_number, unsigned* count, Device* device_array) \
  X(SystemGetDriverBranch, SystemDriverBranchInfoV1* branch_info, unsigned length)       \
  X(UnitGetCount, unsigned* unit_count)                                                  \
  X(SystemGetConfComputeCapabilities, ConfComputeSystemCaps* capabilities)               \
  X(SystemGetConfComputeState, ConfComputeSystemState* state)                            \
  X(SystemGetConfComputeGpusReadyState, unsigned* is_accepting_work)                     \
  X(SystemGetConfComputeSettings, SystemConfComputeSettingsV1* settings)                 \
  X(SystemGetConfComputeSettings_v2, SystemConfComputeSettingsV2* settings)

/// MIG: mode, profiles, GPU and compute instances, MIG devices.
#define GPUOP_NVML_MIG_FUNCTIONS(X)                                                                                    \
  X(DeviceGetAttributes_v2, Device device, DeviceAttributes* attributes)                                               \
  X(DeviceSetMigMode, Device device, unsigned mode, Return* activation_status)                                         \
  X(DeviceGetMigMode, Device device, unsigned* current_mode, unsigned* pending_mode)                                   \
  X(DeviceGetGpuInstanceProfileInfo, Device device, unsigned profile, GpuInstanceProfileInfo* info)                    \
  X(DeviceGetGpuInstanceProfileInfoV, Device device, unsigned profile, GpuInstanceProfileInfoV2* info)                 \
  X(DeviceGetGpuInstanceProfileInfoByIdV, Device device, unsigned profile_id, GpuInstanceProfileInfoV2* info)          \
  X(DeviceGetGpuInstancePossiblePlacements_v2, Device device, unsigned profile_id, GpuInstancePlacement* placements,   \
    unsigned* count)                                                                                                   \
  X(DeviceGetGpuInstanceRemainingCapacity, Device device, unsigned profile_id, unsigned* count)                        \
  X(DeviceCreateGpuInstance, Device device, unsigned profile_id, GpuInstance* gpu_instance)                            \
  X(DeviceCreateGpuInstanceWithPlacement, Device device, unsigned profile_id, const GpuInstancePlacement* placement,   \
    GpuInstance* gpu_instance)                                                                                         \
  X(GpuInstanceDestroy, GpuInstance gpu_instance)                                                                      \
  X(DeviceGetGpuInstances, Device device, unsigned profile_id, GpuInstance* gpu_instances, unsigned* count)            \
  X(DeviceGetGpuInstanceById, Device device, unsigned id, GpuInstance* gpu_instance)                                   \
  X(GpuInstanceGetInfo, GpuInstance gpu_instance, GpuInstanceInfo* info)                                               \
  X(GpuInstanceGetComputeInstanceProfileInfo, GpuInstance gpu_instance, unsigned profile, unsigned eng_profile,        \
    ComputeInstanceProfileInfo* info)                                                                                  \
  X(GpuInstanceGetComputeInstanceProfileInfoV, GpuInstance gpu_instance, unsigned profile, unsigned eng_profile,       \
    ComputeInstanceProfileInfoV2* info)                                                                                \
  X(GpuInstanceGetComputeInstanceRemainingCapacity, GpuInstance gpu_instance, unsigned profile_id, unsigned* count)    \
  X(GpuInstanceGetComputeInstancePossiblePlacements, GpuInstance gpu_instance, unsigned profile_id,                    \
    ComputeInstancePlacement* placements, unsigned* count)                                                             \
  X(GpuInstanceCreateComputeInstance, GpuInstance gpu_instance, unsigned profile_id,                                   \
    ComputeInstance* compute_instance)                                                                                 \
  X(GpuInstanceCreateComputeInstanceWithPlacement, GpuInstance gpu_instance, unsigned profile_id,                      \
    const ComputeInstancePlacement* placement, ComputeInstance* compute_instance)                                      \
  X(ComputeInstanceDestroy, ComputeInstance compute_instance)                                                          \
  X(GpuInstanceGetComputeInstances, GpuInstance gpu_instance, unsigned profile_id, ComputeInstance* compute_instances, \
    unsigned* count)                                                                                                   \
  X(GpuInstanceGetComputeInstanceById, GpuInstance gpu_instance, unsigned id, ComputeInstance* compute_instance)       \
  X(ComputeInstanceGetInfo_v2, ComputeInstance compute_instance, ComputeInstanceInfo* info)                            \
  X(DeviceIsMigDeviceHandle, Device device, unsigned* is_mig_device)                                                   \
  X(DeviceGetGpuInstanceId, Device device, unsigned* id)                                                               \
  X(DeviceGetComputeInstanceId, Device device, unsigned* id)                                                           \
  X(DeviceGetMaxMigDeviceCount, Device device, unsigned* count)                                                        \
  X(DeviceGetMigDeviceHandleByIndex, Device device, unsigned index, Device* mig_device)                                \
  X(DeviceGetDeviceHandleFromMigDeviceHandle, Device mig_device, Device* device)

/// Events and field values.
#define GPUOP_NVML_EVENT_FUNCTIONS(X)                                                  \
  X(EventSetCreate, EventSet* set)                                                     \
  X(DeviceRegisterEvents, Device device, unsigned long long event_types, EventSet set) \
  X(DeviceGetSupportedEventTypes, Device device, unsigned long long* event_types)      \
  X(EventSetWait_v2, EventSet set, EventData* data, unsigned timeoutms)                \
  X(EventSetFree, EventSet set)                                                        \
  X(SystemEventSetCreate, SystemEventSetCreateRequestV1* request)                      \
  X(SystemEventSetFree, SystemEventSetFreeRequestV1* request)                          \
  X(SystemRegisterEvents, SystemRegisterEventRequestV1* request)                       \
  X(SystemEventSetWait, SystemEventSetWaitRequestV1* request)                          \
  X(DeviceGetFieldValues, Device device, int values_count, FieldValue* values)         \
  X(DeviceClearFieldValues, Device device, int values_count, FieldValue* values)

/// NVLink, topology and the fabric.
#define GPUOP_NVML_LINK_FUNCTIONS(X)                                                                            \
  X(DeviceGetC2cModeInfoV, Device device, C2cModeInfoV1* c2c_mode_info)                                         \
  X(DeviceGetTopologyCommonAncestor, Device device1, Device device2, GpuTopologyLevel* path_info)               \
  X(DeviceGetTopologyNearestGpus, Device device, GpuTopologyLevel level, unsigned* count, Device* device_array) \
  X(DeviceGetP2PStatus, Device device1, Device device2, GpuP2PCapsIndex p2p_index, GpuP2PStatus* p2p_status)    \
  X(DeviceGetGpuFabricInfo, Device device, GpuFabricInfo* gpu_fabric_info)                                      \
  X(DeviceGetGpuFabricInfoV, Device device, GpuFabricInfoV3* gpu_fabric_info)                                   \
  X(DeviceGetNvLinkState, Device device, unsigned link, EnableState* is_active)                                 \
  X(DeviceGetNvLinkVersion, Device device, unsigned link, unsigned* version)                                    \
  X(DeviceGetNvLinkCapability, Device device, unsigned link, NvLinkCapability capability, unsigned* cap_result) \
  X(DeviceGetNvLinkRemotePciInfo_v2, Device device, unsigned link, PciInfo* pci)                                \
  X(DeviceGetNvLinkErrorCounter, Device device, unsigned link, NvLinkErrorCounter counter,                      \
    unsigned long long* counter_value)                                                                          \
  X(DeviceResetNvLinkErrorCounters, Device device, unsigned link)                                               \
  X(DeviceGetNvLinkRemoteDeviceType, Device device, unsigned link, IntNvLinkDeviceType* p_nv_link_device_type)  \
  X(DeviceGetNvlinkSupportedBwModes, Device device, NvlinkSupportedBwModesV1* supported_bw_mode)                \
  X(DeviceGetNvLinkInfo, Device device, NvLinkInfoV2* info)

/// GPM samples.
#define GPUOP_NVML_GPM_FUNCTIONS(X)                                                 \
  X(GpmMetricsGet, GpmMetricsGet* metrics_get)                                      \
  X(GpmSampleFree, GpmSample gpm_sample)                                            \
  X(GpmSampleAlloc, GpmSample* gpm_sample)                                          \
  X(GpmSampleGet, Device device, GpmSample gpm_sample)                              \
  X(GpmMigSampleGet, Device device, unsigned gpu_instance_id, GpmSample gpm_sample) \
  X(GpmQueryDeviceSupport, Device device, GpmSupport* gpm_support)

/// Memory, ECC and repair.
#define GPUOP_NVML_MEMORY_FUNCTIONS(X)                                                                         \
  X(DeviceGetRepairStatus, Device device, RepairStatusV1* repair_status)                                       \
  X(DeviceGetUnrepairableMemoryFlag_v1, Device device, UnrepairableMemoryStatusV1* unrepairable_memory_status) \
  X(DeviceGetSupportedMemoryClocks, Device device, unsigned* count, unsigned* clocks_mhz)                      \
  X(DeviceGetMemoryInfo, Device device, Memory* memory)                                                        \
  X(DeviceGetMemoryInfo_v2, Device device, MemoryV2* memory)                                                   \
  X(DeviceGetEccMode, Device device, EnableState* current, EnableState* pending)                               \
  X(DeviceGetTotalEccErrors, Device device, MemoryErrorType error_type, EccCounterType counter_type,           \
    unsigned long long* ecc_counts)                                                                            \
  X(DeviceGetDetailedEccErrors, Device device, MemoryErrorType error_type, EccCounterType counter_type,        \
    EccErrorCounts* ecc_counts)                                                                                \
  X(DeviceGetMemoryErrorCounter, Device device, MemoryErrorType error_type, EccCounterType counter_type,       \
    MemoryLocation location_type, unsigned long long* count)                                                   \
  X(DeviceGetBAR1MemoryInfo, Device device, BAR1Memory* bar1_memory)                                           \
  X(DeviceGetMemoryBusWidth, Device device, unsigned* bus_width)                                               \
  X(DeviceGetConfComputeProtectedMemoryUsage, Device device, Memory* memory)                                   \
  X(DeviceGetSramEccErrorStatus, Device device, EccSramErrorStatusV1* status)                                  \
  X(DeviceGetRetiredPages, Device device, PageRetirementCause cause, unsigned* page_count,                     \
    unsigned long long* addresses)                                                                             \
  X(DeviceGetRetiredPages_v2, Device device, PageRetirementCause cause, unsigned* page_count,                  \
    unsigned long long* addresses, unsigned long long* timestamps)                                             \
  X(DeviceGetRetiredPagesPendingStatus, Device device, EnableState* is_pending)                                \
  X(DeviceGetRemappedRows, Device device, unsigned* corr_rows, unsigned* unc_rows, unsigned* is_pending,       \
    unsigned* failure_occurred)                                                                                \
  X(DeviceGetRowRemapperHistogram, Device device, RowRemapperHistogramValues* values)                          \
  X(DeviceSetEccMode, Device device, EnableState ecc)                                                          \
  X(DeviceClearEccErrorCounts, Device device, EccCounterType counter_type)                                     \
  X(DeviceSetMemoryLockedClocks, Device device, unsigned min_mem_clock_mhz, unsigned max_mem_clock_mhz)        \
  X(DeviceResetMemoryLockedClocks, Device device)

/// Processes and utilisation.
#define GPUOP_NVML_PROCESS_FUNCTIONS(X)                                                                    \
  X(DeviceGetUtilizationRates, Device device, Utilization* utilization)                                    \
  X(DeviceGetEncoderUtilization, Device device, unsigned* utilization, unsigned* sampling_period_us)       \
  X(DeviceGetDecoderUtilization, Device device, unsigned* utilization, unsigned* sampling_period_us)       \
  X(DeviceGetJpgUtilization, Device device, unsigned* utilization, unsigned* sampling_period_us)           \
  X(DeviceGetOfaUtilization, Device device, unsigned* utilization, unsigned* sampling_period_us)           \
  X(DeviceGetComputeRunningProcesses_v3, Device device, unsigned* info_count, ProcessInfo* infos)          \
  X(DeviceGetGraphicsRunningProcesses_v3, Device device, unsigned* info_count, ProcessInfo* infos)         \
  X(DeviceGetMPSComputeRunningProcesses_v3, Device device, unsigned* info_count, ProcessInfo* infos)       \
  X(DeviceGetRunningProcessDetailList, Device device, ProcessDetailListV1* plist)                          \
  X(DeviceGetSamples, Device device, SamplingType type, unsigned long long last_seen_time_stamp,           \
    ValueType* sample_val_type, unsigned* sample_count, Sample* samples)                                   \
  X(DeviceGetConfComputeMemSizeInfo, Device device, ConfComputeMemSizeInfo* mem_info)                      \
  X(DeviceGetProcessUtilization, Device device, ProcessUtilizationSample* utilization,                     \
    unsigned* process_samples_count, unsigned long long last_seen_time_stamp)                              \
  X(DeviceGetProcessesUtilizationInfo, Device device, ProcessesUtilizationInfoV1* proceses_util_info)      \
  X(DeviceGetVirtualizationMode, Device device, GpuVirtualizationMode* p_virtual_mode)                     \
  X(DeviceGetHostVgpuMode, Device device, HostVgpuMode* p_host_vgpu_mode)                                  \
  X(DeviceSetVirtualizationMode, Device device, GpuVirtualizationMode virtual_mode)                        \
  X(DeviceGetGridLicensableFeatures_v4, Device device, GridLicensableFeatures* p_grid_licensable_features) \
  X(DeviceGetActiveVgpus, Device device, unsigned* vgpu_count, unsigned* vgpu_instances)

/// Clocks, power and heat.
#define GPUOP_NVML_CLOCK_FUNCTIONS(X)                                                                                  \
  X(DeviceGetClockInfo, Device device, ClockType type, unsigned* clock)                                                \
  X(DeviceGetMaxClockInfo, Device device, ClockType type, unsigned* clock)                                             \
  X(DeviceGetApplicationsClock, Device device, ClockType clock_type, unsigned* clock_mhz)                              \
  X(DeviceGetDefaultApplicationsClock, Device device, ClockType clock_type, unsigned* clock_mhz)                       \
  X(DeviceGetClock, Device device, ClockType clock_type, ClockId clock_id, unsigned* clock_mhz)                        \
  X(DeviceGetMaxCustomerBoostClock, Device device, ClockType clock_type, unsigned* clock_mhz)                          \
  X(DeviceGetSupportedGraphicsClocks, Device device, unsigned memory_clock_mhz, unsigned* count, unsigned* clocks_mhz) \
  X(DeviceGetFanSpeed, Device device, unsigned* speed)                                                                 \
  X(DeviceGetFanSpeed_v2, Device device, unsigned fan, unsigned* speed)                                                \
  X(DeviceGetNumFans, Device device, unsigned* num_fans)                                                               \
  X(DeviceGetTemperature, Device device, TemperatureSensors sensor_type, unsigned* temp)                               \
  X(DeviceGetTemperatureV, Device device, TemperatureV1* temperature)                                                  \
  X(DeviceGetTemperatureThreshold, Device device, TemperatureThresholds threshold_type, unsigned* temp)                \
  X(DeviceGetPerformanceState, Device device, Pstates* p_state)                                                        \
  X(DeviceGetCurrentClocksEventReasons, Device device, unsigned long long* clocks_event_reasons)                       \
  X(DeviceGetCurrentClocksThrottleReasons, Device device, unsigned long long* clocks_throttle_reasons)                 \
  X(DeviceGetSupportedClocksEventReasons, Device device, unsigned long long* supported_clocks_event_reasons)           \
  X(DeviceGetSupportedClocksThrottleReasons, Device device, unsigned long long* supported_clocks_throttle_reasons)     \
  X(DeviceGetPowerState, Device device, Pstates* p_state)                                                              \
  X(DeviceGetPowerManagementMode, Device device, EnableState* mode)                                                    \
  X(DeviceGetPowerManagementLimit, Device device, unsigned* limit)                                                     \
  X(DeviceGetPowerManagementLimitConstraints, Device device, unsigned* min_limit, unsigned* max_limit)                 \
  X(DeviceGetPowerManagementDefaultLimit, Device device, unsigned* default_limit)                                      \
  X(DeviceGetPowerUsage, Device device, unsigned* power)                                                               \
  X(DeviceGetTotalEnergyConsumption, Device device, unsigned long long* energy)                                        \
  X(DeviceGetEnforcedPowerLimit, Device device, unsigned* limit)                                                       \
  X(DeviceGetViolationStatus, Device device, PerfPolicyType perf_policy_type, ViolationTime* viol_time)                \
  X(DeviceGetPowerSource, Device device, unsigned* power_source)                                                       \
  X(DeviceSetPowerManagementLimit_v2, Device device, PowerValueV2* power_value)                                        \
  X(DeviceSetGpuLockedClocks, Device device, unsigned min_gpu_clock_mhz, unsigned max_gpu_clock_mhz)                   \
  X(DeviceResetGpuLockedClocks, Device device)                                                                         \
  X(DeviceSetApplicationsClocks, Device device, unsigned mem_clock_mhz, unsigned graphics_clock_mhz)                   \
  X(DeviceResetApplicationsClocks, Device device)                                                                      \
  X(DeviceSetPowerManagementLimit, Device device, unsigned limit)

/// Devices: handles, identity, buses.
#define GPUOP_NVML_DEVICE_FUNCTIONS(X)                                                                             \
  X(DeviceGetCount_v2, unsigned* device_count)                                                                     \
  X(DeviceGetHandleByIndex_v2, unsigned index, Device* device)                                                     \
  X(DeviceGetHandleBySerial, const char* serial, Device* device)                                                   \
  X(DeviceGetHandleByUUID, const char* uuid, Device* device)                                                       \
  X(DeviceGetHandleByUUIDV, const UUIDV1* uuid, Device* device)                                                    \
  X(DeviceGetHandleByPciBusId_v2, const char* pci_bus_id, Device* device)                                          \
  X(DeviceGetName, Device device, char* name, unsigned length)                                                     \
  X(DeviceGetBrand, Device device, BrandType* type)                                                                \
  X(DeviceGetIndex, Device device, unsigned* index)                                                                \
  X(DeviceGetSerial, Device device, char* serial, unsigned length)                                                 \
  X(DeviceGetModuleId, Device device, unsigned* module_id)                                                         \
  X(DeviceGetCpuAffinityWithinScope, Device device, unsigned cpu_set_size, unsigned long* cpu_set, unsigned scope) \
  X(DeviceGetCpuAffinity, Device device, unsigned cpu_set_size, unsigned long* cpu_set)                            \
  X(DeviceGetNumaNodeId, Device device, unsigned* node)                                                            \
  X(DeviceGetAddressingMode, Device device, DeviceAddressingModeV1* mode)                                          \
  X(DeviceGetUUID, Device device, char* uuid, unsigned length)                                                     \
  X(DeviceGetMinorNumber, Device device, unsigned* minor_number)                                                   \
  X(DeviceGetBoardPartNumber, Device device, char* part_number, unsigned length)                                   \
  X(DeviceGetInforomVersion, Device device, InforomObject object, char* version, unsigned length)                  \
  X(DeviceGetInforomImageVersion, Device device, char* version, unsigned length)                                   \
  X(DeviceGetDisplayMode, Device device, EnableState* display)                                                     \
  X(DeviceGetDisplayActive, Device device, EnableState* is_active)                                                 \
  X(DeviceGetPersistenceMode, Device device, EnableState* mode)                                                    \
  X(DeviceGetPciInfoExt, Device device, PciInfoExtV1* pci)                                                         \
  X(DeviceGetPciInfo_v3, Device device, PciInfo* pci)                                                              \
  X(DeviceGetMaxPcieLinkGeneration, Device device, unsigned* max_link_gen)                                         \
  X(DeviceGetGpuMaxPcieLinkGeneration, Device device, unsigned* max_link_gen_device)                               \
  X(DeviceGetMaxPcieLinkWidth, Device device, unsigned* max_link_width)                                            \
  X(DeviceGetCurrPcieLinkGeneration, Device device, unsigned* curr_link_gen)                                       \
  X(DeviceGetCurrPcieLinkWidth, Device device, unsigned* curr_link_width)                                          \
  X(DeviceGetPcieThroughput, Device device, PcieUtilCounter counter, unsigned* value)                              \
  X(DeviceGetPcieReplayCounter, Device device, unsigned* value)                                                    \
  X(DeviceGetComputeMode, Device device, ComputeMode* mode)                                                        \
  X(DeviceGetCudaComputeCapability, Device device, int* major, int* minor)                                         \
  X(DeviceGetBoardId, Device device, unsigned* board_id)                                                           \
  X(DeviceGetDriverModel_v2, Device device, DriverModel* current, DriverModel* pending)                            \
  X(DeviceGetVbiosVersion, Device device, char* version, unsigned length)                                          \
  X(DeviceOnSameBoard, Device device1, Device device2, int* on_same_board)                                         \
  X(DeviceGetIrqNum, Device device, unsigned* irq_num)                                                             \
  X(DeviceGetNumGpuCores, Device device, unsigned* num_cores)                                                      \
  X(DeviceGetPcieLinkMaxSpeed, Device device, unsigned* max_speed)                                                 \
  X(DeviceGetPcieSpeed, Device device, unsigned* pcie_speed)                                                       \
  X(DeviceGetBusType, Device device, unsigned* type)                                                               \
  X(DeviceGetGspFirmwareVersion, Device device, char* version)                                                     \
  X(DeviceGetGspFirmwareMode, Device device, unsigned* is_enabled, unsigned* default_mode)                         \
  X(DeviceGetArchitecture, Device device, unsigned* arch)                                                          \
  X(DeviceGetPlatformInfo, Device device, PlatformInfoV2* platform_info)                                           \
  X(DeviceSetPersistenceMode, Device device, EnableState mode)                                                     \
  X(DeviceSetComputeMode, Device device, ComputeMode mode)                                                         \
  X(DeviceModifyDrainState, PciInfo* pci_info, EnableState new_state)                                              \
  X(DeviceQueryDrainState, PciInfo* pci_info, EnableState* current_state)                                          \
  X(DeviceRemoveGpu_v2, PciInfo* pci_info, DetachGpuState gpu_state, PcieLinkState link_state)

/// Older forms, which old drivers have alone and old programs still call.
#define GPUOP_NVML_OLD_FUNCTIONS(X)                                                                               \
  X(Init)                                                                                                         \
  X(DeviceGetCount, unsigned* device_count)                                                                       \
  X(DeviceGetHandleByIndex, unsigned index, Device* device)                                                       \
  X(DeviceGetHandleByPciBusId, const char* pci_bus_id, Device* device)                                            \
  X(DeviceGetPciInfo, Device device, PciInfo* pci)                                                                \
  X(DeviceGetPciInfo_v2, Device device, PciInfo* pci)                                                             \
  X(DeviceGetNvLinkRemotePciInfo, Device device, unsigned link, PciInfo* pci)                                     \
  X(DeviceRemoveGpu, PciInfo* pci_info)                                                                           \
  X(EventSetWait, EventSet set, EventData* data, unsigned timeoutms)                                              \
  X(DeviceGetAttributes, Device device, DeviceAttributes* attributes)                                             \
  X(ComputeInstanceGetInfo, ComputeInstance compute_instance, ComputeInstanceInfo* info)                          \
  X(DeviceGetComputeRunningProcesses, Device device, unsigned* info_count, ProcessInfoV1* infos)                  \
  X(DeviceGetComputeRunningProcesses_v2, Device device, unsigned* info_count, ProcessInfoV2* infos)               \
  X(DeviceGetGraphicsRunningProcesses, Device device, unsigned* info_count, ProcessInfoV1* infos)                 \
  X(DeviceGetGraphicsRunningProcesses_v2, Device device, unsigned* info_count, ProcessInfoV2* infos)              \
  X(DeviceGetMPSComputeRunningProcesses, Device device, unsigned* info_count, ProcessInfoV1* infos)               \
  X(DeviceGetMPSComputeRunningProcesses_v2, Device device, unsigned* info_count, ProcessInfoV2* infos)            \
  X(DeviceGetGpuInstancePossiblePlacements, Device device, unsigned profile_id, GpuInstancePlacement* placements, \
    unsigned* count)                                                                                              \
  X(DeviceGetDriverModel, Device device, DriverModel* current, DriverModel* pending)

/// All of them.
#define GPUOP_NVML_FUNCTIONS(X)   \
  GPUOP_NVML_SYSTEM_FUNCTIONS(X)  \
  GPUOP_NVML_MIG_FUNCTIONS(X)     \
  GPUOP_NVML_EVENT_FUNCTIONS(X)   \
  GPUOP_NVML_LINK_FUNCTIONS(X)    \
  GPUOP_NVML_GPM_FUNCTIONS(X)     \
  GPUOP_NVML_MEMORY_FUNCTIONS(X)  \
  GPUOP_NVML_PROCESS_FUNCTIONS(X) \
  GPUOP_NVML_CLOCK_FUNCTIONS(X)   \
  GPUOP_NVML_DEVICE_FUNCTIONS(X)  \
  GPUOP_NVML_OLD_FUNCTIONS(X)
