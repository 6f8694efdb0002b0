#pragma once
// What GPUs a machine has: one immutable snapshot, read from NVML in a single pass (inventory_reader.h).

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/mig_geometry.h"

namespace gpuop::gpu {

/// A PCI function as NVML names it.
struct PciLocation {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0, device = 0;
  std::uint16_t vendor_id = 0, device_id = 0, subsystem_vendor_id = 0, subsystem_id = 0;

  /// As sysfs writes it: "0000:3b:00.0".
  std::string Sysfs() const;
  /// As NVML writes it: "00000000:3B:00.0".
  std::string Nvml() const;
  bool operator==(const PciLocation&) const = default;
};

/// A compute instance: what a program runs on. With its GPU instance it is a MIG device.
struct ComputeInstance {
  unsigned id = 0;
  /// The MIG device's "MIG-…"; empty while NVML has no such device yet.
  std::string uuid;
  /// Its position among the GPU's MIG devices; those without a device have none.
  std::optional<unsigned> mig_index;
  /// "1g.5gb", "1c.3g.20gb".
  std::string profile;
  unsigned profile_id = 0;
  MigPlacement placement;
  unsigned slices = 0;
  unsigned multiprocessors = 0;
  /// Engines it shares with the other compute instances of its GPU instance.
  MigEngines engines;
  std::uint64_t memory_mib = 0;

  bool operator==(const ComputeInstance&) const = default;
};

/// A GPU instance. One without compute instances takes room and serves nobody.
struct GpuInstance {
  unsigned id = 0;
  unsigned profile_id = 0;
  /// "3g.20gb"; empty when neither NVML nor the tables know the profile.
  std::string profile;
  unsigned slices = 0;
  MigPlacement placement;
  std::uint64_t memory_mib = 0;
  std::vector<ComputeInstance> compute_instances;

  bool operator==(const GpuInstance&) const = default;
};

struct MigState {
  /// NVML knows a MIG mode for this GPU.
  bool capable = false;
  bool enabled = false;
  /// What the mode becomes at the next reset.
  bool pending = false;
  unsigned max_devices = 0;
  /// By id.
  std::vector<GpuInstance> instances;

  bool operator==(const MigState&) const = default;
};

/// One NVLink of a GPU.
struct NvLink {
  unsigned link = 0;
  bool active = false;
  unsigned version = 0;
  enum class Remote { kUnknown, kGpu, kSwitch } remote = Remote::kUnknown;
  /// The GPU at the other end, "00000000:CB:00.0"; empty when the link is down or ends at a switch.
  std::string remote_pci;

  bool operator==(const NvLink&) const = default;
};

/// A GPU's place in an NVLink fabric.
struct Fabric {
  enum class State { kNotSupported, kNotStarted, kInProgress, kCompleted } state = State::kNotSupported;
  /// NVML's name of the outcome ("NVML_SUCCESS") once the state is kCompleted.
  std::string status;
  /// As a UUID's text; all zero when the fabric is one machine.
  std::string cluster_uuid;
  unsigned clique_id = 0;

  bool operator==(const Fabric&) const = default;
};

/// What serves virtual machines, if anything.
enum class Virtualization { kNone, kPassthrough, kVgpuGuest, kHostVgpu, kHostVsga };

/// How the driver and the GPU address memory.
enum class Addressing { kUnknown, kNone, kHmm, kAts };

/// One GPU.
struct Device {
  /// NVML's index, which is also the order here.
  unsigned index = 0;
  /// Why this GPU could not be read ("NVML_ERROR_GPU_IS_LOST: GPU is lost"); empty for one that could. What had been
  /// read until then is kept, so that a lost GPU is still known by its place.
  std::string unreadable;

  std::string uuid;
  /// The N of /dev/nvidiaN.
  std::optional<unsigned> minor;
  /// "NVIDIA A100-SXM4-40GB".
  std::string product;
  std::string brand;
  /// "ampere", "hopper", … by compute capability; "undefined" when it is not in the table.
  std::string family;
  std::string serial;
  std::string board_part;
  std::string vbios;
  PciLocation pci;
  /// Absent on machines with a single node.
  std::optional<int> numa_node;
  /// 0 when the GPU has no memory of its own (unified with the host's).
  std::uint64_t memory_mib = 0;
  bool unified_memory = false;
  unsigned compute_major = 0, compute_minor = 0;
  MigState mig;
  std::vector<NvLink> links;
  Fabric fabric;
  Virtualization virtualization = Virtualization::kNone;
  Addressing addressing = Addressing::kUnknown;
  bool persistence = false;
  std::optional<bool> ecc_enabled;
  /// What the driver advises to do, as nvml::DeviceGpuRecoveryAction; 0: nothing. Absent with drivers that give no
  /// advice.
  std::optional<unsigned> recovery_action;

  /// The geometry of its model; null without MIG or for a model that the tables do not have.
  const MigModel* mig_model = nullptr;

  bool operator==(const Device&) const = default;
};

/// Whether the machine computes confidentially.
struct ConfidentialComputing {
  bool cpu_capable = false, gpus_capable = false;
  bool enabled = false, ready = false, devtools = false;
  bool operator==(const ConfidentialComputing&) const = default;
};

/// How close two GPUs are; larger is closer.
struct Closeness {
  /// Active NVLinks between them, directly or through switches.
  unsigned links = 0;
  enum class Path { kSystem, kNode, kHostBridge, kMultipleSwitches, kSingleSwitch, kSameBoard } path = Path::kSystem;
  bool operator==(const Closeness&) const = default;
};

/// A machine's GPUs at one moment.
struct Inventory {
  /// "550.163.01".
  std::string driver_version;
  std::string nvml_version;
  /// The CUDA that the driver serves, as NVML gives it: 12040 is 12.4. 0 when it does not say.
  int cuda_version = 0;
  ConfidentialComputing confidential;
  std::vector<Device> devices;
  /// closeness[i * devices.size() + j].
  std::vector<Closeness> closeness;

  const Closeness* Between(unsigned i, unsigned j) const;
  const Device* FindDevice(std::string_view uuid) const;
  bool operator==(const Inventory&) const = default;
};

/// A GPU or MIG device that came, went or changed between two snapshots.
struct InventoryChange {
  enum class What {
    kDriver,
    kAdded,
    kRemoved,
    kLost,
    kRecovered,
    kMigMode,
    kMigDevices,
    kLinks,
    kFabric,
    kOther
  } what = What::kOther;
  /// The device's UUID, or its PCI address when it has none; empty for kDriver.
  std::string device;
  bool operator==(const InventoryChange&) const = default;
};

/// What differs, device by device in the order of `after`, removed ones last; empty when nothing does.
std::vector<InventoryChange> Diff(const Inventory& before, const Inventory& after);

/// "ampere" for 8.0: NVIDIA's word for a generation, "undefined" for an unknown one.
std::string_view FamilyName(unsigned compute_major, unsigned compute_minor);

}  // namespace gpuop::gpu
