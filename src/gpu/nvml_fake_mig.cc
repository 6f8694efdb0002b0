#include <algorithm>

#include "gpu/nvml_fake_handles.h"

namespace gpuop::gpu::fake_nvml {
namespace {

std::vector<MigInstance> Taken(const FakeGpu& gpu) {
  std::vector<MigInstance> taken;
  for (const FakeGpu::Instance& instance : gpu.instances) taken.push_back({instance.profile, instance.placement});
  return taken;
}

const MigProfile* ProfileOf(const FakeGpu& gpu, unsigned id) {
  return gpu.mig == nullptr ? nullptr : gpu.mig->FindById(id);
}

Return Create(nvml::Device device, const MigProfile* profile, std::optional<MigPlacement> at, nvml::GpuInstance* out) {
  FakeGpu& gpu = *GpuOf(device);
  if (profile == nullptr) return Return::kInvalidArgument;
  if (!gpu.mig_enabled) return Return::kNotSupported;
  if (!at) at = PreferredPlacement(*gpu.mig, Taken(gpu), *profile);
  if (!at || !WhyNot(*gpu.mig, Taken(gpu), *profile, *at).empty()) return Return::kInsufficientResources;
  gpu.instances.push_back({profile, *at, GpuInstanceId(*gpu.mig, *at)});
  *out = MakeHandle<nvml::GpuInstance>(NumberOf(device), gpu.instances.back().id, 0);
  return Return::kSuccess;
}

unsigned SlicesUsed(const FakeGpu::Instance& instance) {
  unsigned used = 0;
  for (const unsigned slices : instance.compute_slices) used += slices;
  return used;
}

/// The compute profile with this id; nullopt when the instance has none.
std::optional<MigComputeProfile> ComputeProfileOf(nvml::GpuInstance handle, unsigned id) {
  const FakeGpu::Instance& instance = *InstanceOf(handle);
  for (MigComputeProfile& p : ComputeProfiles(*GpuOf(handle)->mig, *instance.profile))
    if (p.id == id) return std::move(p);
  return std::nullopt;
}

struct MigCalls {
  static Return DeviceSetMigMode(nvml::Device device, unsigned mode, Return* activation) {
    GATE("nvmlDeviceSetMigMode", device);
    FakeGpu& gpu = *GpuOf(device);
    if (gpu.mig == nullptr) return Return::kNotSupported;
    const bool on = mode == nvml::kDeviceMigEnable;
    if (!on && !gpu.instances.empty()) return Return::kInUse;
    gpu.mig_pending = on;
    *activation = gpu.mig->mode_needs_reset && gpu.busy ? Return::kInUse : Return::kSuccess;
    if (*activation == Return::kSuccess) gpu.mig_enabled = on;
    return Return::kSuccess;
  }
  static Return DeviceGetGpuInstanceRemainingCapacity(nvml::Device device, unsigned id, unsigned* count) {
    GATE("nvmlDeviceGetGpuInstanceRemainingCapacity", device);
    const FakeGpu& gpu = *GpuOf(device);
    const MigProfile* const profile = ProfileOf(gpu, id);
    if (profile == nullptr) return Return::kInvalidArgument;
    *count = RemainingCapacity(*gpu.mig, Taken(gpu), *profile);
    return Return::kSuccess;
  }
  static Return DeviceGetGpuInstancePossiblePlacements_v2(nvml::Device device, unsigned id,
                                                          nvml::GpuInstancePlacement* out, unsigned* count) {
    GATE("nvmlDeviceGetGpuInstancePossiblePlacements_v2", device);
    const MigProfile* const profile = ProfileOf(*GpuOf(device), id);
    if (profile == nullptr) return Return::kInvalidArgument;
    for (unsigned i = 0; out != nullptr && i < profile->starts; ++i) out[i] = {i * profile->step, profile->size};
    *count = profile->starts;
    return Return::kSuccess;
  }
  static Return DeviceCreateGpuInstance(nvml::Device device, unsigned id, nvml::GpuInstance* out) {
    GATE("nvmlDeviceCreateGpuInstance", device);
    return Create(device, ProfileOf(*GpuOf(device), id), std::nullopt, out);
  }
  static Return DeviceCreateGpuInstanceWithPlacement(nvml::Device device, unsigned id,
                                                     const nvml::GpuInstancePlacement* at, nvml::GpuInstance* out) {
    GATE("nvmlDeviceCreateGpuInstanceWithPlacement", device);
    return Create(device, ProfileOf(*GpuOf(device), id), MigPlacement{at->start, at->size}, out);
  }
  static Return GpuInstanceDestroy(nvml::GpuInstance handle) {
    GATE("nvmlGpuInstanceDestroy", handle);
    FakeGpu& gpu = *GpuOf(handle);
    FakeGpu::Instance* const instance = InstanceOf(handle);
    if (instance == nullptr) return Return::kInvalidArgument;
    if (SlicesUsed(*instance) != 0) return Return::kInUse;
    std::erase_if(gpu.instances, [&](const FakeGpu::Instance& i) { return &i == instance; });
    return Return::kSuccess;
  }
  static Return GpuInstanceGetComputeInstanceProfileInfo(nvml::GpuInstance handle, unsigned profile, unsigned,
                                                         nvml::ComputeInstanceProfileInfo* out) {
    GATE("nvmlGpuInstanceGetComputeInstanceProfileInfo", handle);
    const auto p = ComputeProfileOf(handle, profile);
    if (!p) return Return::kNotSupported;
    const MigEngines& e = InstanceOf(handle)->profile->engines;
    *out = {.id = p->id,
            .sliceCount = p->slices,
            .instanceCount = p->max_instances,
            .multiprocessorCount = p->multiprocessors,
            .sharedCopyEngineCount = e.copy,
            .sharedDecoderCount = e.decoder,
            .sharedEncoderCount = e.encoder,
            .sharedJpegCount = e.jpeg,
            .sharedOfaCount = e.ofa};
    return Return::kSuccess;
  }
  static Return GpuInstanceGetComputeInstanceRemainingCapacity(nvml::GpuInstance handle, unsigned id, unsigned* count) {
    GATE("nvmlGpuInstanceGetComputeInstanceRemainingCapacity", handle);
    const auto p = ComputeProfileOf(handle, id);
    if (!p) return Return::kInvalidArgument;
    const FakeGpu::Instance& instance = *InstanceOf(handle);
    *count = std::min(p->max_instances, (instance.profile->slices - SlicesUsed(instance)) / p->slices);
    return Return::kSuccess;
  }
  static Return GpuInstanceGetComputeInstancePossiblePlacements(nvml::GpuInstance handle, unsigned id,
                                                                nvml::ComputeInstancePlacement* out, unsigned* count) {
    GATE("nvmlGpuInstanceGetComputeInstancePossiblePlacements", handle);
    const auto p = ComputeProfileOf(handle, id);
    if (!p) return Return::kInvalidArgument;
    *count = 0;
    for (const unsigned start : p->starts) out[(*count)++] = {start, p->slices};
    return Return::kSuccess;
  }
  static Return GpuInstanceCreateComputeInstance(nvml::GpuInstance handle, unsigned id, nvml::ComputeInstance* out) {
    GATE("nvmlGpuInstanceCreateComputeInstance", handle);
    const auto p = ComputeProfileOf(handle, id);
    if (!p) return Return::kInvalidArgument;
    FakeGpu::Instance& instance = *InstanceOf(handle);
    if (SlicesUsed(instance) + p->slices > instance.profile->slices) return Return::kInsufficientResources;
    auto slot = std::ranges::find(instance.compute_slices, 0U);
    if (slot == instance.compute_slices.end()) slot = instance.compute_slices.insert(slot, 0);
    *slot = p->slices;
    const auto ci = static_cast<std::uintptr_t>(slot - instance.compute_slices.begin());
    *out = MakeHandle<nvml::ComputeInstance>(NumberOf(handle), instance.id | ci << 8, 0);
    return Return::kSuccess;
  }
  static Return GpuInstanceGetComputeInstances(nvml::GpuInstance handle, unsigned id, nvml::ComputeInstance* out,
                                               unsigned* count) {
    GATE("nvmlGpuInstanceGetComputeInstances", handle);
    const auto p = ComputeProfileOf(handle, id);
    if (!p) return Return::kInvalidArgument;
    const FakeGpu::Instance& instance = *InstanceOf(handle);
    *count = 0;
    for (std::size_t ci = 0; ci < instance.compute_slices.size(); ++ci)
      if (instance.compute_slices[ci] == p->slices)
        out[(*count)++] = MakeHandle<nvml::ComputeInstance>(NumberOf(handle), instance.id | ci << 8, 0);
    return Return::kSuccess;
  }
  static Return ComputeInstanceDestroy(nvml::ComputeInstance handle) {
    GATE("nvmlComputeInstanceDestroy", handle);
    FakeGpu::Instance& instance = *InstanceOf(handle);
    if (GpuOf(handle)->busy) return Return::kInUse;
    instance.compute_slices[ComputeIdOf(handle)] = 0;
    return Return::kSuccess;
  }
};

}  // namespace

void AddMigFunctions(nvml::Functions& f) {
#define GPUOP_FAKE(name, ...) \
  if constexpr (requires { &C::name; }) f.name = &C::name;
  [&]<class C>() { GPUOP_NVML_MIG_FUNCTIONS(GPUOP_FAKE) }.template operator()<MigCalls>();
#undef GPUOP_FAKE
}

}  // namespace gpuop::gpu::fake_nvml
