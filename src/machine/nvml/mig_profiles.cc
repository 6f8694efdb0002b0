// MIG: what could be made.

#include <algorithm>
#include <cstring>

#include "machine/nvml/library.h"
#include "machine/state/mig.h"

using namespace gpuop::machine::nvml;
using namespace gpuop;
namespace layout = gpuop::machine::layout;

namespace {

void SetName(char (&out)[96], std::string_view name) {
  std::memset(out, 0, sizeof out);
  std::memcpy(out, name.data(), std::min(name.size(), sizeof out - 1));
}

/// The fields that all forms of profile information share.
void Fill(const gpu::MigProfile& profile, auto& out) {
  out.id = profile.id;
  out.sliceCount = profile.slices;
  out.instanceCount = profile.max_instances;
  out.multiprocessorCount = profile.multiprocessors;
  out.copyEngineCount = profile.engines.copy;
  out.decoderCount = profile.engines.decoder;
  out.encoderCount = profile.engines.encoder;
  out.jpegCount = profile.engines.jpeg;
  out.ofaCount = profile.engines.ofa;
  out.memorySizeMB = profile.memory_mib;
}

/// Version 2 or 3, as the caller says.
Return FillVersioned(const gpu::MigProfile& profile, abi::GpuInstanceProfileInfoV2* info) {
  const std::string name = "MIG " + std::string(profile.name);
  if (info->version == abi::kVersionOfGpuInstanceProfileInfoV2) {
    Fill(profile, *info);
    info->isP2pSupported = 0;
    SetName(info->name, name);
    return Return::kSuccess;
  }
  if (info->version != abi::kVersionOfGpuInstanceProfileInfoV3) return Return::kArgumentVersionMismatch;
  auto* three = reinterpret_cast<abi::GpuInstanceProfileInfoV3*>(info);
  Fill(profile, *three);
  SetName(three->name, name);
  three->capabilities = profile.graphics ? abi::kGpuInstanceProfileCapsGfx : 0;
  return Return::kSuccess;
}

/// The profile a call asks for; null with the error set.
template <class Find>
const gpu::MigProfile* Profile(const Call& call, Return* error, Find find) {
  const gpu::MigModel* model = machine::MigModelOf(call.device());
  if (model == nullptr || !call.place().whole()) {
    *error = Return::kNotSupported;
    return nullptr;
  }
  const gpu::MigProfile* profile = find(*model);
  if (profile == nullptr) *error = Return::kNotSupported;
  return profile;
}

auto ByNvml(unsigned profile) {
  return [profile](const gpu::MigModel& model) { return model.FindByNvmlProfile(profile); };
}
auto ById(unsigned id) {
  return [id](const gpu::MigModel& model) { return model.FindById(id); };
}

/// Copies as many as there is room for; without an array only the count.
template <class T>
Return CopyList(const std::vector<T>& list, T* out, unsigned* count) {
  const unsigned room = *count;
  *count = static_cast<unsigned>(list.size());
  if (out == nullptr) return Return::kSuccess;
  if (room < list.size()) return Return::kInsufficientSize;
  std::ranges::copy(list, out);
  return Return::kSuccess;
}

/// The compute profile that a call names by NVML's index.
std::optional<gpu::MigComputeProfile> Compute(const Call& call, unsigned profile, bool by_id) {
  for (const auto& one : machine::ComputeProfilesOf(call.device(), call.instance()))
    if ((by_id ? one.id : one.nvml_profile) == profile) return one;
  return std::nullopt;
}

void Fill(const Call& call, const gpu::MigComputeProfile& profile, auto& out) {
  const layout::GpuInstance& instance = call.instance();
  out.id = profile.id;
  out.sliceCount = profile.slices;
  out.instanceCount = profile.max_instances;
  out.multiprocessorCount = profile.multiprocessors;
  out.sharedCopyEngineCount = instance.copy_engines;
  out.sharedDecoderCount = instance.decoders;
  out.sharedEncoderCount = instance.encoders;
  out.sharedJpegCount = instance.jpegs;
  out.sharedOfaCount = instance.ofas;
}

std::string ComputeName(const Call& call, const gpu::MigComputeProfile& profile) {
  return "MIG " + gpu::ComputeProfileName(machine::ProfileOf(call.device(), call.instance()), profile.slices);
}

}  // namespace

