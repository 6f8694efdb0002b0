#include "gpu/nvml_fake.h"

#include <cstdio>
#include <cstring>
#include <list>

#include "gpu/nvml_fake_handles.h"

namespace gpuop::gpu {

struct FakeNvml::Events {
  struct Set {
    std::map<const FakeGpu*, unsigned long long> kinds;
    std::deque<nvml::EventData> waiting;
  };
  Mutex mu;
  std::condition_variable_any more;
  std::list<Set> sets GUARDED_BY(mu);
};

namespace fake_nvml {

FakeNvml* fake = nullptr;

Return Gate(const char* function, const void* handle) {
  ++fake->calls;
  const FakeGpu* const gpu = handle == nullptr ? nullptr : GpuOf(handle);
  if (handle != nullptr && gpu == nullptr) return Return::kInvalidArgument;
  if (gpu != nullptr && fake->lost.contains(gpu->uuid)) return Return::kGpuIsLost;
  if (const auto it = fake->fail.find(function); it != fake->fail.end()) return it->second;
  if (gpu == nullptr || fake->fail.empty()) return Return::kSuccess;
  const auto it = fake->fail.find(std::string(function) + "@" + gpu->uuid);
  return it == fake->fail.end() ? Return::kSuccess : it->second;
}

}  // namespace fake_nvml

using namespace fake_nvml;

namespace {

Return Text(const std::string& text, char* out, unsigned length) {
  if (length < text.size() + 1) return Return::kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return Return::kSuccess;
}

nvml::PciInfo PciOf(const std::string& address) {
  nvml::PciInfo pci{};
  std::sscanf(address.c_str(), "%x:%x:%x", &pci.domain, &pci.bus, &pci.device);
  std::snprintf(pci.busId, sizeof pci.busId, "%s", address.c_str());
  std::snprintf(pci.busIdLegacy, sizeof pci.busIdLegacy, "%04X:%02X:%02X.0", pci.domain & 0xffff, pci.bus & 0xff,
                pci.device & 0xff);
  return pci;
}

}  // namespace

/// The functions, each as NVML has it.
struct FakeNvml::Calls {
  static Return Init_v2() {
    GATE("nvmlInit_v2");
    return Return::kSuccess;
  }
  static Return InitWithFlags(unsigned) { return Init_v2(); }
  static Return Shutdown() { return Gate("nvmlShutdown"); }
  static const char* ErrorString(Return value) { return nvml::ReturnName(value).data(); }
  static Return SystemGetDriverVersion(char* out, unsigned n) {
    GATE("nvmlSystemGetDriverVersion");
    return Text(fake->driver_version, out, n);
  }
  static Return SystemGetNVMLVersion(char* out, unsigned n) {
    GATE("nvmlSystemGetNVMLVersion");
    return Text(fake->nvml_version, out, n);
  }
  static Return SystemGetCudaDriverVersion_v2(int* out) {
    GATE("nvmlSystemGetCudaDriverVersion_v2");
    *out = fake->cuda_version;
    return Return::kSuccess;
  }
  static Return DeviceGetCount_v2(unsigned* out) {
    GATE("nvmlDeviceGetCount_v2");
    *out = static_cast<unsigned>(fake->gpus.size());
    return Return::kSuccess;
  }
  static Return DeviceGetHandleByIndex_v2(unsigned index, nvml::Device* out) {
    GATE("nvmlDeviceGetHandleByIndex_v2");
    if (index >= fake->gpus.size()) return Return::kInvalidArgument;
    if (const auto it = fake->fail.find("nvmlDeviceGetHandleByIndex_v2@" + fake->gpus[index].uuid);
        it != fake->fail.end())
      return it->second;
    *out = MakeHandle<nvml::Device>(index, 0, 0);
    return Return::kSuccess;
  }
  static Return DeviceGetUUID(nvml::Device device, char* out, unsigned n) {
    GATE("nvmlDeviceGetUUID", device);
    const FakeGpu& gpu = *GpuOf(device);
    if (!IsMig(device)) return Text(gpu.uuid, out, n);
    return Text(gpu.MigUuid(InstanceOf(device)->id, ComputeIdOf(device)), out, n);
  }
  static Return DeviceGetName(nvml::Device device, char* out, unsigned n) {
    GATE("nvmlDeviceGetName", device);
    if (!IsMig(device)) return Text(GpuOf(device)->name, out, n);
    const FakeGpu::Instance& instance = *InstanceOf(device);
    const unsigned slices = instance.compute_slices[ComputeIdOf(device)];
    return Text(GpuOf(device)->name + " MIG " + ComputeProfileName(*instance.profile, slices), out, n);
  }
  static Return DeviceGetBrand(nvml::Device device, nvml::BrandType* out) {
    GATE("nvmlDeviceGetBrand", device);
    *out = nvml::BrandType::kNvidia;
    return Return::kSuccess;
  }
  static Return DeviceGetMinorNumber(nvml::Device device, unsigned* out) {
    GATE("nvmlDeviceGetMinorNumber", device);
    *out = GpuOf(device)->minor;
    return Return::kSuccess;
  }
  static Return DeviceGetIndex(nvml::Device device, unsigned* out) {
    GATE("nvmlDeviceGetIndex", device);
    *out = static_cast<unsigned>(NumberOf(device));
    return Return::kSuccess;
  }
  static Return DeviceGetPciInfo_v3(nvml::Device device, nvml::PciInfo* out) {
    GATE("nvmlDeviceGetPciInfo_v3", device);
    const FakeGpu& gpu = *GpuOf(device);
    *out = PciOf(gpu.pci);
    out->pciDeviceId = gpu.pci_device_id;
    out->pciSubSystemId = gpu.pci_subsystem_id;
    return Return::kSuccess;
  }
  static Return DeviceGetMemoryInfo(nvml::Device device, nvml::Memory* out) {
    GATE("nvmlDeviceGetMemoryInfo", device);
    const FakeGpu& gpu = *GpuOf(device);
    if (!gpu.has_memory_info) return Return::kNotSupported;
    const unsigned long long mib = IsMig(device) ? InstanceOf(device)->profile->memory_mib : gpu.memory_mib;
    *out = {.total = mib << 20U, .free = mib << 20U, .used = 0};
    return Return::kSuccess;
  }
  static Return DeviceGetCudaComputeCapability(nvml::Device device, int* major, int* minor) {
    GATE("nvmlDeviceGetCudaComputeCapability", device);
    *major = GpuOf(device)->compute_major;
    *minor = GpuOf(device)->compute_minor;
    return Return::kSuccess;
  }
  static Return DeviceGetFieldValues(nvml::Device device, int count, nvml::FieldValue* values) {
    GATE("nvmlDeviceGetFieldValues", device);
    for (int i = 0; i < count; ++i) {
      const auto& action = GpuOf(device)->recovery_action;
      values[i].nvmlReturn = Return::kNotSupported;
      if (values[i].fieldId != nvml::kFieldGetGpuRecoveryAction || !action) continue;
      values[i].nvmlReturn = Return::kSuccess;
      values[i].value.uiVal = *action;
    }
    return Return::kSuccess;
  }
  static Return DeviceGetMigMode(nvml::Device device, unsigned* current, unsigned* pending) {
    GATE("nvmlDeviceGetMigMode", device);
    const FakeGpu& gpu = *GpuOf(device);
    if (gpu.mig == nullptr) return Return::kNotSupported;
    *current = gpu.mig_enabled ? 1 : 0;
    *pending = gpu.mig_pending ? 1 : 0;
    return Return::kSuccess;
  }
  static Return DeviceGetMaxMigDeviceCount(nvml::Device device, unsigned* out) {
    GATE("nvmlDeviceGetMaxMigDeviceCount", device);
    const FakeGpu& gpu = *GpuOf(device);
    *out = gpu.mig == nullptr ? 0 : gpu.mig->compute_slices;
    return Return::kSuccess;
  }
  static Return DeviceGetMigDeviceHandleByIndex(nvml::Device device, unsigned index, nvml::Device* out) {
    GATE("nvmlDeviceGetMigDeviceHandleByIndex", device);
    unsigned at = 0;
    for (const FakeGpu::Instance& instance : GpuOf(device)->instances)
      for (unsigned ci = 0; ci < instance.compute_slices.size(); ++ci)
        if (instance.compute_slices[ci] != 0 && at++ == index) {
          *out = MakeHandle<nvml::Device>(NumberOf(device), instance.id | ci << 8, kMigBit);
          return Return::kSuccess;
        }
    return Return::kNotFound;
  }
  static Return DeviceGetGpuInstanceId(nvml::Device device, unsigned* out) {
    GATE("nvmlDeviceGetGpuInstanceId", device);
    *out = InstanceOf(device)->id;
    return Return::kSuccess;
  }
  static Return DeviceGetComputeInstanceId(nvml::Device device, unsigned* out) {
    GATE("nvmlDeviceGetComputeInstanceId", device);
    *out = ComputeIdOf(device);
    return Return::kSuccess;
  }
  static Return DeviceGetAttributes_v2(nvml::Device device, nvml::DeviceAttributes* out) {
    GATE("nvmlDeviceGetAttributes_v2", device);
    const FakeGpu::Instance& instance = *InstanceOf(device);
    const MigProfile& p = *instance.profile;
    *out = {.multiprocessorCount = p.multiprocessors,
            .sharedCopyEngineCount = p.engines.copy,
            .sharedDecoderCount = p.engines.decoder,
            .sharedEncoderCount = p.engines.encoder,
            .sharedJpegCount = p.engines.jpeg,
            .sharedOfaCount = p.engines.ofa,
            .gpuInstanceSliceCount = p.slices,
            .computeInstanceSliceCount = instance.compute_slices[ComputeIdOf(device)],
            .memorySizeMB = p.memory_mib};
    return Return::kSuccess;
  }
  static Return DeviceGetGpuInstanceProfileInfo(nvml::Device device, unsigned profile,
                                                nvml::GpuInstanceProfileInfo* out) {
    GATE("nvmlDeviceGetGpuInstanceProfileInfo", device);
    const FakeGpu& gpu = *GpuOf(device);
    const MigProfile* const p = gpu.mig == nullptr ? nullptr : gpu.mig->FindByNvmlProfile(profile);
    if (p == nullptr) return Return::kNotSupported;
    *out = {.id = p->id,
            .isP2pSupported = 0,
            .sliceCount = p->slices,
            .instanceCount = p->max_instances,
            .multiprocessorCount = p->multiprocessors,
            .copyEngineCount = p->engines.copy,
            .decoderCount = p->engines.decoder,
            .encoderCount = p->engines.encoder,
            .jpegCount = p->engines.jpeg,
            .ofaCount = p->engines.ofa,
            .memorySizeMB = p->memory_mib};
    return Return::kSuccess;
  }
  static Return DeviceGetGpuInstances(nvml::Device device, unsigned profile_id, nvml::GpuInstance* out,
                                      unsigned* count) {
    GATE("nvmlDeviceGetGpuInstances", device);
    *count = 0;
    for (const FakeGpu::Instance& instance : GpuOf(device)->instances)
      if (instance.profile->id == profile_id)
        out[(*count)++] = MakeHandle<nvml::GpuInstance>(NumberOf(device), instance.id, 0);
    return Return::kSuccess;
  }
  static Return DeviceGetGpuInstanceById(nvml::Device device, unsigned id, nvml::GpuInstance* out) {
    GATE("nvmlDeviceGetGpuInstanceById", device);
    *out = MakeHandle<nvml::GpuInstance>(NumberOf(device), id, 0);
    return InstanceOf(*out) == nullptr ? Return::kNotFound : Return::kSuccess;
  }
  static Return GpuInstanceGetInfo(nvml::GpuInstance handle, nvml::GpuInstanceInfo* out) {
    GATE("nvmlGpuInstanceGetInfo", handle);
    const FakeGpu::Instance& instance = *InstanceOf(handle);
    *out = {.device = nullptr,
            .id = instance.id,
            .profileId = instance.profile->id,
            .placement = {instance.placement.start, instance.placement.size}};
    return Return::kSuccess;
  }
  static Return GpuInstanceGetComputeInstanceById(nvml::GpuInstance handle, unsigned id, nvml::ComputeInstance* out) {
    GATE("nvmlGpuInstanceGetComputeInstanceById", handle);
    const FakeGpu::Instance& instance = *InstanceOf(handle);
    if (id >= instance.compute_slices.size() || instance.compute_slices[id] == 0) return Return::kNotFound;
    *out = MakeHandle<nvml::ComputeInstance>(NumberOf(handle), instance.id | id << 8, 0);
    return Return::kSuccess;
  }
  static Return ComputeInstanceGetInfo_v2(nvml::ComputeInstance handle, nvml::ComputeInstanceInfo* out) {
    GATE("nvmlComputeInstanceGetInfo_v2", handle);
    const FakeGpu::Instance& instance = *InstanceOf(handle);
    const unsigned id = ComputeIdOf(handle);
    unsigned start = 0;
    for (unsigned before = 0; before < id; ++before) start += instance.compute_slices[before];
    const unsigned slices = instance.compute_slices[id];
    *out = {.device = nullptr,
            .gpuInstance = nullptr,
            .id = id,
            .profileId = slices == 7 ? 4 : slices - 1,
            .placement = {start, slices}};
    return Return::kSuccess;
  }
  static Return DeviceGetNvLinkState(nvml::Device device, unsigned link, nvml::EnableState* out) {
    GATE("nvmlDeviceGetNvLinkState", device);
    if (link >= GpuOf(device)->links.size()) return Return::kInvalidArgument;
    *out = GpuOf(device)->links[link].empty() ? nvml::EnableState::kDisabled : nvml::EnableState::kEnabled;
    return Return::kSuccess;
  }
  static Return DeviceGetNvLinkRemoteDeviceType(nvml::Device device, unsigned link, nvml::IntNvLinkDeviceType* out) {
    GATE("nvmlDeviceGetNvLinkRemoteDeviceType", device);
    *out =
        GpuOf(device)->links[link] == "switch" ? nvml::IntNvLinkDeviceType::kSwitch : nvml::IntNvLinkDeviceType::kGpu;
    return Return::kSuccess;
  }
  static Return DeviceGetNvLinkRemotePciInfo_v2(nvml::Device device, unsigned link, nvml::PciInfo* out) {
    GATE("nvmlDeviceGetNvLinkRemotePciInfo_v2", device);
    const FakeGpu::Link& other = GpuOf(device)->links[link];
    *out = PciOf(other == "switch" ? "00000000:C0:00.0" : other);
    return Return::kSuccess;
  }
  static Return DeviceGetTopologyCommonAncestor(nvml::Device a, nvml::Device b, nvml::GpuTopologyLevel* out) {
    GATE("nvmlDeviceGetTopologyCommonAncestor", a);
    const bool same_half = (Bits(a) - 1) / 4 == (Bits(b) - 1) / 4;
    *out = same_half ? nvml::GpuTopologyLevel::kNode : nvml::GpuTopologyLevel::kSystem;
    return Return::kSuccess;
  }
  static Return DeviceGetGpuFabricInfoV(nvml::Device device, nvml::GpuFabricInfoV3* out) {
    GATE("nvmlDeviceGetGpuFabricInfoV", device);
    if (GpuOf(device)->fabric.state == nvml::kGpuFabricStateNotSupported) return Return::kNotSupported;
    *out = GpuOf(device)->fabric;
    return Return::kSuccess;
  }

