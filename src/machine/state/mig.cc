#include "machine/state/mig.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "machine/state/clients.h"
#include "machine/state/life.h"

namespace gpuop::machine {
namespace {

std::string Named(std::uint32_t device) { return "device " + std::to_string(device); }

/// The device, if its MIG mode is on.
Result<layout::Device*> WithMig(layout::Machine& machine, std::uint32_t device) {
  layout::Device& gpu = machine.devices[device];
  if (MigModelOf(gpu) == nullptr) return Fail(Code::kUnsupported, Named(device) + " has no MIG");
  if (gpu.mig_current == 0) return Fail(Code::kUnsupported, "the MIG mode of " + Named(device) + " is off");
  if ((gpu.faults & layout::kFaultMigBusy) != 0) return Fail(Code::kConflict, Named(device) + " is in use");
  return &gpu;
}

Result<layout::GpuInstance*> Existing(layout::Machine& machine, std::uint32_t device, std::uint32_t id) {
  ASSIGN(layout::Device * gpu, WithMig(machine, device));
  if (id >= gpu->instances.size() || gpu->instances[id].in_use == 0)
    return Fail(Code::kNotFound, Named(device) + " has no GPU instance " + std::to_string(id));
  return &gpu->instances[id];
}

void PushMigChange(layout::Machine& machine, std::uint32_t device, std::uint32_t instance) {
  PushEvent(machine, {.kind = layout::kEventMigConfig, .device = device, .gpu_instance = instance});
}

}  // namespace

const gpu::MigModel* MigModelOf(const layout::Device& device) {
  return device.facts.mig_model.empty() ? nullptr : gpu::FindMigModel(device.facts.mig_model.view());
}

const gpu::MigProfile& ProfileOf(const layout::Device& device, const layout::GpuInstance& instance) {
  const gpu::MigModel* model = MigModelOf(device);
  GPUOP_CHECK(model != nullptr);
  const gpu::MigProfile* profile = model->FindByNvmlProfile(instance.profile);
  GPUOP_CHECK(profile != nullptr);
  return *profile;
}

std::vector<gpu::MigInstance> InstancesOf(const layout::Device& device) {
  std::vector<gpu::MigInstance> out;
  for (const layout::GpuInstance& instance : device.instances)
    if (instance.in_use != 0) out.push_back({&ProfileOf(device, instance), {instance.start, instance.size}});
  return out;
}

Result<bool> SetMigMode(State& state, layout::Machine& machine, std::uint32_t device, bool on) {
  layout::Device& gpu = machine.devices[device];
  if (MigModelOf(gpu) == nullptr) return Fail(Code::kUnsupported, Named(device) + " has no MIG");
  if ((gpu.faults & layout::kFaultMigBusy) != 0) return Fail(Code::kConflict, Named(device) + " is in use");
  gpu.mig_pending = on ? 1 : 0;
  if (gpu.mig_pending == gpu.mig_current) return true;
  Reclaim(state, machine);
  const bool holds = std::ranges::any_of(gpu.instances, [](const auto& instance) { return instance.in_use != 0; });
  if (holds || InUse(machine, {.device = device})) return false;
  return ResetDevice(state, machine, device).has_value();
}

Result<std::uint32_t> CreateGpuInstance(State&, layout::Machine& machine, std::uint32_t device,
                                        std::uint32_t profile_id, std::optional<std::uint32_t> start) {
  ASSIGN(layout::Device * gpu, WithMig(machine, device));
  const gpu::MigModel& model = *MigModelOf(*gpu);
  const gpu::MigProfile* profile = model.FindById(profile_id);
  if (profile == nullptr) return Fail(Code::kInvalid, "no profile has the id " + std::to_string(profile_id));
  const auto taken = InstancesOf(*gpu);
  auto placement = start ? profile->PlacementAt(*start) : gpu::PreferredPlacement(model, taken, *profile);
  if (!placement && start)
    return Fail(Code::kInvalid, std::string(profile->name) + " cannot begin at " + std::to_string(*start));
  if (!placement) return Fail(Code::kUnavailable, "no room for another " + std::string(profile->name));
  if (const std::string why = gpu::WhyNot(model, taken, *profile, *placement); !why.empty())
    return Fail(Code::kUnavailable, why);
  const std::uint32_t id = gpu::GpuInstanceId(model, *placement);
  FillInstance(gpu->instances[id], *profile, *placement);
  PushMigChange(machine, device, id);
  return id;
}

Result<> DestroyGpuInstance(State& state, layout::Machine& machine, std::uint32_t device, std::uint32_t id) {
  ASSIGN(layout::GpuInstance * instance, Existing(machine, device, id));
  Reclaim(state, machine);
  const bool holds = std::ranges::any_of(instance->compute, [](const auto& compute) { return compute.in_use != 0; });
  if (holds || InUse(machine, {.device = device, .gpu_instance = id}))
    return Fail(Code::kConflict, "GPU instance " + std::to_string(id) + " of " + Named(device) + " is in use");
  instance->in_use = 0;
  PushMigChange(machine, device, id);
  return {};
}

std::vector<gpu::MigComputeProfile> ComputeProfilesOf(const layout::Device& device,
                                                      const layout::GpuInstance& instance) {
  return gpu::ComputeProfiles(*MigModelOf(device), ProfileOf(device, instance));
}

std::vector<std::uint32_t> FreeComputeStarts(const layout::GpuInstance& instance,
                                             const gpu::MigComputeProfile& profile) {
  std::vector<std::uint32_t> out;
  for (const unsigned start : profile.starts) {
    const bool free = std::ranges::none_of(instance.compute, [&](const layout::ComputeInstance& other) {
      return other.in_use != 0 && start < other.start + unsigned{other.size} && other.start < start + profile.slices;
    });
    if (free) out.push_back(start);
  }
  return out;
}

Result<std::uint32_t> CreateComputeInstance(State&, layout::Machine& machine, std::uint32_t device,
                                            std::uint32_t gpu_instance, std::uint32_t profile_id,
                                            std::optional<std::uint32_t> start) {
  ASSIGN(layout::GpuInstance * instance, Existing(machine, device, gpu_instance));
  const auto profiles = ComputeProfilesOf(machine.devices[device], *instance);
  const auto profile = std::ranges::find(profiles, profile_id, &gpu::MigComputeProfile::id);
  if (profile == profiles.end())
    return Fail(Code::kInvalid, "no compute profile has the id " + std::to_string(profile_id));
  if (start && std::ranges::find(profile->starts, *start) == profile->starts.end())
    return Fail(Code::kInvalid, "the profile cannot begin at " + std::to_string(*start));
  const auto starts = FreeComputeStarts(*instance, *profile);
  if (starts.empty() || (start && std::ranges::find(starts, *start) == starts.end()))
    return Fail(Code::kUnavailable, "no room in GPU instance " + std::to_string(gpu_instance));
  const auto entry = std::ranges::find(instance->compute, 0, &layout::ComputeInstance::in_use);
  GPUOP_CHECK(entry != instance->compute.end());
  FillComputeInstance(*entry, *profile, start.value_or(starts.front()));
  PushMigChange(machine, device, gpu_instance);
  return static_cast<std::uint32_t>(entry - instance->compute.begin());
}

Result<> DestroyComputeInstance(State& state, layout::Machine& machine, std::uint32_t device,
                                std::uint32_t gpu_instance, std::uint32_t id) {
  ASSIGN(layout::GpuInstance * instance, Existing(machine, device, gpu_instance));
  if (id >= instance->compute.size() || instance->compute[id].in_use == 0)
    return Fail(Code::kNotFound,
                "GPU instance " + std::to_string(gpu_instance) + " has no compute instance " + std::to_string(id));
  Reclaim(state, machine);
  if (InUse(machine, {device, gpu_instance, id}))
    return Fail(Code::kConflict, "compute instance " + std::to_string(id) + " of " + Named(device) + " is in use");
  instance->compute[id].in_use = 0;
  PushMigChange(machine, device, gpu_instance);
  return {};
}

void FillInstance(layout::GpuInstance& entry, const gpu::MigProfile& profile, gpu::MigPlacement placement) {
  entry = {};
  entry.profile = static_cast<std::uint8_t>(profile.nvml_profile);
  entry.start = static_cast<std::uint8_t>(placement.start);
  entry.size = static_cast<std::uint8_t>(placement.size);
  entry.slices = static_cast<std::uint8_t>(profile.slices);
  entry.sm_count = profile.multiprocessors;
  entry.copy_engines = profile.engines.copy;
  entry.decoders = profile.engines.decoder;
  entry.encoders = profile.engines.encoder;
  entry.jpegs = profile.engines.jpeg;
  entry.ofas = profile.engines.ofa;
  entry.memory_bytes = profile.memory_mib << 20;
  entry.in_use = 1;
}

void FillComputeInstance(layout::ComputeInstance& entry, const gpu::MigComputeProfile& profile, std::uint32_t start) {
  entry = {};
  entry.profile = static_cast<std::uint8_t>(profile.nvml_profile);
  entry.start = static_cast<std::uint8_t>(start);
  entry.size = static_cast<std::uint8_t>(profile.slices);
  entry.in_use = 1;
}

std::uint32_t MultiprocessorsOf(const layout::Device& device, const layout::GpuInstance& instance,
                                const layout::ComputeInstance& compute) {
  for (const gpu::MigComputeProfile& profile : ComputeProfilesOf(device, instance))
    if (profile.nvml_profile == compute.profile) return profile.multiprocessors;
  return instance.sm_count;
}

std::string MigProfileName(const layout::Device& device, std::uint32_t gpu_instance, std::uint32_t compute_instance) {
  const layout::GpuInstance& instance = device.instances[gpu_instance];
  return gpu::ComputeProfileName(ProfileOf(device, instance), instance.compute[compute_instance].size);
}

}  // namespace gpuop::machine