extern "C" {

Return nvmlDeviceGetGpuInstanceProfileInfo(abi::Device device, unsigned profile, abi::GpuInstanceProfileInfo* info) {
  GPUOP_NOT_NULL(info);
  GPUOP_ON_DEVICE(__func__, device, kAny);
  if (profile >= abi::kGpuInstanceProfileCount) return Return::kInvalidArgument;
  Return error{};
  const gpu::MigProfile* found = Profile(call, &error, ByNvml(profile));
  if (found == nullptr) return error;
  Fill(*found, *info);
  info->isP2pSupported = 0;
  return Return::kSuccess;
}

Return nvmlDeviceGetGpuInstanceProfileInfoV(abi::Device device, unsigned profile, abi::GpuInstanceProfileInfoV2* info) {
  GPUOP_NOT_NULL(info);
  GPUOP_ON_DEVICE(__func__, device, kAny);
  if (profile >= abi::kGpuInstanceProfileCount) return Return::kInvalidArgument;
  Return error{};
  const gpu::MigProfile* found = Profile(call, &error, ByNvml(profile));
  return found == nullptr ? error : FillVersioned(*found, info);
}

Return nvmlDeviceGetGpuInstanceProfileInfoByIdV(abi::Device device, unsigned id, abi::GpuInstanceProfileInfoV2* info) {
  GPUOP_NOT_NULL(info);
  GPUOP_ON_DEVICE(__func__, device, kAny);
  Return error{};
  const gpu::MigProfile* found = Profile(call, &error, ById(id));
  return found == nullptr ? error : FillVersioned(*found, info);
}

Return nvmlDeviceGetGpuInstancePossiblePlacements(abi::Device device, unsigned id,
                                                  abi::GpuInstancePlacement* placements, unsigned* count) {
  return nvmlDeviceGetGpuInstancePossiblePlacements_v2(device, id, placements, count);
}
Return nvmlDeviceGetGpuInstancePossiblePlacements_v2(abi::Device device, unsigned id,
                                                     abi::GpuInstancePlacement* placements, unsigned* count) {
  GPUOP_NOT_NULL(count);
  GPUOP_ON_DEVICE(__func__, device, kAny);
  Return error{};
  const gpu::MigProfile* profile = Profile(call, &error, ById(id));
  if (profile == nullptr) return error;
  if (call.device().mig_current == 0) return Return::kNotSupported;
  std::vector<abi::GpuInstancePlacement> list;
  for (unsigned i = 0; i < profile->starts; ++i) list.push_back({i * profile->step, profile->size});
  return CopyList(list, placements, count);
}

Return nvmlDeviceGetGpuInstanceRemainingCapacity(abi::Device device, unsigned id, unsigned* count) {
  GPUOP_NOT_NULL(count);
  GPUOP_ON_DEVICE(__func__, device, kAny);
  Return error{};
  const gpu::MigProfile* profile = Profile(call, &error, ById(id));
  if (profile == nullptr) return error;
  if (call.device().mig_current == 0) return Return::kNotSupported;
  *count = gpu::RemainingCapacity(*machine::MigModelOf(call.device()), machine::InstancesOf(call.device()), *profile);
  return Return::kSuccess;
}

Return nvmlGpuInstanceGetComputeInstanceProfileInfo(abi::GpuInstance gpu_instance, unsigned profile, unsigned engine,
                                                    abi::ComputeInstanceProfileInfo* info) {
  GPUOP_NOT_NULL(info);
  const Call call(__func__, gpu_instance);
  if (!call.ok()) return call.error();
  if (profile >= abi::kComputeInstanceProfileCount || engine >= abi::kComputeInstanceEngineProfileCount)
    return Return::kInvalidArgument;
  const auto found = Compute(call, profile, false);
  if (!found) return Return::kNotSupported;
  Fill(call, *found, *info);
  return Return::kSuccess;
}

Return nvmlGpuInstanceGetComputeInstanceProfileInfoV(abi::GpuInstance gpu_instance, unsigned profile, unsigned engine,
                                                     abi::ComputeInstanceProfileInfoV2* info) {
  GPUOP_NOT_NULL(info);
  const Call call(__func__, gpu_instance);
  if (!call.ok()) return call.error();
  if (profile >= abi::kComputeInstanceProfileCount || engine >= abi::kComputeInstanceEngineProfileCount)
    return Return::kInvalidArgument;
  const auto found = Compute(call, profile, false);
  if (!found) return Return::kNotSupported;
  if (info->version == abi::kVersionOfComputeInstanceProfileInfoV2) {
    Fill(call, *found, *info);
    SetName(info->name, ComputeName(call, *found));
    return Return::kSuccess;
  }
  if (info->version != abi::kVersionOfComputeInstanceProfileInfoV3) return Return::kArgumentVersionMismatch;
  auto* three = reinterpret_cast<abi::ComputeInstanceProfileInfoV3*>(info);
  Fill(call, *found, *three);
  SetName(three->name, ComputeName(call, *found));
  three->capabilities =
      machine::ProfileOf(call.device(), call.instance()).graphics ? abi::kComputeInstanceProfileCapsGfx : 0;
  return Return::kSuccess;
}

Return nvmlGpuInstanceGetComputeInstanceRemainingCapacity(abi::GpuInstance gpu_instance, unsigned id, unsigned* count) {
  GPUOP_NOT_NULL(count);
  const Call call(__func__, gpu_instance);
  if (!call.ok()) return call.error();
  const auto profile = Compute(call, id, true);
  if (!profile) return Return::kNotSupported;
  // Starts of one profile may overlap each other: count those that can be taken one after another.
  unsigned next = 0, fit = 0;
  for (const unsigned start : machine::FreeComputeStarts(call.instance(), *profile)) {
    if (start < next) continue;
    ++fit;
    next = start + profile->slices;
  }
  *count = fit;
  return Return::kSuccess;
}

Return nvmlGpuInstanceGetComputeInstancePossiblePlacements(abi::GpuInstance gpu_instance, unsigned id,
                                                           abi::ComputeInstancePlacement* placements, unsigned* count) {
  GPUOP_NOT_NULL(count);
  const Call call(__func__, gpu_instance);
  if (!call.ok()) return call.error();
  const auto profile = Compute(call, id, true);
  if (!profile) return Return::kNotSupported;
  std::vector<abi::ComputeInstancePlacement> list;
  for (const unsigned start : profile->starts) list.push_back({start, profile->slices});
  return CopyList(list, placements, count);
}

}  // extern "C"
