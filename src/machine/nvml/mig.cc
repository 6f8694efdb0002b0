// MIG: mode, GPU instances, compute instances.

#include "machine/state/mig.h"

#include "machine/nvml/capability_files.h"
#include "machine/nvml/library.h"
#include "machine/state/life.h"

using namespace gpuop::machine::nvml;
using namespace gpuop;
using gpuop::machine::Place;
namespace layout = gpuop::machine::layout;

namespace {

/// Making and destroying instances needs the config capability as well as root.
Return MayConfigure(const Call& call) {
  return call.nodes().Capability(machine::kMigConfigMinor) ? Return::kSuccess : Return::kNoPermission;
}

Place Of(const Place& device, std::uint32_t gpu_instance) { return {device.device, gpu_instance, layout::kNoInstance}; }

Return MakeGpuInstance(const Call& call, unsigned id, std::optional<std::uint32_t> start, abi::GpuInstance* out) {
  if (const Return bad = MayConfigure(call); bad != Return::kSuccess) return bad;
  const auto made = machine::CreateGpuInstance(call.state(), call.machine(), call.place().device, id, start);
  if (!made) return ReturnOf(made.error());
  MakeCapability(call.facts(), *made, layout::kNoInstance);
  *out = GpuInstanceHandleOf(Of(call.place(), *made));
  return Return::kSuccess;
}

Return MakeComputeInstance(const Call& call, unsigned id, std::optional<std::uint32_t> start,
                           abi::ComputeInstance* out) {
  if (const Return bad = MayConfigure(call); bad != Return::kSuccess) return bad;
  const auto made = machine::CreateComputeInstance(call.state(), call.machine(), call.place().device,
                                                   call.place().gpu_instance, id, start);
  if (!made) return ReturnOf(made.error());
  MakeCapability(call.facts(), call.place().gpu_instance, *made);
  *out = ComputeInstanceHandleOf({call.place().device, call.place().gpu_instance, *made});
  return Return::kSuccess;
}

}  // namespace

extern "C" {

Return nvmlDeviceGetMigMode(abi::Device device, unsigned* current, unsigned* pending) {
  GPUOP_NOT_NULL(current, pending);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.facts().mig_model.empty()) return Return::kNotSupported;
  *current = call.device().mig_current;
  *pending = call.device().mig_pending;
  return Return::kSuccess;
}

Return nvmlDeviceSetMigMode(abi::Device device, unsigned mode, Return* activation) {
  GPUOP_NOT_NULL(activation);
  GPUOP_CHANGE_DEVICE(__func__, device);
  if (mode > 1) return Return::kInvalidArgument;
  const auto now = machine::SetMigMode(call.state(), call.machine(), call.place().device, mode == 1);
  if (!now) return ReturnOf(now.error());
  *activation = *now ? Return::kSuccess : Return::kInUse;
  if (*now) RemoveCapabilities(call.facts());
  return Return::kSuccess;
}

Return nvmlDeviceGetMaxMigDeviceCount(abi::Device device, unsigned* count) {
  GPUOP_NOT_NULL(count);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  const gpu::MigModel* model = machine::MigModelOf(call.device());
  *count = model == nullptr ? 0 : model->compute_slices;
  return Return::kSuccess;
}

Return nvmlDeviceCreateGpuInstance(abi::Device device, unsigned id, abi::GpuInstance* gpu_instance) {
  GPUOP_NOT_NULL(gpu_instance);
  GPUOP_CHANGE_DEVICE(__func__, device);
  return MakeGpuInstance(call, id, std::nullopt, gpu_instance);
}

Return nvmlDeviceCreateGpuInstanceWithPlacement(abi::Device device, unsigned id,
                                                const abi::GpuInstancePlacement* placement,
                                                abi::GpuInstance* gpu_instance) {
  GPUOP_NOT_NULL(placement, gpu_instance);
  GPUOP_CHANGE_DEVICE(__func__, device);
  return MakeGpuInstance(call, id, placement->start, gpu_instance);
}

Return nvmlGpuInstanceDestroy(abi::GpuInstance gpu_instance) {
  const Call call(__func__, gpu_instance, true);
  if (!call.ok()) return call.error();
  if (const Return bad = MayConfigure(call); bad != Return::kSuccess) return bad;
  const Place& at = call.place();
  if (auto done = machine::DestroyGpuInstance(call.state(), call.machine(), at.device, at.gpu_instance); !done)
    return ReturnOf(done.error());
  RemoveCapability(call.facts(), at.gpu_instance, layout::kNoInstance);
  return Return::kSuccess;
}

