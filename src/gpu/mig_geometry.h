#pragma once
// MIG as arithmetic: which GPU instances a model can hold, and where. The tables follow NVIDIA's MIG User Guide and
// `nvidia-smi mig -lgip` listings; nothing here asks a device.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpuop::gpu {

/// Engines besides the multiprocessors. A GPU has a fixed number of each, which its instances share out.
struct MigEngines {
  unsigned copy = 0, decoder = 0, encoder = 0, jpeg = 0, ofa = 0;
  bool operator==(const MigEngines&) const = default;
};

/// Memory slices [start, start + size) of a GPU.
struct MigPlacement {
  unsigned start = 0, size = 0;
  auto operator<=>(const MigPlacement&) const = default;
};

/// A kind of GPU instance of one model.
struct MigProfile {
  /// As users write it: "1g.5gb", "1g.10gb+me", "1g.24gb-me".
  std::string_view name;
  /// NVML's profile index (nvml::kGpuInstanceProfile1Slice, …), by which profile information is asked for.
  unsigned nvml_profile = 0;
  /// The number that create calls take and `nvidia-smi mig -lgip` shows.
  unsigned id = 0;
  /// Compute slices: the g in the name.
  unsigned slices = 0;
  unsigned max_instances = 0;
  unsigned multiprocessors = 0;
  MigEngines engines;
  std::uint64_t memory_mib = 0;
  /// Memory slices of one instance, and where it may begin: starts `step` apart from 0, `starts` of them.
  unsigned size = 0, step = 0, starts = 0;
  /// Graphics APIs work in it.
  bool graphics = false;

  std::optional<MigPlacement> PlacementAt(unsigned start) const;
};

/// A model of GPU that can be partitioned.
struct MigModel {
  /// "A100-40GB", "H100-NVL-94GB", …: the name of these tables, not a product name.
  std::string_view name;
  /// PCI device ids (the high half of NVML's pciDeviceId).
  std::span<const std::uint16_t> device_ids;
  /// What nvmlDeviceGetMemoryInfo reports as total.
  std::uint64_t memory_mib = 0;
  unsigned compute_slices = 0, memory_slices = 0;
  /// All the engines there are; the instances together never have more.
  MigEngines engines;
  /// In the order in which `nvidia-smi mig -lgip` lists them.
  std::span<const MigProfile> profiles;
  /// A change of MIG mode waits for a reset of the GPU (Ampere); Hopper and later switch at once.
  bool mode_needs_reset = false;

  const MigProfile* FindByName(std::string_view profile) const;
  const MigProfile* FindById(unsigned id) const;
  const MigProfile* FindByNvmlProfile(unsigned nvml_profile) const;
};

/// Every model known here.
std::span<const MigModel> MigModels();
/// By MigModel::name; null when unknown.
const MigModel* FindMigModel(std::string_view name);
/// By PCI device id and total memory, since some ids serve several sizes; null for a model without MIG or unknown here.
const MigModel* FindMigModel(std::uint16_t device_id, std::uint64_t memory_mib);

/// One GPU instance on a GPU.
struct MigInstance {
  const MigProfile* profile = nullptr;
  MigPlacement placement;
};

/// Why `profile` cannot be put at `placement` beside `taken`; empty when it can. A start that the profile does not
/// know, an overlap, too many of its kind, no compute slice or no engine left.
std::string WhyNot(const MigModel& model, std::span<const MigInstance> taken, const MigProfile& profile,
                   MigPlacement placement);

/// Every place where one more `profile` fits beside `taken`, by start.
std::vector<MigPlacement> FreePlacements(const MigModel& model, std::span<const MigInstance> taken,
                                         const MigProfile& profile);

/// How many more of `profile` fit at once beside `taken`: what nvmlDeviceGetGpuInstanceRemainingCapacity answers.
unsigned RemainingCapacity(const MigModel& model, std::span<const MigInstance> taken, const MigProfile& profile);

/// Where the next `profile` goes when nobody says: where it leaves the most room for others, the highest start among
/// equals. nullopt when it fits nowhere.
std::optional<MigPlacement> PreferredPlacement(const MigModel& model, std::span<const MigInstance> taken,
                                               const MigProfile& profile);

/// Places for all of `wanted` beside `kept`, in the order of `wanted`; the answer is a function of its arguments, and
/// if any layout exists one is found. kUnavailable, naming the first profile for which there is no room, when none
/// does.
Result<std::vector<MigInstance>> Place(const MigModel& model, std::span<const MigInstance> kept,
                                       std::span<const MigProfile* const> wanted);

/// The id that a GPU instance at `placement` gets: 0 for the whole GPU, then 1–2, 3–6, 7–14 for halves, quarters and
/// eighths from the left.
unsigned GpuInstanceId(const MigModel& model, MigPlacement placement);

/// A kind of compute instance inside a GPU instance.
struct MigComputeProfile {
  /// NVML's compute instance profile index, and the id that create calls take.
  unsigned nvml_profile = 0, id = 0;
  /// Compute slices: the c in the name.
  unsigned slices = 0;
  unsigned max_instances = 0;
  unsigned multiprocessors = 0;
  /// Where in the instance's compute slices it may begin.
  std::vector<unsigned> starts = {};
};

/// What a GPU instance of `profile` can be split into; the one that takes it whole is last.
std::vector<MigComputeProfile> ComputeProfiles(const MigModel& model, const MigProfile& profile);

/// The name of `slices` compute slices of a GPU instance: "1c.3g.20gb", and "3g.20gb" when they are all it has.
std::string ComputeProfileName(const MigProfile& profile, unsigned slices);

}  // namespace gpuop::gpu