  static Events::Set* SetOf(nvml::EventSet set) { return reinterpret_cast<Events::Set*>(set); }
  static Return EventSetCreate(nvml::EventSet* out) {
    GATE("nvmlEventSetCreate");
    Lock l(fake->events_->mu);
    *out = reinterpret_cast<nvml::EventSet>(&fake->events_->sets.emplace_back());
    return Return::kSuccess;
  }
  static Return DeviceRegisterEvents(nvml::Device device, unsigned long long kinds, nvml::EventSet set) {
    GATE("nvmlDeviceRegisterEvents", device);
    Lock l(fake->events_->mu);
    SetOf(set)->kinds[GpuOf(device)] |= kinds;
    return Return::kSuccess;
  }
  static Return DeviceGetSupportedEventTypes(nvml::Device device, unsigned long long* out) {
    GATE("nvmlDeviceGetSupportedEventTypes", device);
    *out = nvml::kEventTypeXidCriticalError | nvml::kEventMigConfigChange | nvml::kEventTypeDoubleBitEccError;
    return Return::kSuccess;
  }
  static Return EventSetWait_v2(nvml::EventSet set, nvml::EventData* out, unsigned timeout_ms) {
    GATE("nvmlEventSetWait_v2");
    Events& events = *fake->events_;
    Lock l(events.mu);
    Events::Set* const s = SetOf(set);
    if (!events.more.wait_for(events.mu, std::chrono::milliseconds(timeout_ms),
                              [&]() REQUIRES(events.mu) { return !s->waiting.empty(); }))
      return Return::kTimeout;
    *out = s->waiting.front();
    s->waiting.pop_front();
    return Return::kSuccess;
  }
  static Return EventSetFree(nvml::EventSet set) {
    GATE("nvmlEventSetFree");
    Lock l(fake->events_->mu);
    fake->events_->sets.remove_if([&](const Events::Set& s) { return &s == SetOf(set); });
    return Return::kSuccess;
  }
};

FakeGpu::Instance& FakeGpu::AddInstance(std::string_view profile, std::vector<unsigned> compute_slices) {
  std::vector<MigInstance> taken;
  for (const Instance& instance : instances) taken.push_back({instance.profile, instance.placement});
  const MigProfile& p = *mig->FindByName(profile);
  const MigPlacement at = PreferredPlacement(*mig, taken, p).value();
  if (compute_slices.empty()) compute_slices.push_back(p.slices);
  return instances.emplace_back(Instance{&p, at, GpuInstanceId(*mig, at), std::move(compute_slices)});
}

std::string FakeGpu::MigUuid(unsigned gi, unsigned ci) const {
  return "MIG-" + std::to_string(minor) + "-" + std::to_string(gi) + "-" + std::to_string(ci);
}

FakeNvml::FakeNvml() : events_(std::make_unique<Events>()) { fake = this; }
FakeNvml::~FakeNvml() { fake = nullptr; }

nvml::Functions FakeNvml::Table() const {
  nvml::Functions f;
#define GPUOP_FAKE(name, ...) \
  if constexpr (requires { &Calls::name; }) f.name = &Calls::name;
  [&]<class Calls>() { GPUOP_NVML_FUNCTIONS(GPUOP_FAKE) }.template operator()<FakeNvml::Calls>();
#undef GPUOP_FAKE
  AddMigFunctions(f);
  f.ErrorString = &Calls::ErrorString;
  return f;
}

void FakeNvml::Raise(std::size_t gpu, unsigned long long type, unsigned long long data, unsigned gi, unsigned ci) {
  Lock l(events_->mu);
  for (Events::Set& set : events_->sets) {
    const auto it = set.kinds.find(&gpus[gpu]);
    if (it == set.kinds.end() || (it->second & type) == 0) continue;
    set.waiting.push_back({.device = MakeHandle<nvml::Device>(gpu, 0, 0),
                           .eventType = type,
                           .eventData = data,
                           .gpuInstanceId = gi,
                           .computeInstanceId = ci});
  }
  events_->more.notify_all();
}

}  // namespace gpuop::gpu