Return nvmlDeviceGetGpuInstances(abi::Device device, unsigned id, abi::GpuInstance* gpu_instances, unsigned* count) {
  GPUOP_NOT_NULL(count, gpu_instances);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  const gpu::MigModel* model = machine::MigModelOf(call.device());
  if (model == nullptr || call.device().mig_current == 0) return Return::kNotSupported;
  if (model->FindById(id) == nullptr) return Return::kNotSupported;
  unsigned found = 0;
  for (std::uint32_t g = 0; g < layout::kMaxGpuInstances; ++g) {
    const layout::GpuInstance& instance = call.device().instances[g];
    if (instance.in_use != 0 && machine::ProfileOf(call.device(), instance).id == id)
      gpu_instances[found++] = GpuInstanceHandleOf(Of(call.place(), g));
  }
  *count = found;
  return Return::kSuccess;
}

Return nvmlDeviceGetGpuInstanceById(abi::Device device, unsigned id, abi::GpuInstance* gpu_instance) {
  GPUOP_NOT_NULL(gpu_instance);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.device().mig_current == 0) return Return::kNotSupported;
  if (id >= layout::kMaxGpuInstances || call.device().instances[id].in_use == 0) return Return::kNotFound;
  *gpu_instance = GpuInstanceHandleOf(Of(call.place(), id));
  return Return::kSuccess;
}

Return nvmlGpuInstanceGetInfo(abi::GpuInstance gpu_instance, abi::GpuInstanceInfo* info) {
  GPUOP_NOT_NULL(info);
  const Call call(__func__, gpu_instance);
  if (!call.ok()) return call.error();
  const layout::GpuInstance& instance = call.instance();
  *info = {.device = DeviceHandleOf({.device = call.place().device}),
           .id = call.place().gpu_instance,
           .profileId = machine::ProfileOf(call.device(), instance).id,
           .placement = {instance.start, instance.size}};
  return Return::kSuccess;
}

Return nvmlGpuInstanceCreateComputeInstance(abi::GpuInstance gpu_instance, unsigned id,
                                            abi::ComputeInstance* compute_instance) {
  GPUOP_NOT_NULL(compute_instance);
  const Call call(__func__, gpu_instance, true);
  return call.ok() ? MakeComputeInstance(call, id, std::nullopt, compute_instance) : call.error();
}

Return nvmlGpuInstanceCreateComputeInstanceWithPlacement(abi::GpuInstance gpu_instance, unsigned id,
                                                         const abi::ComputeInstancePlacement* placement,
                                                         abi::ComputeInstance* compute_instance) {
  GPUOP_NOT_NULL(placement, compute_instance);
  const Call call(__func__, gpu_instance, true);
  return call.ok() ? MakeComputeInstance(call, id, placement->start, compute_instance) : call.error();
}

Return nvmlComputeInstanceDestroy(abi::ComputeInstance compute_instance) {
  const Call call(__func__, compute_instance, true);
  if (!call.ok()) return call.error();
  if (const Return bad = MayConfigure(call); bad != Return::kSuccess) return bad;
  const Place& at = call.place();
  if (auto done = machine::DestroyComputeInstance(call.state(), call.machine(), at.device, at.gpu_instance,
                                                  at.compute_instance);
      !done)
    return ReturnOf(done.error());
  RemoveCapability(call.facts(), at.gpu_instance, at.compute_instance);
  return Return::kSuccess;
}

Return nvmlGpuInstanceGetComputeInstances(abi::GpuInstance gpu_instance, unsigned id,
                                          abi::ComputeInstance* compute_instances, unsigned* count) {
  GPUOP_NOT_NULL(count, compute_instances);
  const Call call(__func__, gpu_instance);
  if (!call.ok()) return call.error();
  for (const auto& profile : machine::ComputeProfilesOf(call.device(), call.instance())) {
    if (profile.id != id) continue;
    unsigned found = 0;
    for (std::uint32_t c = 0; c < layout::kMaxComputeInstances; ++c)
      if (call.instance().compute[c].in_use != 0 && call.instance().compute[c].profile == profile.nvml_profile)
        compute_instances[found++] = ComputeInstanceHandleOf({call.place().device, call.place().gpu_instance, c});
    *count = found;
    return Return::kSuccess;
  }
  return Return::kNotSupported;
}

