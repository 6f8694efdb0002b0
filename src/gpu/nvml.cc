#include "gpu/nvml.h"

#include <array>

namespace gpuop::gpu {
namespace {

using nvml::Return;

/// Newer names stand for what they replaced when a library has only that; where the parameters differ the caller
/// decides (Processes).
void UseOlderForms(nvml::Functions& f) {
  const auto either = [](auto& newer, auto older) {
    if (newer == nullptr) newer = older;
  };
  either(f.Init_v2, f.Init);
  either(f.DeviceGetCount_v2, f.DeviceGetCount);
  either(f.DeviceGetHandleByIndex_v2, f.DeviceGetHandleByIndex);
  either(f.DeviceGetHandleByPciBusId_v2, f.DeviceGetHandleByPciBusId);
  either(f.DeviceGetPciInfo_v3, f.DeviceGetPciInfo_v2);
  either(f.DeviceGetPciInfo_v3, f.DeviceGetPciInfo);
  either(f.DeviceGetNvLinkRemotePciInfo_v2, f.DeviceGetNvLinkRemotePciInfo);
  either(f.EventSetWait_v2, f.EventSetWait);
  either(f.DeviceGetAttributes_v2, f.DeviceGetAttributes);
  either(f.ComputeInstanceGetInfo_v2, f.ComputeInstanceGetInfo);
  either(f.DeviceGetGpuInstancePossiblePlacements_v2, f.DeviceGetGpuInstancePossiblePlacements);
  either(f.DeviceGetDriverModel_v2, f.DeviceGetDriverModel);
  either(f.SystemGetCudaDriverVersion_v2, f.SystemGetCudaDriverVersion);
  either(f.DeviceGetCurrentClocksEventReasons, f.DeviceGetCurrentClocksThrottleReasons);
  either(f.DeviceGetSupportedClocksEventReasons, f.DeviceGetSupportedClocksThrottleReasons);
}

nvml::Functions Load(const os::Library& library) {
  nvml::Functions f;
  const auto load = [&](auto*& pointer, const char* name) {
    if (auto symbol = library.Symbol<std::remove_reference_t<decltype(*pointer)>>(name)) pointer = *symbol;
  };
#define GPUOP_NVML_LOAD(name, ...) load(f.name, "nvml" #name);
  GPUOP_NVML_FUNCTIONS(GPUOP_NVML_LOAD)
#undef GPUOP_NVML_LOAD
  load(f.ErrorString, "nvmlErrorString");
  return f;
}

/// The answers of a call that fills a list and says how much room it needs. A list that grows between the two calls is
/// asked for again.
template <class T, class F>
Return FillList(std::vector<T>& out, const F& call) {
  unsigned count = 0;
  Return answer = call(&count, nullptr);
  for (int attempt = 0; attempt < 4; ++attempt) {
    if (answer == Return::kSuccess && count == 0) return answer;
    if (answer != Return::kSuccess && answer != Return::kInsufficientSize) return answer;
    count += 4;
    out.resize(count);
    answer = call(&count, out.data());
    if (answer == Return::kSuccess) {
      out.resize(count);
      return answer;
    }
  }
  return answer;
}

template <class Info>
nvml::ProcessInfo Widened(const Info& info) {
  nvml::ProcessInfo out{.pid = info.pid,
                        .usedGpuMemory = info.usedGpuMemory,
                        .gpuInstanceId = nvml::kGpuInstanceIdAny,
                        .computeInstanceId = nvml::kComputeInstanceIdAny};
  if constexpr (requires { info.gpuInstanceId; }) {
    out.gpuInstanceId = info.gpuInstanceId;
    out.computeInstanceId = info.computeInstanceId;
  }
  return out;
}

template <class Info>
Return ListProcesses(Return (*call)(nvml::Device, unsigned*, Info*), nvml::Device device,
                     std::vector<nvml::ProcessInfo>& out) {
  std::vector<Info> infos;
  const Return answer = FillList(infos, [&](unsigned* count, Info* list) { return call(device, count, list); });
  if (answer != Return::kSuccess) return answer;
  for (const Info& info : infos) out.push_back(Widened(info));
  return answer;
}

}  // namespace

Code CodeOf(Return answer) {
  switch (answer) {
    case Return::kNotSupported:
    case Return::kFunctionNotFound:
    case Return::kArgumentVersionMismatch:
    case Return::kDeprecated:
    case Return::kFreqNotSupported:
    case Return::kVgpuEccNotSupported: return Code::kUnsupported;
    case Return::kNotFound:
    case Return::kGpuNotFound: return Code::kNotFound;
    case Return::kNoPermission: return Code::kForbidden;
    case Return::kInvalidArgument: return Code::kInvalid;
    case Return::kInUse: return Code::kConflict;
    case Return::kInsufficientResources:
    case Return::kInsufficientSize:
    case Return::kMemory: return Code::kTooLarge;
    case Return::kGpuIsLost:
    case Return::kResetRequired: return Code::kGone;
    case Return::kTimeout: return Code::kTimeout;
    case Return::kUninitialized:
    case Return::kDriverNotLoaded:
    case Return::kLibraryNotFound:
    case Return::kLibRmVersionMismatch:
    case Return::kNotReady: return Code::kUnavailable;
    default: return Code::kIo;
  }
}

Error Nvml::ErrorOf(std::size_t index, Return answer) {
  return {CodeOf(answer), std::string(nvml::kFunctionNames[index]) + ": " + std::string(nvml::ReturnName(answer))};
}

Result<std::unique_ptr<Nvml>> Nvml::Open(const std::vector<std::string>& paths, unsigned flags) {
  Error first{Code::kNotFound, "no libnvidia-ml.so.1 below the driver root: is a driver installed?"};
  bool tried = false;
  for (const std::string& path : paths) {
    auto library = os::Library::Open(path);
    if (library) {
      const nvml::Functions functions = Load(*library);
      return Start(std::move(*library), path, functions, flags);
    }
    if (!tried) first.text = library.error().text;
    tried = true;
  }
  return std::unexpected(std::move(first));
}

Result<std::unique_ptr<Nvml>> Nvml::Start(const nvml::Functions& functions, unsigned flags) {
  return Start(std::nullopt, {}, functions, flags);
}

Result<std::unique_ptr<Nvml>> Nvml::Start(std::optional<os::Library> library, std::string path,
                                          const nvml::Functions& functions, unsigned flags) {
  nvml::Functions usable = functions;
  UseOlderForms(usable);
  std::unique_ptr<Nvml> started(new Nvml(std::move(library), std::move(path), usable));
  const auto init =
      flags == 0 ? started->Call(&nvml::Functions::Init_v2) : started->Call(&nvml::Functions::InitWithFlags, flags);
  if (!init) return std::unexpected(init.error());
  started->started_ = true;
  return started;
}

Nvml::~Nvml() {
  if (started_) Try(&nvml::Functions::Shutdown);
}

std::string Nvml::Sentence(Return answer) const {
  const char* text = functions_.ErrorString == nullptr ? nullptr : functions_.ErrorString(answer);
  return text != nullptr ? std::string(text) : std::string(nvml::ReturnName(answer));
}

Return Nvml::ResetDevice(nvml::Device device) const {
  if (!library_) return Return::kFunctionNotFound;
  const auto reset = library_->Symbol<Return(nvml::Device)>("gpuopMachineResetDevice");
  return reset ? (*reset)(device) : Return::kFunctionNotFound;
}

Result<std::vector<Nvml::Handle>> Nvml::Devices() const {
  ASSIGN(const unsigned count, Get(&nvml::Functions::DeviceGetCount_v2));
  std::vector<Handle> handles(count);
  for (unsigned i = 0; i < count; ++i) {
    if (auto device = Get(&nvml::Functions::DeviceGetHandleByIndex_v2, i))
      handles[i].device = *device;
    else
      handles[i].error = std::move(device).error();
  }
  return handles;
}

Result<std::vector<nvml::Device>> Nvml::MigDevices(nvml::Device device) const {
  std::vector<nvml::Device> out;
  const auto max = Get(&nvml::Functions::DeviceGetMaxMigDeviceCount, device);
  if (!max && max.error().code == Code::kUnsupported) return out;
  if (!max) return std::unexpected(max.error());
  for (unsigned i = 0; i < *max; ++i) {
    auto mig = Get(&nvml::Functions::DeviceGetMigDeviceHandleByIndex, device, i);
    if (mig) {
      out.push_back(*mig);
    } else if (mig.error().code == Code::kUnsupported) {
      return out;
    } else if (mig.error().code != Code::kNotFound && mig.error().code != Code::kInvalid) {
      return std::unexpected(std::move(mig).error());
    }
  }
  return out;
}

namespace {
constexpr unsigned kMostInstances = 64;  // no GPU has more of one kind
}  // namespace

Result<std::vector<nvml::GpuInstance>> Nvml::GpuInstances(nvml::Device device, unsigned profile_id) const {
  std::array<nvml::GpuInstance, kMostInstances> found{};
  unsigned count = kMostInstances;
  TRY(Call(&nvml::Functions::DeviceGetGpuInstances, device, profile_id, found.data(), &count));
  return std::vector<nvml::GpuInstance>(found.begin(), found.begin() + std::min(count, kMostInstances));
}

Result<std::vector<nvml::ComputeInstance>> Nvml::ComputeInstances(nvml::GpuInstance instance,
                                                                  unsigned profile_id) const {
  std::array<nvml::ComputeInstance, kMostInstances> found{};
  unsigned count = kMostInstances;
  TRY(Call(&nvml::Functions::GpuInstanceGetComputeInstances, instance, profile_id, found.data(), &count));
  return std::vector<nvml::ComputeInstance>(found.begin(), found.begin() + std::min(count, kMostInstances));
}

Result<std::vector<nvml::ProcessInfo>> Nvml::Processes(nvml::Device device, ProcessKind kind) const {
  struct Forms {
    Return (*v3)(nvml::Device, unsigned*, nvml::ProcessInfo*);
    Return (*v2)(nvml::Device, unsigned*, nvml::ProcessInfoV2*);
    Return (*v1)(nvml::Device, unsigned*, nvml::ProcessInfoV1*);
    Function<nvml::Device, unsigned*, nvml::ProcessInfo*> name;
  };
  using F = nvml::Functions;
  const F& f = functions_;
  const Forms forms[] = {
      {f.DeviceGetComputeRunningProcesses_v3, f.DeviceGetComputeRunningProcesses_v2, f.DeviceGetComputeRunningProcesses,
       &F::DeviceGetComputeRunningProcesses_v3},
      {f.DeviceGetGraphicsRunningProcesses_v3, f.DeviceGetGraphicsRunningProcesses_v2,
       f.DeviceGetGraphicsRunningProcesses, &F::DeviceGetGraphicsRunningProcesses_v3},
      {f.DeviceGetMPSComputeRunningProcesses_v3, f.DeviceGetMPSComputeRunningProcesses_v2,
       f.DeviceGetMPSComputeRunningProcesses, &F::DeviceGetMPSComputeRunningProcesses_v3},
  };
  const Forms& form = forms[static_cast<std::size_t>(kind)];
  std::vector<nvml::ProcessInfo> out;
  Return answer = Return::kFunctionNotFound;
  if (form.v3 != nullptr)
    answer = ListProcesses(form.v3, device, out);
  else if (form.v2 != nullptr)
    answer = ListProcesses(form.v2, device, out);
  else if (form.v1 != nullptr)
    answer = ListProcesses(form.v1, device, out);
  if (answer != Return::kSuccess) return std::unexpected(ErrorOf(MemberIndex(form.name), answer));
  return out;
}

}  // namespace gpuop::gpu
