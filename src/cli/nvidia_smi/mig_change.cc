#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "cli/nvidia_smi/parts.h"

namespace gpuop::cli::nvidia_smi {
namespace {

namespace nvml = gpu::nvml;

/// A profile as people name it: its id, its name, or its name after "MIG ".
const MigProfileInfo* FindProfile(const std::vector<MigProfileInfo>& profiles, std::string_view asked) {
  if (asked.starts_with("MIG ")) asked.remove_prefix(4);
  const auto number = ParseInt(asked);
  const auto it = std::ranges::find_if(
      profiles, [&](const MigProfileInfo& p) { return number ? *number == p.id : p.name == asked; });
  return it == profiles.end() ? nullptr : &*it;
}

bool Chosen(const std::vector<unsigned>& ids, unsigned id) {
  return ids.empty() || std::ranges::find(ids, id) != ids.end();
}

/// Ends a command with the driver's words for why.
void Refuse(Outcome& out, const Gpu& gpu, const std::string& unable, std::string_view failed, Return answer) {
  const std::string why = gpu.nvml->Sentence(answer);
  out.text += fmt::format("{}: {}\n{}: {}\n", unable, why, failed, why);
  out.status = StatusOf(answer);
}

struct Instance {
  nvml::GpuInstance handle = nullptr;
  unsigned id = 0;
  MigProfileInfo profile;
};
std::vector<Instance> InstancesOf(const Gpu& gpu, const std::vector<unsigned>& ids) {
  std::vector<Instance> out;
  for (const MigProfileInfo& profile : GpuInstanceProfiles(gpu))
    for (const nvml::GpuInstance handle : OrNone(gpu.nvml->GpuInstances(gpu.handle, profile.id)))
      if (const auto info = gpu.nvml->Get(&F::GpuInstanceGetInfo, handle); info && Chosen(ids, info->id))
        out.push_back({handle, info->id, profile});
  std::ranges::sort(out, {}, &Instance::id);
  return out;
}

bool CreateCompute(Outcome& out, const Gpu& gpu, const Instance& instance, std::string_view asked) {
  const auto profiles = ComputeInstanceProfiles(gpu, instance.handle, instance.profile);
  const auto whole = std::ranges::find(profiles, instance.profile.slices, &MigProfileInfo::slices);
  const MigProfileInfo* const profile = !asked.empty()            ? FindProfile(profiles, asked)
                                        : whole == profiles.end() ? nullptr
                                                                  : &*whole;
  nvml::ComputeInstance created = nullptr;
  const Return answer =
      profile == nullptr ? Return::kInvalidArgument
                         : gpu.nvml->Try(&F::GpuInstanceCreateComputeInstance, instance.handle, profile->id, &created);
  if (answer != Return::kSuccess) {
    Refuse(out, gpu,
           fmt::format("Unable to create a compute instance on GPU {:>2} GPU instance ID {:>2} using profile {}",
                       gpu.index, instance.id, asked.empty() ? instance.profile.name : std::string(asked)),
           "Failed to create compute instances", answer);
    return false;
  }
  const auto info = gpu.nvml->Get(&F::ComputeInstanceGetInfo_v2, created);
  out.text += fmt::format(
      "Successfully created compute instance ID {:>2} on GPU {:>2} GPU instance ID {:>2} using profile MIG {} (ID "
      "{:>2})\n",
      info ? info->id : 0, gpu.index, instance.id, profile->name, profile->id);
  return true;
}

bool CreateGpuInstance(Outcome& out, const Gpu& gpu, const std::string& asked, bool compute) {
  // "9:4" asks for profile 9 at memory slice 4.
  std::string_view name = asked;
  std::optional<std::int64_t> start;
  if (const auto cut = Cut(asked, ':')) {
    name = cut->first;
    start = ParseInt(cut->second);
  }
  const auto profiles = GpuInstanceProfiles(gpu);
  const MigProfileInfo* const profile = FindProfile(profiles, name);
  nvml::GpuInstance created = nullptr;
  Return answer = Return::kInvalidArgument;
  if (profile != nullptr && start) {
    unsigned count = 32;
    nvml::GpuInstancePlacement places[32] = {};
    gpu.nvml->Try(&F::DeviceGetGpuInstancePossiblePlacements_v2, gpu.handle, profile->id, places, &count);
    const nvml::GpuInstancePlacement at{static_cast<unsigned>(*start), places[0].size};
    answer = gpu.nvml->Try(&F::DeviceCreateGpuInstanceWithPlacement, gpu.handle, profile->id, &at, &created);
  } else if (profile != nullptr && name.size() == asked.size()) {
    answer = gpu.nvml->Try(&F::DeviceCreateGpuInstance, gpu.handle, profile->id, &created);
  }
  if (answer != Return::kSuccess) {
    Refuse(out, gpu, fmt::format("Unable to create a GPU instance on GPU {:>2} using profile {}", gpu.index, asked),
           "Failed to create GPU instances", answer);
    return false;
  }
  const auto info = gpu.nvml->Get(&F::GpuInstanceGetInfo, created);
  const Instance instance{created, info ? info->id : 0, *profile};
  out.text += fmt::format("Successfully created GPU instance ID {:>2} on GPU {:>2} using profile MIG {} (ID {:>2})\n",
                          instance.id, gpu.index, profile->name, profile->id);
  return !compute || CreateCompute(out, gpu, instance, {});
}

/// Destroys the chosen compute instances of one GPU instance; nullopt when the driver refused.
std::optional<unsigned> DestroyCompute(Outcome& out, const Gpu& gpu, const Instance& instance,
                                       const std::vector<unsigned>& ids) {
  struct Found {
    unsigned id;
    nvml::ComputeInstance handle;
  };
  std::vector<Found> found;
  for (const MigProfileInfo& p : ComputeInstanceProfiles(gpu, instance.handle, instance.profile))
    for (const nvml::ComputeInstance handle : OrNone(gpu.nvml->ComputeInstances(instance.handle, p.id)))
      if (const auto info = gpu.nvml->Get(&F::ComputeInstanceGetInfo_v2, handle); info && Chosen(ids, info->id))
        found.push_back({info->id, handle});
  std::ranges::sort(found, {}, &Found::id);
  for (const Found& f : found) {
    const std::string what =
        fmt::format("compute instance ID {:>2} from GPU {:>2} GPU instance ID {:>2}", f.id, gpu.index, instance.id);
    if (const Return answer = gpu.nvml->Try(&F::ComputeInstanceDestroy, f.handle); answer != Return::kSuccess) {
      Refuse(out, gpu, "Unable to destroy " + what, "Failed to destroy compute instances", answer);
      return std::nullopt;
    }
    out.text += "Successfully destroyed " + what + "\n";
  }
  return static_cast<unsigned>(found.size());
}

}  // namespace

Outcome MigCreate(const Arguments& arguments, const std::vector<Gpu>& gpus) {
  Outcome out;
  for (const Gpu& gpu : gpus) {
    if (arguments.mig == Arguments::Mig::kCreateGpuInstances) {
      for (const std::string& profile : arguments.profiles)
        if (!CreateGpuInstance(out, gpu, profile, arguments.default_compute)) return out;
      continue;
    }
    for (const Instance& instance : InstancesOf(gpu, arguments.gpu_instances)) {
      if (arguments.profiles.empty() && !CreateCompute(out, gpu, instance, {})) return out;
      for (const std::string& profile : arguments.profiles)
        if (!CreateCompute(out, gpu, instance, profile)) return out;
    }
  }
  if (out.text.empty()) return {"No GPU instances found: Not Found\n", 6};
  return out;
}

Outcome MigDestroy(const Arguments& arguments, const std::vector<Gpu>& gpus) {
  Outcome out;
  for (const Gpu& gpu : gpus)
    for (const Instance& instance : InstancesOf(gpu, arguments.gpu_instances)) {
      if (arguments.mig == Arguments::Mig::kDestroyComputeInstances) {
        if (!DestroyCompute(out, gpu, instance, arguments.compute_instances)) return out;
        continue;
      }
      const std::string what = fmt::format("GPU instance ID {:>2} from GPU {:>2}", instance.id, gpu.index);
      if (const Return answer = gpu.nvml->Try(&F::GpuInstanceDestroy, instance.handle); answer != Return::kSuccess) {
        Refuse(out, gpu, "Unable to destroy " + what, "Failed to destroy GPU instances", answer);
        return out;
      }
      out.text += "Successfully destroyed " + what + "\n";
    }
  if (!out.text.empty()) return out;
  const bool compute = arguments.mig == Arguments::Mig::kDestroyComputeInstances;
  return {compute ? "No compute instances found: Not Found\n" : "No GPU instances found: Not Found\n", 6};
}

}  // namespace gpuop::cli::nvidia_smi