Return nvmlGpuInstanceGetComputeInstanceById(abi::GpuInstance gpu_instance, unsigned id,
                                             abi::ComputeInstance* compute_instance) {
  GPUOP_NOT_NULL(compute_instance);
  const Call call(__func__, gpu_instance);
  if (!call.ok()) return call.error();
  if (id >= layout::kMaxComputeInstances || call.instance().compute[id].in_use == 0) return Return::kNotFound;
  *compute_instance = ComputeInstanceHandleOf({call.place().device, call.place().gpu_instance, id});
  return Return::kSuccess;
}

Return nvmlComputeInstanceGetInfo(abi::ComputeInstance compute_instance, abi::ComputeInstanceInfo* info) {
  return nvmlComputeInstanceGetInfo_v2(compute_instance, info);
}
Return nvmlComputeInstanceGetInfo_v2(abi::ComputeInstance compute_instance, abi::ComputeInstanceInfo* info) {
  GPUOP_NOT_NULL(info);
  const Call call(__func__, compute_instance);
  if (!call.ok()) return call.error();
  const Place& at = call.place();
  const layout::ComputeInstance& compute = call.instance().compute[at.compute_instance];
  unsigned profile_id = 0;
  for (const auto& profile : machine::ComputeProfilesOf(call.device(), call.instance()))
    if (profile.nvml_profile == compute.profile) profile_id = profile.id;
  *info = {.device = DeviceHandleOf({.device = at.device}),
           .gpuInstance = GpuInstanceHandleOf(Of(at, at.gpu_instance)),
           .id = at.compute_instance,
           .profileId = profile_id,
           .placement = {compute.start, compute.size}};
  return Return::kSuccess;
}

Return nvmlDeviceGetGpuInstanceId(abi::Device device, unsigned* id) {
  GPUOP_NOT_NULL(id);
  GPUOP_ON_DEVICE(__func__, device, kAny);
  if (call.place().whole()) return Return::kNotSupported;
  *id = call.place().gpu_instance;
  return Return::kSuccess;
}

Return nvmlDeviceGetComputeInstanceId(abi::Device device, unsigned* id) {
  GPUOP_NOT_NULL(id);
  GPUOP_ON_DEVICE(__func__, device, kAny);
  if (call.place().whole()) return Return::kNotSupported;
  *id = call.place().compute_instance;
  return Return::kSuccess;
}

Return nvmlDeviceGetAttributes(abi::Device device, abi::DeviceAttributes* attributes) {
  return nvmlDeviceGetAttributes_v2(device, attributes);
}
Return nvmlDeviceGetAttributes_v2(abi::Device device, abi::DeviceAttributes* attributes) {
  GPUOP_NOT_NULL(attributes);
  GPUOP_ON_DEVICE(__func__, device, kAny);
  if (call.place().whole()) return Return::kNotSupported;
  const layout::GpuInstance& instance = call.instance();
  const layout::ComputeInstance& compute = instance.compute[call.place().compute_instance];
  *attributes = {.multiprocessorCount = machine::MultiprocessorsOf(call.device(), instance, compute),
                 .sharedCopyEngineCount = instance.copy_engines,
                 .sharedDecoderCount = instance.decoders,
                 .sharedEncoderCount = instance.encoders,
                 .sharedJpegCount = instance.jpegs,
                 .sharedOfaCount = instance.ofas,
                 .gpuInstanceSliceCount = instance.slices,
                 .computeInstanceSliceCount = compute.size,
                 .memorySizeMB = instance.memory_bytes >> 20};
  return Return::kSuccess;
}

/// Not NVML's: resets a GPU, which `nvidia-smi --gpu-reset` does by the driver's own ways. kInUse while a process
/// uses it.
__attribute__((visibility("default"))) Return gpuopMachineResetDevice(abi::Device device) {
  const Call call(__func__, device, Needs::kIdentity, true);
  if (!call.ok()) return call.error();
  const auto done = machine::ResetDevice(call.state(), call.machine(), call.place().device);
  if (!done) return done.error().code == Code::kUnavailable ? Return::kGpuIsLost : ReturnOf(done.error());
  RemoveCapabilities(call.facts());
  return Return::kSuccess;
}

}  // extern "C"
