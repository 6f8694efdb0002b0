#pragma once
// MIG on a machine's state: mode, GPU instances, compute instances. What fits is gpu/mig_geometry.h's to say.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "gpu/mig_geometry.h"
#include "machine/state/state.h"

namespace gpuop::machine {

/// The device's table; null when it has no MIG.
const gpu::MigModel* MigModelOf(const layout::Device& device);
/// The GPU instances that there are.
std::vector<gpu::MigInstance> InstancesOf(const layout::Device& device);
/// The profile of a GPU instance in use.
const gpu::MigProfile& ProfileOf(const layout::Device& device, const layout::GpuInstance& instance);

// The errors of all that follows: kNotFound: no such instance; kUnsupported: the device has no MIG, or its mode is
// off; kInvalid: no such profile or placement; kUnavailable: no room (NVML_ERROR_INSUFFICIENT_RESOURCES);
// kConflict: somebody uses it (NVML_ERROR_IN_USE).

/// Wishes a mode. An idle device changes at once (by a reset of its own) and the answer is true; one that is in use,
/// or holds instances, changes when it is next reset, and the answer is false.
Result<bool> SetMigMode(State& state, layout::Machine& machine, std::uint32_t device, bool on);

/// Makes a GPU instance of the profile with hardware id `profile_id`, where it fits or at `start`; its id.
Result<std::uint32_t> CreateGpuInstance(State& state, layout::Machine& machine, std::uint32_t device,
                                        std::uint32_t profile_id, std::optional<std::uint32_t> start = {});
/// kConflict while it holds compute instances.
Result<> DestroyGpuInstance(State& state, layout::Machine& machine, std::uint32_t device, std::uint32_t id);

/// The compute profiles of a GPU instance in use, and how many of each still fit.
std::vector<gpu::MigComputeProfile> ComputeProfilesOf(const layout::Device& device,
                                                      const layout::GpuInstance& instance);
std::vector<std::uint32_t> FreeComputeStarts(const layout::GpuInstance& instance,
                                             const gpu::MigComputeProfile& profile);

/// Makes a compute instance, where it fits or at `start`; its id.
Result<std::uint32_t> CreateComputeInstance(State& state, layout::Machine& machine, std::uint32_t device,
                                            std::uint32_t gpu_instance, std::uint32_t profile_id,
                                            std::optional<std::uint32_t> start = {});
/// kConflict while a process uses it.
Result<> DestroyComputeInstance(State& state, layout::Machine& machine, std::uint32_t device,
                                std::uint32_t gpu_instance, std::uint32_t id);

/// Writes an instance of a profile into an entry that is free; `in_use` last.
void FillInstance(layout::GpuInstance& entry, const gpu::MigProfile& profile, gpu::MigPlacement placement);
void FillComputeInstance(layout::ComputeInstance& entry, const gpu::MigComputeProfile& profile, std::uint32_t start);

/// The multiprocessors of a compute instance.
std::uint32_t MultiprocessorsOf(const layout::Device& device, const layout::GpuInstance& instance,
                                const layout::ComputeInstance& compute);
/// "1g.5gb", "1c.3g.20gb".
std::string MigProfileName(const layout::Device& device, std::uint32_t gpu_instance, std::uint32_t compute_instance);

}  // namespace gpuop::machine
