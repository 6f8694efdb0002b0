#pragma once
// NVML's handles and enumerations, declared by ourselves: a driver's header is not needed to build, and abi_test holds
// every name here to the published nvml.h. The comment on each enumerator is NVML's own name.

namespace gpuop::gpu::nvml {

// Handles are opaque, and good until nvmlShutdown or until what they stand for is destroyed.
using ComputeInstance = struct ComputeInstanceHandle*;  // nvmlComputeInstance_t
using Device = struct DeviceHandle*;                    // nvmlDevice_t
using EventSet = struct EventSetHandle*;                // nvmlEventSet_t
using GpmSample = struct GpmSampleHandle*;              // nvmlGpmSample_t
using GpuInstance = struct GpuInstanceHandle*;          // nvmlGpuInstance_t
using SystemEventSet = struct SystemEventSetHandle*;    // nvmlSystemEventSet_t
using Unit = struct UnitHandle*;                        // nvmlUnit_t

/// nvmlReturn_t: what a call answers.
enum class Return : unsigned {
  kSuccess = 0,                   // NVML_SUCCESS
  kUninitialized = 1,             // NVML_ERROR_UNINITIALIZED
  kInvalidArgument = 2,           // NVML_ERROR_INVALID_ARGUMENT
  kNotSupported = 3,              // NVML_ERROR_NOT_SUPPORTED
  kNoPermission = 4,              // NVML_ERROR_NO_PERMISSION
  kAlreadyInitialized = 5,        // NVML_ERROR_ALREADY_INITIALIZED
  kNotFound = 6,                  // NVML_ERROR_NOT_FOUND
  kInsufficientSize = 7,          // NVML_ERROR_INSUFFICIENT_SIZE
  kInsufficientPower = 8,         // NVML_ERROR_INSUFFICIENT_POWER
  kDriverNotLoaded = 9,           // NVML_ERROR_DRIVER_NOT_LOADED
  kTimeout = 10,                  // NVML_ERROR_TIMEOUT
  kIrqIssue = 11,                 // NVML_ERROR_IRQ_ISSUE
  kLibraryNotFound = 12,          // NVML_ERROR_LIBRARY_NOT_FOUND
  kFunctionNotFound = 13,         // NVML_ERROR_FUNCTION_NOT_FOUND
  kCorruptedInforom = 14,         // NVML_ERROR_CORRUPTED_INFOROM
  kGpuIsLost = 15,                // NVML_ERROR_GPU_IS_LOST
  kResetRequired = 16,            // NVML_ERROR_RESET_REQUIRED
  kOperatingSystem = 17,          // NVML_ERROR_OPERATING_SYSTEM
  kLibRmVersionMismatch = 18,     // NVML_ERROR_LIB_RM_VERSION_MISMATCH
  kInUse = 19,                    // NVML_ERROR_IN_USE
  kMemory = 20,                   // NVML_ERROR_MEMORY
  kNoData = 21,                   // NVML_ERROR_NO_DATA
  kVgpuEccNotSupported = 22,      // NVML_ERROR_VGPU_ECC_NOT_SUPPORTED
  kInsufficientResources = 23,    // NVML_ERROR_INSUFFICIENT_RESOURCES
  kFreqNotSupported = 24,         // NVML_ERROR_FREQ_NOT_SUPPORTED
  kArgumentVersionMismatch = 25,  // NVML_ERROR_ARGUMENT_VERSION_MISMATCH
  kDeprecated = 26,               // NVML_ERROR_DEPRECATED
  kNotReady = 27,                 // NVML_ERROR_NOT_READY
  kGpuNotFound = 28,              // NVML_ERROR_GPU_NOT_FOUND
  kInvalidState = 29,             // NVML_ERROR_INVALID_STATE
  kResetTypeNotSupported = 30,    // NVML_ERROR_RESET_TYPE_NOT_SUPPORTED
  kUnknown = 999,                 // NVML_ERROR_UNKNOWN
};

/// nvmlBrandType_t.
enum class BrandType : unsigned {
  kUnknown = 0,             // NVML_BRAND_UNKNOWN
  kQuadro = 1,              // NVML_BRAND_QUADRO
  kTesla = 2,               // NVML_BRAND_TESLA
  kNvs = 3,                 // NVML_BRAND_NVS
  kGrid = 4,                // NVML_BRAND_GRID
  kGeforce = 5,             // NVML_BRAND_GEFORCE
  kTitan = 6,               // NVML_BRAND_TITAN
  kNvidiaVapps = 7,         // NVML_BRAND_NVIDIA_VAPPS
  kNvidiaVpc = 8,           // NVML_BRAND_NVIDIA_VPC
  kNvidiaVcs = 9,           // NVML_BRAND_NVIDIA_VCS
  kNvidiaVws = 10,          // NVML_BRAND_NVIDIA_VWS
  kNvidiaCloudGaming = 11,  // NVML_BRAND_NVIDIA_CLOUD_GAMING
  kNvidiaVgaming = 11,      // NVML_BRAND_NVIDIA_VGAMING
  kQuadroRtx = 12,          // NVML_BRAND_QUADRO_RTX
  kNvidiaRtx = 13,          // NVML_BRAND_NVIDIA_RTX
  kNvidia = 14,             // NVML_BRAND_NVIDIA
  kGeforceRtx = 15,         // NVML_BRAND_GEFORCE_RTX
  kTitanRtx = 16,           // NVML_BRAND_TITAN_RTX
  kNvidiaDla = 17,          // NVML_BRAND_NVIDIA_DLA
  kNvidiaNpu = 19,          // NVML_BRAND_NVIDIA_NPU
  kNvidiaVgamedev = 18,     // NVML_BRAND_NVIDIA_VGAMEDEV
};

/// nvmlGpuTopologyLevel_t: the nearest thing that two GPUs share, from near to far.
enum class GpuTopologyLevel : unsigned {
  kInternal = 0,     // NVML_TOPOLOGY_INTERNAL
  kSingle = 10,      // NVML_TOPOLOGY_SINGLE
  kMultiple = 20,    // NVML_TOPOLOGY_MULTIPLE
  kHostbridge = 30,  // NVML_TOPOLOGY_HOSTBRIDGE
  kNode = 40,        // NVML_TOPOLOGY_NODE
  kSystem = 50,      // NVML_TOPOLOGY_SYSTEM
};

/// nvmlGpuP2PCapsIndex_t.
enum class GpuP2PCapsIndex : unsigned {
  kRead = 0,     // NVML_P2P_CAPS_INDEX_READ
  kWrite = 1,    // NVML_P2P_CAPS_INDEX_WRITE
  kNvlink = 2,   // NVML_P2P_CAPS_INDEX_NVLINK
  kAtomics = 3,  // NVML_P2P_CAPS_INDEX_ATOMICS
  kPci = 4,      // NVML_P2P_CAPS_INDEX_PCI
  kProp = 4,     // NVML_P2P_CAPS_INDEX_PROP
  kUnknown = 5,  // NVML_P2P_CAPS_INDEX_UNKNOWN
};

/// nvmlGpuP2PStatus_t.
enum class GpuP2PStatus : unsigned {
  kOk = 0,                       // NVML_P2P_STATUS_OK
  kChipsetNotSupported = 1,      // NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED
  kGpuNotSupported = 2,          // NVML_P2P_STATUS_GPU_NOT_SUPPORTED
  kIohTopologyNotSupported = 3,  // NVML_P2P_STATUS_IOH_TOPOLOGY_NOT_SUPPORTED
  kDisabledByRegkey = 4,         // NVML_P2P_STATUS_DISABLED_BY_REGKEY
  kNotSupported = 5,             // NVML_P2P_STATUS_NOT_SUPPORTED
  kUnknown = 6,                  // NVML_P2P_STATUS_UNKNOWN
};

/// nvmlInforomObject_t.
enum class InforomObject : unsigned {
  kOem = 0,    // NVML_INFOROM_OEM
  kEcc = 1,    // NVML_INFOROM_ECC
  kPower = 2,  // NVML_INFOROM_POWER
  kDen = 3,    // NVML_INFOROM_DEN
};

/// nvmlEnableState_t: off or on.
enum class EnableState : unsigned {
  kDisabled = 0,  // NVML_FEATURE_DISABLED
  kEnabled = 1,   // NVML_FEATURE_ENABLED
};

/// nvmlPcieUtilCounter_t.
enum class PcieUtilCounter : unsigned {
  kTxBytes = 0,  // NVML_PCIE_UTIL_TX_BYTES
  kRxBytes = 1,  // NVML_PCIE_UTIL_RX_BYTES
};

/// nvmlClockType_t.
enum class ClockType : unsigned {
  kGraphics = 0,  // NVML_CLOCK_GRAPHICS
  kSm = 1,        // NVML_CLOCK_SM
  kMem = 2,       // NVML_CLOCK_MEM
  kVideo = 3,     // NVML_CLOCK_VIDEO
};

/// nvmlClockId_t.
enum class ClockId : unsigned {
  kCurrent = 0,          // NVML_CLOCK_ID_CURRENT
  kAppClockTarget = 1,   // NVML_CLOCK_ID_APP_CLOCK_TARGET
  kAppClockDefault = 2,  // NVML_CLOCK_ID_APP_CLOCK_DEFAULT
};

/// nvmlTemperatureSensors_t.
enum class TemperatureSensors : unsigned {
  kGpu = 0,  // NVML_TEMPERATURE_GPU
};

/// nvmlTemperatureThresholds_t.
enum class TemperatureThresholds : unsigned {
  kShutdown = 0,      // NVML_TEMPERATURE_THRESHOLD_SHUTDOWN
  kSlowdown = 1,      // NVML_TEMPERATURE_THRESHOLD_SLOWDOWN
  kAcousticMin = 4,   // NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MIN
  kAcousticCurr = 5,  // NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR
  kGpsCurr = 7,       // NVML_TEMPERATURE_THRESHOLD_GPS_CURR
};

/// nvmlPstates_t.
enum class Pstates : unsigned {
  k0 = 0,         // NVML_PSTATE_0
  k1 = 1,         // NVML_PSTATE_1
  k2 = 2,         // NVML_PSTATE_2
  k3 = 3,         // NVML_PSTATE_3
  k4 = 4,         // NVML_PSTATE_4
  k5 = 5,         // NVML_PSTATE_5
  k6 = 6,         // NVML_PSTATE_6
  k7 = 7,         // NVML_PSTATE_7
  k8 = 8,         // NVML_PSTATE_8
  k9 = 9,         // NVML_PSTATE_9
  k10 = 10,       // NVML_PSTATE_10
  k11 = 11,       // NVML_PSTATE_11
  k12 = 12,       // NVML_PSTATE_12
  k13 = 13,       // NVML_PSTATE_13
  k14 = 14,       // NVML_PSTATE_14
  k15 = 15,       // NVML_PSTATE_15
  kUnknown = 32,  // NVML_PSTATE_UNKNOWN
};

/// nvmlComputeMode_t.
enum class ComputeMode : unsigned {
  kDefault = 0,           // NVML_COMPUTEMODE_DEFAULT
  kExclusiveThread = 1,   // NVML_COMPUTEMODE_EXCLUSIVE_THREAD
  kProhibited = 2,        // NVML_COMPUTEMODE_PROHIBITED
  kExclusiveProcess = 3,  // NVML_COMPUTEMODE_EXCLUSIVE_PROCESS
};

/// nvmlMemoryErrorType_t.
enum class MemoryErrorType : unsigned {
  kCorrected = 0,    // NVML_MEMORY_ERROR_TYPE_CORRECTED
  kUncorrected = 1,  // NVML_MEMORY_ERROR_TYPE_UNCORRECTED
};

/// nvmlEccCounterType_t.
enum class EccCounterType : unsigned {
  kVolatileEcc = 0,   // NVML_VOLATILE_ECC
  kAggregateEcc = 1,  // NVML_AGGREGATE_ECC
};

/// nvmlMemoryLocation_t.
enum class MemoryLocation : unsigned {
  kL1Cache = 0,        // NVML_MEMORY_LOCATION_L1_CACHE
  kL2Cache = 1,        // NVML_MEMORY_LOCATION_L2_CACHE
  kDram = 2,           // NVML_MEMORY_LOCATION_DRAM
  kDeviceMemory = 2,   // NVML_MEMORY_LOCATION_DEVICE_MEMORY
  kRegisterFile = 3,   // NVML_MEMORY_LOCATION_REGISTER_FILE
  kTextureMemory = 4,  // NVML_MEMORY_LOCATION_TEXTURE_MEMORY
  kTextureShm = 5,     // NVML_MEMORY_LOCATION_TEXTURE_SHM
  kCbu = 6,            // NVML_MEMORY_LOCATION_CBU
  kSram = 7,           // NVML_MEMORY_LOCATION_SRAM
};

/// nvmlDriverModel_t.
enum class DriverModel : unsigned {
  kWddm = 0,  // NVML_DRIVER_WDDM
  kWdm = 1,   // NVML_DRIVER_WDM
  kMcdm = 2,  // NVML_DRIVER_MCDM
};

/// nvmlSamplingType_t.
enum class SamplingType : unsigned {
  kTotalPowerSamples = 0,         // NVML_TOTAL_POWER_SAMPLES
  kGpuUtilizationSamples = 1,     // NVML_GPU_UTILIZATION_SAMPLES
  kMemoryUtilizationSamples = 2,  // NVML_MEMORY_UTILIZATION_SAMPLES
  kEncUtilizationSamples = 3,     // NVML_ENC_UTILIZATION_SAMPLES
  kDecUtilizationSamples = 4,     // NVML_DEC_UTILIZATION_SAMPLES
  kProcessorClkSamples = 5,       // NVML_PROCESSOR_CLK_SAMPLES
  kMemoryClkSamples = 6,          // NVML_MEMORY_CLK_SAMPLES
  kModulePowerSamples = 7,        // NVML_MODULE_POWER_SAMPLES
  kJpgUtilizationSamples = 8,     // NVML_JPG_UTILIZATION_SAMPLES
  kOfaUtilizationSamples = 9,     // NVML_OFA_UTILIZATION_SAMPLES
};

/// nvmlValueType_t.
enum class ValueType : unsigned {
  kDouble = 0,            // NVML_VALUE_TYPE_DOUBLE
  kUnsignedInt = 1,       // NVML_VALUE_TYPE_UNSIGNED_INT
  kUnsignedLong = 2,      // NVML_VALUE_TYPE_UNSIGNED_LONG
  kUnsignedLongLong = 3,  // NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
  kSignedLongLong = 4,    // NVML_VALUE_TYPE_SIGNED_LONG_LONG
  kSignedInt = 5,         // NVML_VALUE_TYPE_SIGNED_INT
  kUnsignedShort = 6,     // NVML_VALUE_TYPE_UNSIGNED_SHORT
};

/// nvmlPerfPolicyType_t.
enum class PerfPolicyType : unsigned {
  kPower = 0,             // NVML_PERF_POLICY_POWER
  kThermal = 1,           // NVML_PERF_POLICY_THERMAL
  kSyncBoost = 2,         // NVML_PERF_POLICY_SYNC_BOOST
  kBoardLimit = 3,        // NVML_PERF_POLICY_BOARD_LIMIT
  kLowUtilization = 4,    // NVML_PERF_POLICY_LOW_UTILIZATION
  kReliability = 5,       // NVML_PERF_POLICY_RELIABILITY
  kTotalAppClocks = 10,   // NVML_PERF_POLICY_TOTAL_APP_CLOCKS
  kTotalBaseClocks = 11,  // NVML_PERF_POLICY_TOTAL_BASE_CLOCKS
};

/// nvmlPageRetirementCause_t.
enum class PageRetirementCause : unsigned {
  kMultipleSingleBitEccErrors = 0,  // NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS
  kDoubleBitEccError = 1,           // NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR
};

/// nvmlNvLinkCapability_t.
enum class NvLinkCapability : unsigned {
  kP2pSupported = 0,   // NVML_NVLINK_CAP_P2P_SUPPORTED
  kSysmemAccess = 1,   // NVML_NVLINK_CAP_SYSMEM_ACCESS
  kP2pAtomics = 2,     // NVML_NVLINK_CAP_P2P_ATOMICS
  kSysmemAtomics = 3,  // NVML_NVLINK_CAP_SYSMEM_ATOMICS
  kSliBridge = 4,      // NVML_NVLINK_CAP_SLI_BRIDGE
  kValid = 5,          // NVML_NVLINK_CAP_VALID
};

/// nvmlNvLinkErrorCounter_t.
enum class NvLinkErrorCounter : unsigned {
  kReplay = 0,    // NVML_NVLINK_ERROR_DL_REPLAY
  kRecovery = 1,  // NVML_NVLINK_ERROR_DL_RECOVERY
  kCrcFlit = 2,   // NVML_NVLINK_ERROR_DL_CRC_FLIT
  kCrcData = 3,   // NVML_NVLINK_ERROR_DL_CRC_DATA
  kEccData = 4,   // NVML_NVLINK_ERROR_DL_ECC_DATA
};

/// nvmlIntNvLinkDeviceType_t.
enum class IntNvLinkDeviceType : unsigned {
  kGpu = 0,        // NVML_NVLINK_DEVICE_TYPE_GPU
  kIbmnpu = 1,     // NVML_NVLINK_DEVICE_TYPE_IBMNPU
  kSwitch = 2,     // NVML_NVLINK_DEVICE_TYPE_SWITCH
  kUnknown = 255,  // NVML_NVLINK_DEVICE_TYPE_UNKNOWN
};

/// nvmlDetachGpuState_t.
enum class DetachGpuState : unsigned {
  kKeep = 0,    // NVML_DETACH_GPU_KEEP
  kRemove = 1,  // NVML_DETACH_GPU_REMOVE
};

/// nvmlPcieLinkState_t.
enum class PcieLinkState : unsigned {
  kKeep = 0,      // NVML_PCIE_LINK_KEEP
  kShutDown = 1,  // NVML_PCIE_LINK_SHUT_DOWN
};

/// nvmlGpuVirtualizationMode_t.
enum class GpuVirtualizationMode : unsigned {
  kNone = 0,         // NVML_GPU_VIRTUALIZATION_MODE_NONE
  kPassthrough = 1,  // NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH
  kVgpu = 2,         // NVML_GPU_VIRTUALIZATION_MODE_VGPU
  kHostVgpu = 3,     // NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU
  kHostVsga = 4,     // NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA
};

/// nvmlHostVgpuMode_t.
enum class HostVgpuMode : unsigned {
  kNonSriov = 0,  // NVML_HOST_VGPU_MODE_NON_SRIOV
  kSriov = 1,     // NVML_HOST_VGPU_MODE_SRIOV
};

/// nvmlGridLicenseFeatureCode_t.
enum class GridLicenseFeatureCode : unsigned {
  kUnknown = 0,       // NVML_GRID_LICENSE_FEATURE_CODE_UNKNOWN
  kVgpu = 1,          // NVML_GRID_LICENSE_FEATURE_CODE_VGPU
  kNvidiaRtx = 2,     // NVML_GRID_LICENSE_FEATURE_CODE_NVIDIA_RTX
  kVworkstation = 2,  // NVML_GRID_LICENSE_FEATURE_CODE_VWORKSTATION
  kGaming = 3,        // NVML_GRID_LICENSE_FEATURE_CODE_GAMING
  kCompute = 4,       // NVML_GRID_LICENSE_FEATURE_CODE_COMPUTE
  kVgamedev = 5,      // NVML_GRID_LICENSE_FEATURE_CODE_VGAMEDEV
};

/// nvmlDeviceAddressingModeType_t.
enum class DeviceAddressingModeType : unsigned {
  kNone = 0,  // NVML_DEVICE_ADDRESSING_MODE_NONE
  kHmm = 1,   // NVML_DEVICE_ADDRESSING_MODE_HMM
  kAts = 2,   // NVML_DEVICE_ADDRESSING_MODE_ATS
};

/// nvmlDeviceGpuRecoveryAction_t.
enum class DeviceGpuRecoveryAction : unsigned {
  kNone = 0,               // NVML_GPU_RECOVERY_ACTION_NONE
  kGpuReset = 1,           // NVML_GPU_RECOVERY_ACTION_GPU_RESET
  kNodeReboot = 2,         // NVML_GPU_RECOVERY_ACTION_NODE_REBOOT
  kDrainP2p = 3,           // NVML_GPU_RECOVERY_ACTION_DRAIN_P2P
  kDrainAndReset = 4,      // NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET
  kRecoverImexDomain = 5,  // NVML_GPU_RECOVERY_ACTION_RECOVER_IMEX_DOMAIN
  kBusReset = 6,           // NVML_GPU_RECOVERY_ACTION_BUS_RESET
  kSystemReboot = 7,       // NVML_GPU_RECOVERY_ACTION_SYSTEM_REBOOT
};

}  // namespace gpuop::gpu::nvml
