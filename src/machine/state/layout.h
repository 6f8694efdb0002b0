#pragma once
// What the state file of a machine holds: docs/formats/machine-state.md. Every process of the machine maps it, whatever
// its mount or pid namespace, so there are no pointers, only fixed-size integers and texts. Little-endian, naturally
// aligned, the same on amd64 and arm64. Apart from the futex words everything is read and written under state::Guard.

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace gpuop::machine::layout {

inline constexpr std::uint64_t kMagic = 0x6c6e69616d757067;  // "gpumainl"
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kMaxDevices = 16;
inline constexpr std::size_t kMaxLinks = 18;
/// GPU instance ids are 0 … 14 (whole, halves, quarters, eighths), compute instance ids 0 … 7.
inline constexpr std::size_t kMaxGpuInstances = 15;
inline constexpr std::size_t kMaxComputeInstances = 8;
inline constexpr std::size_t kMaxClients = 1024;
inline constexpr std::size_t kMaxEvents = 1024;
inline constexpr std::size_t kMaxRetiredPages = 64;
/// Stands for no GPU or compute instance: the whole device.
inline constexpr std::uint32_t kNoInstance = 0xffffffff;

/// A short text, cut to what fits, always ended by a zero byte.
template <std::size_t N>
struct Text {
  char bytes[N];

  std::string_view view() const { return {bytes, ::strnlen(bytes, N)}; }
  void Set(std::string_view text) {
    std::memset(bytes, 0, N);
    std::memcpy(bytes, text.data(), text.size() < N ? text.size() : N - 1);
  }
  bool empty() const { return bytes[0] == 0; }
};

/// A truth value of fixed size.
using Flag = std::uint8_t;

enum class Architecture : std::uint32_t {  // NVML_DEVICE_ARCH_*
  kPascal = 4,
  kVolta = 5,
  kTuring = 6,
  kAmpere = 7,
  kAda = 8,
  kHopper = 9,
  kBlackwell = 10,
};

/// Clock domains in NVML's order (nvmlClockType_t).
enum ClockDomain : std::uint32_t { kClockGraphics = 0, kClockSm = 1, kClockMemory = 2, kClockVideo = 3, kClocks = 4 };

/// Where memory errors are counted (nvmlMemoryLocation_t: L1, L2, device memory, registers, texture, shared, cbu,
/// SRAM).
inline constexpr std::size_t kEccLocations = 8;

/// What a device is; fixed while the machine is on.
struct DeviceFacts {
  Text<96> name;           ///< "NVIDIA A100-SXM4-40GB"
  Text<80> uuid;           ///< "GPU-…"
  Text<32> serial;         ///< empty: has none
  Text<32> part_number;    ///< of the board
  Text<32> vbios;          ///< "92.00.45.00.03"
  Text<16> inforom_image;  ///< "G506.0200.00.04"; empty: no inforom
  Text<16> inforom_ecc;    ///< "6.16"
  Text<16> inforom_oem;    ///< "2.0"
  Text<16> inforom_power;  ///< "" as on most
  Text<32> mig_model;      ///< which table of gpu/mig_geometry.h; empty: no MIG
  std::uint32_t brand;     ///< nvmlBrandType_t
  Architecture architecture;
  std::uint32_t compute_major, compute_minor;
  std::uint32_t minor;  ///< of /dev/nvidiaN
  std::uint32_t pci_domain, pci_bus, pci_device;
  std::uint32_t pci_id;         ///< device id << 16 | vendor id
  std::uint32_t pci_subsystem;  ///< the same of the subsystem
  std::int32_t numa_node;       ///< -1: none
  std::uint32_t reserved;
  std::array<std::uint64_t, 4> cpus;  ///< bit n: CPU n is near the device
  std::uint32_t module_id;            ///< place on the base board, from 1; 0: no such thing
  std::uint32_t board_id;             ///< devices with the same id share a board
  std::uint32_t sm_count;
  std::uint32_t cores_per_sm;
  std::uint32_t copy_engines, encoders, decoders, jpegs, ofas;
  std::uint32_t l2_cache_kib;
  std::uint32_t memory_bus_bits;
  std::uint64_t memory_bytes;    ///< total; with unified memory the host's, of which NVML does not speak
  std::uint64_t reserved_bytes;  ///< of it, what driver and firmware keep
  std::uint64_t bar1_bytes;
  std::uint32_t pcie_gen, pcie_width;  ///< the most the device and its slot can
  std::array<std::uint32_t, kClocks> max_clock_mhz;
  std::array<std::uint32_t, kClocks> idle_clock_mhz;
  std::uint32_t power_min_mw, power_max_mw, power_default_mw, power_idle_mw;
  std::uint32_t slowdown_c, shutdown_c, max_operating_c, memory_max_c;
  std::uint32_t fans;             ///< 0: cooled by the chassis
  std::uint32_t nvlinks;          ///< how many the device has
  std::uint32_t nvlink_version;   ///< 1, 2, 3, 4, 5 …: as the part's generation is called
  std::uint32_t nvlink_mb_per_s;  ///< per link and direction
  Flag nvlink_to_switch;          ///< links end at NVSwitches; else at `nvlink_peer`
  Flag unified_memory;            ///< as GB10: no memory of its own
  Flag ecc_supported;
  Flag row_remapping;  ///< Ampere and newer with ECC; else pages are retired
  Flag gpm_supported;
  Flag fabric_supported;  ///< the fabric manager registers it (NVSwitch machines)
  Flag c2c;               ///< chip-to-chip link to the CPU
  Flag display_capable;
  std::array<std::uint8_t, kMaxLinks> nvlink_peer;  ///< device index, or 0xff
  Text<40> fabric_cluster;                          ///< UUID; empty: single node
  std::uint32_t fabric_clique;
  std::uint32_t gsp_firmware;  ///< 1: runs
  std::uint32_t persistence;   ///< what the persistence daemon sets at boot
};

/// How a memory slice or a part of a GPU is held.
struct ComputeInstance {
  Flag in_use;           ///< written last when made, first when destroyed
  std::uint8_t profile;  ///< NVML_COMPUTE_INSTANCE_PROFILE_*
  std::uint8_t engine_profile;
  std::uint8_t start, size;  ///< compute slices inside the GPU instance
  std::uint8_t reserved[3];
};

struct GpuInstance {
  Flag in_use;               ///< written last when made, first when destroyed
  std::uint8_t profile;      ///< NVML_GPU_INSTANCE_PROFILE_*
  std::uint8_t start, size;  ///< memory slices
  std::uint8_t slices;       ///< compute slices
  std::uint8_t reserved[3];
  std::uint32_t sm_count;
  std::uint32_t copy_engines, decoders, encoders, jpegs, ofas;
  std::uint64_t memory_bytes;
  std::array<ComputeInstance, kMaxComputeInstances> compute;
};

/// Memory errors: [0] volatile (since the last reset), [1] aggregate (the board's life).
struct EccCounts {
  std::array<std::array<std::uint64_t, kEccLocations>, 2> corrected, uncorrected;
};

struct Link {
  Flag up;
  Flag reserved[7];
  std::uint64_t replay, recovery, crc_flit, crc_data, ecc_data;
  std::uint64_t rx_kib, tx_kib;
};

/// Fabric manager's registration (nvmlGpuFabricState_t).
enum FabricState : std::uint32_t {
  kFabricNotSupported = 0,
  kFabricNotStarted = 1,
  kFabricInProgress = 2,
  kFabricCompleted = 3
};

/// What can be wrong with one device, beyond counters. Bits of Device::faults.
enum DeviceFault : std::uint32_t {
  kFaultOffBus = 1U << 0,       ///< fell off the bus: nothing answers (Xid 79)
  kFaultLost = 1U << 1,         ///< the driver gave it up: NVML_ERROR_GPU_IS_LOST
  kFaultNeedsReset = 1U << 2,   ///< NVML_ERROR_RESET_REQUIRED until it is reset
  kFaultWrongResult = 1U << 3,  ///< kernels compute wrong values, silently
  kFaultThermal = 1U << 4,      ///< over its slowdown temperature
  kFaultPowerBrake = 1U << 5,   ///< the power supply asks to slow down
  kFaultKernelHang = 1U << 6,   ///< kernels never finish
  kFaultContexts = 1U << 7,     ///< an uncontained error: every context on it is dead until the reset
  kFaultPowerCable = 1U << 8,   ///< NVML_ERROR_INSUFFICIENT_POWER
  kFaultNodeMissing = 1U << 9,  ///< no /dev/nvidiaN
  kFaultMigBusy = 1U << 10,     ///< changes of MIG mode and instances answer NVML_ERROR_IN_USE
};

struct Device {
  DeviceFacts facts;
  std::uint32_t faults;  ///< DeviceFault
  std::uint32_t last_xid;
  std::uint32_t recovery_action;  ///< nvmlDeviceGpuRecoveryAction_t: 0 none, 1 reset, 2 reboot, 3 drain, 4 drain+reset
  std::uint32_t generation;       ///< of this device; each reset adds 1, and contexts of an older one are dead
  std::uint32_t persistence;      ///< 0 or 1
  std::uint32_t compute_mode;     ///< nvmlComputeMode_t
  std::uint32_t accounting;       ///< 0 or 1
  std::uint32_t mig_current, mig_pending;             ///< 0 or 1
  std::uint32_t ecc_current, ecc_pending;             ///< 0 or 1
  std::uint32_t utilization_gpu, utilization_memory;  ///< percent, what a fault or a running kernel set
  std::uint32_t utilization_encoder, utilization_decoder;
  std::uint32_t temperature_c, memory_temperature_c;
  std::uint32_t fan_percent;
  std::uint32_t power_mw;
  std::uint32_t power_limit_mw;
  std::uint32_t pstate;
  std::uint32_t pcie_gen, pcie_width;  ///< now
  std::array<std::uint32_t, kClocks> clock_mhz;
  std::array<std::uint32_t, 2> locked_graphics_mhz, locked_memory_mhz;  ///< 0, 0: not locked
  std::uint64_t clock_reasons;  ///< nvmlClocksEventReasons*, from faults and commands
  std::uint64_t energy_mj;      ///< up to `energy_at_ns`; power_mw since then
  std::uint64_t energy_at_ns;   ///< CLOCK_BOOTTIME
  std::uint64_t violation_power_ns, violation_thermal_ns;
  std::uint64_t pcie_replays;
  std::uint64_t pcie_tx_kb_s, pcie_rx_kb_s;
  EccCounts ecc;
  std::uint32_t remapped_correctable, remapped_uncorrectable;
  Flag remap_pending, remap_failed;
  Flag reserved[6];
  std::array<std::uint32_t, 5> remap_banks;  ///< by spare rows left: all, high, partial, low, none
  std::uint32_t retired_single, retired_double;
  Flag retired_pending;
  Flag reserved2[7];
  std::array<std::uint64_t, kMaxRetiredPages> retired_addresses;
  std::array<Link, kMaxLinks> links;
  std::uint32_t fabric_state;   ///< FabricState
  std::uint32_t fabric_status;  ///< an nvmlReturn_t
  std::uint32_t fabric_health;  ///< health mask, docs of nvmlGpuFabricInfoV_t
  std::uint32_t reserved3;
  std::uint64_t kernels;                                ///< launched on it, ever
  std::array<GpuInstance, kMaxGpuInstances> instances;  ///< by id
};

/// One context: a process that uses one device (or one compute instance of it). Dead ones are found by their lock
/// (docs/formats/machine-state.md), so the entry goes whatever way the process ends.
struct Client {
  std::uint32_t in_use;  ///< 0 free, 1 compute, 2 graphics; written last when taken, first when freed
  std::uint32_t device;  ///< index
  std::uint32_t gpu_instance, compute_instance;  ///< kNoInstance: the whole device
  std::uint32_t device_generation;               ///< Device::generation when the context was made
  std::int32_t pid;                              ///< as the process itself sees it
  std::uint64_t pid_namespace;                   ///< inode of /proc/self/ns/pid
  std::uint64_t started_ns;                      ///< CLOCK_REALTIME
  std::uint64_t bytes;                           ///< of device memory
  std::uint64_t bytes_most;                      ///< ever
  std::uint32_t utilization;                     ///< percent of the SMs
  std::uint32_t dead;                            ///< CUDA error that ended it: 0, or what every later call answers
  Text<64> name;                                 ///< the program
};

/// What happened on a device; kinds are NVML's event type bits.
struct Event {
  std::uint64_t sequence = 0;  ///< from 1
  std::uint64_t time_ns = 0;   ///< CLOCK_REALTIME
  std::uint64_t kind = 0;      ///< one nvmlEventType* bit
  std::uint64_t data = 0;      ///< the Xid, for kEventXid
  std::uint32_t device = 0;    ///< index
  std::uint32_t gpu_instance = kNoInstance, compute_instance = kNoInstance;
  std::int32_t pid = 0;  ///< whose context, 0 none
};
enum EventKind : std::uint64_t {
  kEventEccSingle = 0x1,
  kEventEccDouble = 0x2,
  kEventPstate = 0x4,
  kEventXid = 0x8,
  kEventClock = 0x10,
  kEventPowerSource = 0x80,
  kEventMigConfig = 0x100,
  kEventEccSingleStorm = 0x200,
  kEventDramRetirement = 0x400,
  kEventDramRetirementFailure = 0x800,
  kEventPoisonNonFatal = 0x1000,
  kEventPoisonFatal = 0x2000,
  kEventUnavailable = 0x4000,
  kEventRecoveryAction = 0x8000,
};

/// What can be wrong with the machine as a whole. Bits of Machine::faults.
enum MachineFault : std::uint32_t {
  kFaultDriverMissing = 1U << 0,    ///< nothing of the driver is installed
  kFaultModuleMissing = 1U << 1,    ///< the kernel modules are not loaded: NVML_ERROR_DRIVER_NOT_LOADED, CUDA 100
  kFaultModuleVermagic = 1U << 2,   ///< they were built for another kernel, and so cannot be loaded
  kFaultVersionMismatch = 1U << 3,  ///< library and kernel module differ: NVML_ERROR_LIB_RM_VERSION_MISMATCH, CUDA 803
  kFaultUvmMissing = 1U << 4,       ///< no /dev/nvidia-uvm: CUDA 999, NVML is well
  kFaultHang = 1U << 5,             ///< the NVML call named in hang_call (all, when empty) waits until the fault goes
  kFaultNoPermission = 1U << 6,     ///< changing calls answer NVML_ERROR_NO_PERMISSION
  kFaultFabric = 1U << 7,           ///< the fabric manager does not finish: CUDA 802
};
/// With one of these no call reaches a driver.
inline constexpr std::uint32_t kFaultsWithoutDriver = kFaultDriverMissing | kFaultModuleMissing | kFaultModuleVermagic;

/// The whole file.
struct Machine {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t size;                      ///< sizeof(Machine)
  std::atomic<std::uint32_t> event_word;   ///< futex: one more for each event
  std::atomic<std::uint32_t> change_word;  ///< futex: one more for each change of anything
  std::uint32_t writing;                   ///< not 0: a writer died in the middle; the next one repairs
  std::uint32_t device_count;
  std::uint64_t boots;          ///< how often the machine was switched on
  std::uint64_t booted_ns;      ///< CLOCK_REALTIME
  std::uint64_t engine_starts;  ///< how often the container engine was started since the boot
  std::uint64_t events;         ///< how many there ever were; the ring holds the last kMaxEvents
  std::uint32_t faults;         ///< MachineFault
  std::uint32_t cuda_driver;    ///< 12040 for CUDA 12.4
  Text<64> name;                ///< of the machine: the node's
  Text<32> driver_version;      ///< "550.163.01"
  Text<40> hang_call;
  Text<24> gsp_version;
  std::uint32_t cpus;  ///< of the whole machine
  std::uint32_t numa_nodes;
  std::uint32_t open_kernel_module;  ///< 1: "Dual MIT/GPL"
  std::uint32_t clients_end;         ///< no entry from here on is in use
  std::uint32_t reserved;
  std::uint32_t confidential;  ///< 1: confidential computing is on
  std::array<Device, kMaxDevices> devices;
  std::array<Client, kMaxClients> clients;
  std::array<Event, kMaxEvents> ring;
};

static_assert(std::is_standard_layout_v<Machine>);
static_assert(std::is_trivially_copyable_v<Device> && std::is_trivially_copyable_v<Client>);
static_assert(sizeof(GpuInstance) == 104 && sizeof(Client) == 128 && sizeof(Event) == 48 && sizeof(Link) == 64);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace gpuop::machine::layout
