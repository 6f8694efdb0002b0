#pragma once
// NVML's constants as its interface has them; the comment on each is NVML's own name, by which abi_test finds it.

#include "gpu/nvml/field_ids.h"

namespace gpuop::gpu::nvml {

/// Sizes of the buffers that callers bring, and of arrays in structs.
enum : unsigned {
  kDevicePciBusIdBufferSize = 32,        // NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE
  kDevicePciBusIdBufferV2Size = 16,      // NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE
  kNvlinkMaxLinks = 36,                  // NVML_NVLINK_MAX_LINKS
  kMaxThermalSensorsPerGpu = 3,          // NVML_MAX_THERMAL_SENSORS_PER_GPU
  kDeviceUuidAsciiLen = 41,              // NVML_DEVICE_UUID_ASCII_LEN
  kDeviceUuidBinaryLen = 16,             // NVML_DEVICE_UUID_BINARY_LEN
  kGspFirmwareVersionBufSize = 64,       // NVML_GSP_FIRMWARE_VERSION_BUF_SIZE
  kMaxGpuUtilizations = 8,               // NVML_MAX_GPU_UTILIZATIONS
  kGridLicenseBufferSize = 128,          // NVML_GRID_LICENSE_BUFFER_SIZE
  kGridLicenseFeatureMaxCount = 3,       // NVML_GRID_LICENSE_FEATURE_MAX_COUNT
  kGpuFabricUuidLen = 16,                // NVML_GPU_FABRIC_UUID_LEN
  kGpuFabricCliqueMax = 64,              // NVML_GPU_FABRIC_CLIQUE_MAX
  kDeviceInforomVersionBufferSize = 16,  // NVML_DEVICE_INFOROM_VERSION_BUFFER_SIZE
  kDeviceUuidBufferSize = 80,            // NVML_DEVICE_UUID_BUFFER_SIZE
  kDeviceUuidV2BufferSize = 96,          // NVML_DEVICE_UUID_V2_BUFFER_SIZE
  kDevicePartNumberBufferSize = 80,      // NVML_DEVICE_PART_NUMBER_BUFFER_SIZE
  kSystemDriverVersionBufferSize = 80,   // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
  kSystemNvmlVersionBufferSize = 80,     // NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE
  kDeviceNameV2BufferSize = 96,          // NVML_DEVICE_NAME_V2_BUFFER_SIZE
  kDeviceSerialBufferSize = 30,          // NVML_DEVICE_SERIAL_BUFFER_SIZE
  kDeviceVbiosVersionBufferSize = 32,    // NVML_DEVICE_VBIOS_VERSION_BUFFER_SIZE
  kNvlinkTotalSupportedBwModes = 23,     // NVML_NVLINK_TOTAL_SUPPORTED_BW_MODES
  kNvlinkFirmwareVersionLength = 100,    // NVML_NVLINK_FIRMWARE_VERSION_LENGTH
};

/// MIG: modes, profiles of GPU and compute instances, and "no such instance".
enum : unsigned {
  kGpuInstanceIdAny = 0xffffffff,           // NVML_GPU_INSTANCE_ID_ANY
  kComputeInstanceIdAny = 0xffffffff,       // NVML_COMPUTE_INSTANCE_ID_ANY
  kDeviceMigDisable = 0,                    // NVML_DEVICE_MIG_DISABLE
  kDeviceMigEnable = 1,                     // NVML_DEVICE_MIG_ENABLE
  kGpuInstanceProfile1Slice = 0,            // NVML_GPU_INSTANCE_PROFILE_1_SLICE
  kGpuInstanceProfile2Slice = 1,            // NVML_GPU_INSTANCE_PROFILE_2_SLICE
  kGpuInstanceProfile3Slice = 2,            // NVML_GPU_INSTANCE_PROFILE_3_SLICE
  kGpuInstanceProfile4Slice = 3,            // NVML_GPU_INSTANCE_PROFILE_4_SLICE
  kGpuInstanceProfile7Slice = 4,            // NVML_GPU_INSTANCE_PROFILE_7_SLICE
  kGpuInstanceProfile8Slice = 5,            // NVML_GPU_INSTANCE_PROFILE_8_SLICE
  kGpuInstanceProfile6Slice = 6,            // NVML_GPU_INSTANCE_PROFILE_6_SLICE
  kGpuInstanceProfile1SliceRev1 = 7,        // NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1
  kGpuInstanceProfile2SliceRev1 = 8,        // NVML_GPU_INSTANCE_PROFILE_2_SLICE_REV1
  kGpuInstanceProfile1SliceRev2 = 9,        // NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV2
  kGpuInstanceProfile1SliceGfx = 10,        // NVML_GPU_INSTANCE_PROFILE_1_SLICE_GFX
  kGpuInstanceProfile2SliceGfx = 11,        // NVML_GPU_INSTANCE_PROFILE_2_SLICE_GFX
  kGpuInstanceProfile4SliceGfx = 12,        // NVML_GPU_INSTANCE_PROFILE_4_SLICE_GFX
  kGpuInstanceProfile1SliceNoMe = 13,       // NVML_GPU_INSTANCE_PROFILE_1_SLICE_NO_ME
  kGpuInstanceProfile2SliceNoMe = 14,       // NVML_GPU_INSTANCE_PROFILE_2_SLICE_NO_ME
  kGpuInstanceProfile1SliceAllMe = 15,      // NVML_GPU_INSTANCE_PROFILE_1_SLICE_ALL_ME
  kGpuInstanceProfile2SliceAllMe = 16,      // NVML_GPU_INSTANCE_PROFILE_2_SLICE_ALL_ME
  kGpuInstanceProfile3SliceGfx = 17,        // NVML_GPU_INSTANCE_PROFILE_3_SLICE_GFX
  kGpuInstanceProfileCount = 18,            // NVML_GPU_INSTANCE_PROFILE_COUNT
  kGpuInstanceProfileCapsP2p = 0x1,         // NVML_GPU_INSTANCE_PROFILE_CAPS_P2P
  kGpuInstanceProfileCapsGfx = 0x2,         // NVML_GPU_INSTANCE_PROFILE_CAPS_GFX
  kComputeInstanceProfileCapsGfx = 0x1,     // NVML_COMPUTE_INSTANCE_PROFILE_CAPS_GFX
  kComputeInstanceProfile1Slice = 0,        // NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE
  kComputeInstanceProfile2Slice = 1,        // NVML_COMPUTE_INSTANCE_PROFILE_2_SLICE
  kComputeInstanceProfile3Slice = 2,        // NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE
  kComputeInstanceProfile4Slice = 3,        // NVML_COMPUTE_INSTANCE_PROFILE_4_SLICE
  kComputeInstanceProfile7Slice = 4,        // NVML_COMPUTE_INSTANCE_PROFILE_7_SLICE
  kComputeInstanceProfile8Slice = 5,        // NVML_COMPUTE_INSTANCE_PROFILE_8_SLICE
  kComputeInstanceProfile6Slice = 6,        // NVML_COMPUTE_INSTANCE_PROFILE_6_SLICE
  kComputeInstanceProfile1SliceRev1 = 7,    // NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE_REV1
  kComputeInstanceProfile7SliceNvl = 8,     // NVML_COMPUTE_INSTANCE_PROFILE_7_SLICE_NVL
  kComputeInstanceProfileCount = 9,         // NVML_COMPUTE_INSTANCE_PROFILE_COUNT
  kComputeInstanceEngineProfileShared = 0,  // NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED
  kComputeInstanceEngineProfileCount = 1,   // NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_COUNT
};

/// Events of a device, a bit each.
enum : unsigned long long {
  kEventTypeNone = 0x0,                      // nvmlEventTypeNone
  kEventTypeSingleBitEccError = 0x1,         // nvmlEventTypeSingleBitEccError
  kEventTypeDoubleBitEccError = 0x2,         // nvmlEventTypeDoubleBitEccError
  kEventTypePState = 0x4,                    // nvmlEventTypePState
  kEventTypeXidCriticalError = 0x8,          // nvmlEventTypeXidCriticalError
  kEventTypeClock = 0x10,                    // nvmlEventTypeClock
  kEventTypePowerSourceChange = 0x80,        // nvmlEventTypePowerSourceChange
  kEventMigConfigChange = 0x100,             // nvmlEventMigConfigChange
  kEventTypeSingleBitEccErrorStorm = 0x200,  // nvmlEventTypeSingleBitEccErrorStorm
  kEventTypeDramRetirementEvent = 0x400,     // nvmlEventTypeDramRetirementEvent
  kEventTypeDramRetirementFailure = 0x800,   // nvmlEventTypeDramRetirementFailure
  kEventTypeNonFatalPoisonError = 0x1000,    // nvmlEventTypeNonFatalPoisonError
  kEventTypeFatalPoisonError = 0x2000,       // nvmlEventTypeFatalPoisonError
  kEventTypeGpuUnavailableError = 0x4000,    // nvmlEventTypeGpuUnavailableError
  kEventTypeGpuRecoveryAction = 0x8000,      // nvmlEventTypeGpuRecoveryAction
  kEventTypeAll = 0xff9f,                    // nvmlEventTypeAll
};

/// Events of the system, a bit each.
enum : unsigned long long {
  kSystemEventTypeGpuDriverUnbind = 0x1,  // nvmlSystemEventTypeGpuDriverUnbind
  kSystemEventTypeGpuDriverBind = 0x2,    // nvmlSystemEventTypeGpuDriverBind
};

/// Why clocks are lower than asked for, a bit each.
enum : unsigned long long {
  kClocksEventReasonGpuIdle = 0x1,                    // nvmlClocksEventReasonGpuIdle
  kClocksEventReasonApplicationsClocksSetting = 0x2,  // nvmlClocksEventReasonApplicationsClocksSetting
  kClocksThrottleReasonUserDefinedClocks = 0x2,       // nvmlClocksThrottleReasonUserDefinedClocks
  kClocksEventReasonSwPowerCap = 0x4,                 // nvmlClocksEventReasonSwPowerCap
  kClocksThrottleReasonHwSlowdown = 0x8,              // nvmlClocksThrottleReasonHwSlowdown
  kClocksEventReasonSyncBoost = 0x10,                 // nvmlClocksEventReasonSyncBoost
  kClocksEventReasonSwThermalSlowdown = 0x20,         // nvmlClocksEventReasonSwThermalSlowdown
  kClocksThrottleReasonHwThermalSlowdown = 0x40,      // nvmlClocksThrottleReasonHwThermalSlowdown
  kClocksThrottleReasonHwPowerBrakeSlowdown = 0x80,   // nvmlClocksThrottleReasonHwPowerBrakeSlowdown
  kClocksEventReasonDisplayClockSetting = 0x100,      // nvmlClocksEventReasonDisplayClockSetting
  kClocksEventReasonBoardLimit = 0x200,               // nvmlClocksEventReasonBoardLimit
  kClocksEventReasonReliability = 0x400,              // nvmlClocksEventReasonReliability
  kClocksEventReasonNone = 0x0,                       // nvmlClocksEventReasonNone
  kClocksEventReasonAll = 0x7ff,                      // nvmlClocksEventReasonAll
};

/// Architectures.
enum : unsigned {
  kDeviceArchKepler = 2,            // NVML_DEVICE_ARCH_KEPLER
  kDeviceArchMaxwell = 3,           // NVML_DEVICE_ARCH_MAXWELL
  kDeviceArchPascal = 4,            // NVML_DEVICE_ARCH_PASCAL
  kDeviceArchVolta = 5,             // NVML_DEVICE_ARCH_VOLTA
  kDeviceArchTuring = 6,            // NVML_DEVICE_ARCH_TURING
  kDeviceArchAmpere = 7,            // NVML_DEVICE_ARCH_AMPERE
  kDeviceArchAda = 8,               // NVML_DEVICE_ARCH_ADA
  kDeviceArchHopper = 9,            // NVML_DEVICE_ARCH_HOPPER
  kDeviceArchBlackwell = 10,        // NVML_DEVICE_ARCH_BLACKWELL
  kDeviceArchDla = 11,              // NVML_DEVICE_ARCH_DLA
  kDeviceArchDla2 = 12,             // NVML_DEVICE_ARCH_DLA2
  kDeviceArchRubin = 13,            // NVML_DEVICE_ARCH_RUBIN
  kDeviceArchNpu3 = 15,             // NVML_DEVICE_ARCH_NPU3
  kDeviceArchUnknown = 4294967295,  // NVML_DEVICE_ARCH_UNKNOWN
};

/// Buses, power, PCIe speeds.
enum : unsigned {
  kBusTypeUnknown = 0,             // NVML_BUS_TYPE_UNKNOWN
  kBusTypePci = 1,                 // NVML_BUS_TYPE_PCI
  kBusTypePcie = 2,                // NVML_BUS_TYPE_PCIE
  kBusTypeFpci = 3,                // NVML_BUS_TYPE_FPCI
  kBusTypeAgp = 4,                 // NVML_BUS_TYPE_AGP
  kPowerSourceAc = 0,              // NVML_POWER_SOURCE_AC
  kPowerSourceBattery = 1,         // NVML_POWER_SOURCE_BATTERY
  kPowerSourceUndersized = 2,      // NVML_POWER_SOURCE_UNDERSIZED
  kPcieLinkMaxSpeedInvalid = 0,    // NVML_PCIE_LINK_MAX_SPEED_INVALID
  kPcieLinkMaxSpeed2500mbps = 1,   // NVML_PCIE_LINK_MAX_SPEED_2500MBPS
  kPcieLinkMaxSpeed5000mbps = 2,   // NVML_PCIE_LINK_MAX_SPEED_5000MBPS
  kPcieLinkMaxSpeed8000mbps = 3,   // NVML_PCIE_LINK_MAX_SPEED_8000MBPS
  kPcieLinkMaxSpeed16000mbps = 4,  // NVML_PCIE_LINK_MAX_SPEED_16000MBPS
  kPcieLinkMaxSpeed32000mbps = 5,  // NVML_PCIE_LINK_MAX_SPEED_32000MBPS
  kPcieLinkMaxSpeed64000mbps = 6,  // NVML_PCIE_LINK_MAX_SPEED_64000MBPS
  kPowerScopeGpu = 0,              // NVML_POWER_SCOPE_GPU
  kPowerScopeModule = 1,           // NVML_POWER_SCOPE_MODULE
  kPowerScopeMemory = 2,           // NVML_POWER_SCOPE_MEMORY
  kPowerScopeGpuBase = 3,          // NVML_POWER_SCOPE_GPU_BASE
};

/// NVLink and the fabric of NVSwitches.
enum : unsigned {
  kGpuFabricStateNotSupported = 0,                       // NVML_GPU_FABRIC_STATE_NOT_SUPPORTED
  kGpuFabricStateNotStarted = 1,                         // NVML_GPU_FABRIC_STATE_NOT_STARTED
  kGpuFabricStateInProgress = 2,                         // NVML_GPU_FABRIC_STATE_IN_PROGRESS
  kGpuFabricStateCompleted = 3,                          // NVML_GPU_FABRIC_STATE_COMPLETED
  kGpuFabricHealthMaskDegradedBwNotSupported = 0x0,      // NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_NOT_SUPPORTED
  kGpuFabricHealthMaskDegradedBwTrue = 0x1,              // NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_TRUE
  kGpuFabricHealthMaskDegradedBwFalse = 0x2,             // NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_FALSE
  kGpuFabricHealthMaskShiftDegradedBw = 0x0,             // NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_DEGRADED_BW
  kGpuFabricHealthMaskWidthDegradedBw = 0x3,             // NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_DEGRADED_BW
  kGpuFabricHealthMaskRouteRecoveryNotSupported = 0x0,   // NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_NOT_SUPPORTED
  kGpuFabricHealthMaskRouteRecoveryTrue = 0x1,           // NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_TRUE
  kGpuFabricHealthMaskRouteRecoveryFalse = 0x2,          // NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_FALSE
  kGpuFabricHealthMaskShiftRouteRecovery = 0x2,          // NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_RECOVERY
  kGpuFabricHealthMaskWidthRouteRecovery = 0x3,          // NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ROUTE_RECOVERY
  kGpuFabricHealthMaskRouteUnhealthyNotSupported = 0x0,  // NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_NOT_SUPPORTED
  kGpuFabricHealthMaskRouteUnhealthyTrue = 0x1,          // NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_TRUE
  kGpuFabricHealthMaskRouteUnhealthyFalse = 0x2,         // NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_FALSE
  kGpuFabricHealthMaskShiftRouteUnhealthy = 0x4,         // NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_UNHEALTHY
  kGpuFabricHealthMaskWidthRouteUnhealthy = 0x3,         // NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ROUTE_UNHEALTHY
  kGpuFabricHealthMaskAccessTimeoutRecoveryNotSupported =
      0x0,  // NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_NOT_SUPPORTED
  kGpuFabricHealthMaskAccessTimeoutRecoveryTrue = 0x1,   // NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_TRUE
  kGpuFabricHealthMaskAccessTimeoutRecoveryFalse = 0x2,  // NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_FALSE
  kGpuFabricHealthMaskShiftAccessTimeoutRecovery = 0x6,  // NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ACCESS_TIMEOUT_RECOVERY
  kGpuFabricHealthMaskWidthAccessTimeoutRecovery = 0x3,  // NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ACCESS_TIMEOUT_RECOVERY
  kGpuFabricHealthMaskIncorrectConfigurationNotSupported =
      0x0,  // NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NOT_SUPPORTED
  kGpuFabricHealthMaskIncorrectConfigurationNone = 0x1,  // NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NONE
  kGpuFabricHealthMaskIncorrectConfigurationIncorrectSysguid =
      0x2,  // NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCORRECT_SYSGUID
  kGpuFabricHealthMaskIncorrectConfigurationIncorrectChassisSn =
      0x3,  // NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCORRECT_CHASSIS_SN
  kGpuFabricHealthMaskIncorrectConfigurationNoPartition =
      0x4,  // NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NO_PARTITION
  kGpuFabricHealthMaskIncorrectConfigurationInsufficientNvlinks =
      0x5,  // NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INSUFFICIENT_NVLINKS
  kGpuFabricHealthMaskIncorrectConfigurationIncompatibleGpuFw =
      0x6,  // NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCOMPATIBLE_GPU_FW
  kGpuFabricHealthMaskIncorrectConfigurationInvalidLocation =
      0x7,  // NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INVALID_LOCATION
  kGpuFabricHealthMaskIncorrectConfigurationGpuStateInvalid =
      0x8,  // NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_GPU_STATE_INVALID
  kGpuFabricHealthMaskShiftIncorrectConfiguration = 0x8,  // NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_INCORRECT_CONFIGURATION
  kGpuFabricHealthMaskWidthIncorrectConfiguration = 0xf,  // NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_INCORRECT_CONFIGURATION
  kGpuFabricHealthMaskPartitionAssignedNotSupported =
      0x0,                                           // NVML_GPU_FABRIC_HEALTH_MASK_PARTITION_ASSIGNED_NOT_SUPPORTED
  kGpuFabricHealthMaskPartitionAssignedTrue = 0x1,   // NVML_GPU_FABRIC_HEALTH_MASK_PARTITION_ASSIGNED_TRUE
  kGpuFabricHealthMaskPartitionAssignedFalse = 0x2,  // NVML_GPU_FABRIC_HEALTH_MASK_PARTITION_ASSIGNED_FALSE
  kGpuFabricHealthMaskShiftPartitionAssigned = 0xc,  // NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_PARTITION_ASSIGNED
  kGpuFabricHealthMaskWidthPartitionAssigned = 0x3,  // NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_PARTITION_ASSIGNED
  kGpuFabricHealthMaskGfmStateNotSupported = 0x0,    // NVML_GPU_FABRIC_HEALTH_MASK_GFM_STATE_NOT_SUPPORTED
  kGpuFabricHealthMaskGfmStateConnected = 0x1,       // NVML_GPU_FABRIC_HEALTH_MASK_GFM_STATE_CONNECTED
  kGpuFabricHealthMaskGfmStateDisconnected = 0x2,    // NVML_GPU_FABRIC_HEALTH_MASK_GFM_STATE_DISCONNECTED
  kGpuFabricHealthMaskShiftGfmState = 0xe,           // NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_GFM_STATE
  kGpuFabricHealthMaskWidthGfmState = 0x3,           // NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_GFM_STATE
  kGpuFabricHealthSummaryNotSupported = 0,           // NVML_GPU_FABRIC_HEALTH_SUMMARY_NOT_SUPPORTED
  kGpuFabricHealthSummaryHealthy = 1,                // NVML_GPU_FABRIC_HEALTH_SUMMARY_HEALTHY
  kGpuFabricHealthSummaryUnhealthy = 2,              // NVML_GPU_FABRIC_HEALTH_SUMMARY_UNHEALTHY
  kGpuFabricHealthSummaryLimitedCapacity = 3,        // NVML_GPU_FABRIC_HEALTH_SUMMARY_LIMITED_CAPACITY
  kGpuFabricCliqueTypeUnicastPointer = 0,            // NVML_GPU_FABRIC_CLIQUE_TYPE_UNICAST_POINTER
  kGpuFabricCliqueTypeMulticastPointer = 1,          // NVML_GPU_FABRIC_CLIQUE_TYPE_MULTICAST_POINTER
  kGpuFabricCliqueTypeUnicastLogicalEndpoint = 2,    // NVML_GPU_FABRIC_CLIQUE_TYPE_UNICAST_LOGICAL_ENDPOINT
  kGpuFabricCliqueTypeMulticastLogicalEndpoint = 3,  // NVML_GPU_FABRIC_CLIQUE_TYPE_MULTICAST_LOGICAL_ENDPOINT
  kNvlinkStateInactive = 0,                          // NVML_NVLINK_STATE_INACTIVE
  kNvlinkStateActive = 1,                            // NVML_NVLINK_STATE_ACTIVE
  kNvlinkStateSleep = 2,                             // NVML_NVLINK_STATE_SLEEP
  kNvlinkStateActiveTrafficDisabled = 3,             // NVML_NVLINK_STATE_ACTIVE_TRAFFIC_DISABLED
  kNvlinkFirmwareUcodeTypeMse = 1,                   // NVML_NVLINK_FIRMWARE_UCODE_TYPE_MSE
  kNvlinkFirmwareUcodeTypeNetir = 2,                 // NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR
  kNvlinkFirmwareUcodeTypeNetirUphy = 3,             // NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_UPHY
  kNvlinkFirmwareUcodeTypeNetirCln = 4,              // NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_CLN
  kNvlinkFirmwareUcodeTypeNetirDln = 5,              // NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_DLN
};

/// Confidential computing.
enum : unsigned {
  kCcSystemCpuCapsNone = 0x0,             // NVML_CC_SYSTEM_CPU_CAPS_NONE
  kCcSystemCpuCapsAmdSev = 0x1,           // NVML_CC_SYSTEM_CPU_CAPS_AMD_SEV
  kCcSystemCpuCapsIntelTdx = 0x2,         // NVML_CC_SYSTEM_CPU_CAPS_INTEL_TDX
  kCcSystemCpuCapsAmdSevSnp = 0x3,        // NVML_CC_SYSTEM_CPU_CAPS_AMD_SEV_SNP
  kCcSystemCpuCapsAmdSnpVtom = 0x4,       // NVML_CC_SYSTEM_CPU_CAPS_AMD_SNP_VTOM
  kCcSystemCpuCapsArmCca = 0x5,           // NVML_CC_SYSTEM_CPU_CAPS_ARM_CCA
  kCcSystemCpuCapsIntelTdxConnect = 0x6,  // NVML_CC_SYSTEM_CPU_CAPS_INTEL_TDX_CONNECT
  kCcSystemCpuCapsAmdSevTio = 0x7,        // NVML_CC_SYSTEM_CPU_CAPS_AMD_SEV_TIO
  kCcSystemGpusCcNotCapable = 0,          // NVML_CC_SYSTEM_GPUS_CC_NOT_CAPABLE
  kCcSystemGpusCcCapable = 1,             // NVML_CC_SYSTEM_GPUS_CC_CAPABLE
  kCcSystemGpusCcBmsaiCapable = 2,        // NVML_CC_SYSTEM_GPUS_CC_BMSAI_CAPABLE
  kCcSystemDevtoolsModeOff = 0,           // NVML_CC_SYSTEM_DEVTOOLS_MODE_OFF
  kCcSystemDevtoolsModeOn = 1,            // NVML_CC_SYSTEM_DEVTOOLS_MODE_ON
  kCcSystemEnvironmentUnavailable = 0,    // NVML_CC_SYSTEM_ENVIRONMENT_UNAVAILABLE
  kCcSystemEnvironmentProd = 2,           // NVML_CC_SYSTEM_ENVIRONMENT_PROD
  kCcSystemFeatureDisabled = 0,           // NVML_CC_SYSTEM_FEATURE_DISABLED
  kCcSystemFeatureEnabled = 1,            // NVML_CC_SYSTEM_FEATURE_ENABLED
  kCcSystemFeatureBmsaiEnabled = 2,       // NVML_CC_SYSTEM_FEATURE_BMSAI_ENABLED
  kCcSystemMultigpuNone = 0,              // NVML_CC_SYSTEM_MULTIGPU_NONE
  kCcSystemMultigpuProtectedPcie = 1,     // NVML_CC_SYSTEM_MULTIGPU_PROTECTED_PCIE
  kCcSystemMultigpuNvle = 2,              // NVML_CC_SYSTEM_MULTIGPU_NVLE
  kCcSystemTdispStateDisabled = 0,        // NVML_CC_SYSTEM_TDISP_STATE_DISABLED
  kCcSystemTdispStateNotReady = 1,        // NVML_CC_SYSTEM_TDISP_STATE_NOT_READY
  kCcSystemTdispStateReady = 2,           // NVML_CC_SYSTEM_TDISP_STATE_READY
};

/// The rest.
enum : unsigned {
  kValueNotAvailable = 0xffffffff,  // NVML_VALUE_NOT_AVAILABLE
  kFlagDefault = 0,                 // nvmlFlagDefault
  kFlagForce = 1,                   // nvmlFlagForce
  kInitFlagNoGpus = 0x1,            // NVML_INIT_FLAG_NO_GPUS
  kInitFlagNoAttach = 0x2,          // NVML_INIT_FLAG_NO_ATTACH
  kInitFlagForceInit = 0x4,         // NVML_INIT_FLAG_FORCE_INIT
  kAffinityScopeNode = 0,           // NVML_AFFINITY_SCOPE_NODE
  kAffinityScopeSocket = 1,         // NVML_AFFINITY_SCOPE_SOCKET
  kGpmMetricsGetVersion = 1,        // NVML_GPM_METRICS_GET_VERSION
  kGpmSupportVersion = 1,           // NVML_GPM_SUPPORT_VERSION
};

}  // namespace gpuop::gpu::nvml
