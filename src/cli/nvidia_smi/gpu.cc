#include "cli/nvidia_smi/gpu.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "gpu/mig_name.h"

namespace gpuop::cli::nvidia_smi {
namespace {

namespace nvml = gpu::nvml;

/// "0000:07:00.0", "00000000:07:00.0" and "07:00.0" name the same GPU.
bool SamePci(std::string_view asked, std::string_view bus_id) {
  if (asked.find(':') == std::string_view::npos || bus_id.empty()) return false;
  const std::string a = ToLower(asked), b = ToLower(bus_id);
  if (a == b) return true;
  const auto zeros = b.find_first_not_of('0');
  const std::string_view tail = std::string_view(b).substr(b.find(':') + 1);
  if (std::ranges::count(a, ':') == 1) return zeros >= b.find(':') && a == tail;
  const auto [domain, rest] = Cut(a, ':').value();
  const auto digits = domain.find_first_not_of('0');
  const auto own = b.substr(0, b.find(':'));
  const auto own_digits = own.find_first_not_of('0');
  const auto trimmed = digits == std::string_view::npos ? std::string_view() : domain.substr(digits);
  const auto own_trimmed = own_digits == std::string::npos ? std::string() : own.substr(own_digits);
  return rest == tail && trimmed == own_trimmed;
}

bool Names(const std::string& id, const Gpu& gpu) {
  if (const auto index = ParseInt(id)) {
    if (*index == gpu.index) return true;
    const auto serial = gpu.Text(&F::DeviceGetSerial);
    return serial && *serial == id;
  }
  if (SamePci(id, gpu.bus_id)) return true;
  const auto uuid = gpu.Text(&F::DeviceGetUUID);
  return uuid && *uuid == id;
}

std::string WithoutMig(std::string_view name) {
  if (name.starts_with("MIG ")) name.remove_prefix(4);
  return std::string(name);
}

std::string MadeUpName(const Gpu& gpu, unsigned slices, unsigned long long memory_mib) {
  const auto memory = gpu.Get(&F::DeviceGetMemoryInfo);
  return gpu::ToText({.c = slices,
                      .g = slices,
                      .gb = gpu::MigNameGigabytes(memory_mib, memory ? memory->total : 0),
                      .with = {},
                      .without = {}});
}

}  // namespace

bool Gpu::MigEnabled() const {
  unsigned current = 0, pending = 0;
  return nvml->Try(&F::DeviceGetMigMode, handle, &current, &pending) == Return::kSuccess &&
         current == nvml::kDeviceMigEnable;
}

Result<Machine> FindGpus(const gpu::Nvml& nvml) {
  ASSIGN(const auto handles, nvml.Devices());
  Machine machine;
  for (unsigned i = 0; i < handles.size(); ++i) {
    Gpu gpu{.nvml = &nvml, .handle = handles[i].device, .index = i, .bus_id = {}};
    Return answer = Return::kSuccess;
    if (handles[i].error) {
      nvml::Device ignored = nullptr;
      answer = nvml.Try(&F::DeviceGetHandleByIndex_v2, i, &ignored);
    } else {
      nvml::PciInfo pci{};
      if (nvml.Try(&F::DeviceGetPciInfo_v3, gpu.handle, &pci) == Return::kSuccess) gpu.bus_id = pci.busId;
      char uuid[nvml::kDeviceUuidV2BufferSize] = {};
      answer = nvml.Try(&F::DeviceGetUUID, gpu.handle, uuid, nvml::kDeviceUuidV2BufferSize);
      if (answer == Return::kNotSupported) answer = Return::kSuccess;
      // The driver still knows the name of a GPU that is gone; what the GPU itself must answer tells.
      nvml::Memory memory{};
      if (answer == Return::kSuccess && nvml.Try(&F::DeviceGetMemoryInfo, gpu.handle, &memory) == Return::kGpuIsLost)
        answer = Return::kGpuIsLost;
    }
    if (answer == Return::kSuccess) {
      machine.gpus.push_back(std::move(gpu));
      continue;
    }
    machine.unreadable += fmt::format("Unable to determine the device handle for GPU{}: {}{}{}\n", i, gpu.bus_id,
                                      gpu.bus_id.empty() ? "" : ": ", nvml.Sentence(answer));
    machine.status = StatusOf(answer);
  }
  return machine;
}

Result<std::vector<Gpu>> Choose(const std::vector<Gpu>& all, const std::vector<std::string>& ids) {
  if (ids.empty()) return all;
  std::vector<Gpu> chosen;
  for (const std::string& id : ids) {
    const auto it = std::ranges::find_if(all, [&](const Gpu& gpu) { return Names(id, gpu); });
    if (it == all.end()) return Fail(Code::kNotFound, id);
    chosen.push_back(*it);
  }
  std::ranges::sort(chosen, {}, &Gpu::index);
  const auto same = std::ranges::unique(chosen, {}, &Gpu::index);
  chosen.erase(same.begin(), same.end());
  return chosen;
}

int StatusOf(Return answer) {
  switch (answer) {
    case Return::kSuccess:
    case Return::kInvalidArgument:
    case Return::kNotSupported:
    case Return::kNoPermission:
    case Return::kNotFound:
    case Return::kInsufficientPower:
    case Return::kDriverNotLoaded:
    case Return::kIrqIssue:
    case Return::kLibraryNotFound:
    case Return::kFunctionNotFound:
    case Return::kCorruptedInforom:
    case Return::kGpuIsLost:
    case Return::kLibRmVersionMismatch:
    case Return::kInUse:
    case Return::kInsufficientResources: return static_cast<int>(answer);
    default: return 255;
  }
}

int StatusOf(const Error& error) {
  switch (error.code) {
    case Code::kInvalid: return 2;
    case Code::kUnsupported: return 3;
    case Code::kForbidden: return 4;
    case Code::kNotFound: return 6;
    case Code::kGone: return 15;
    default: return 255;
  }
}

std::string OrNa(const Result<std::string>& value) { return value && !value->empty() ? *value : "N/A"; }

std::string EnabledText(const Result<nvml::EnableState>& state) {
  if (!state) return "N/A";
  return *state == nvml::EnableState::kEnabled ? "Enabled" : "Disabled";
}

std::string MiB(unsigned long long bytes) { return std::to_string(bytes >> 20U) + " MiB"; }

std::string_view ComputeModeText(nvml::ComputeMode mode) {
  switch (mode) {
    case nvml::ComputeMode::kDefault: return "Default";
    case nvml::ComputeMode::kExclusiveThread: return "Exclusive_Thread";
    case nvml::ComputeMode::kProhibited: return "Prohibited";
    case nvml::ComputeMode::kExclusiveProcess: return "Exclusive_Process";
  }
  return "N/A";
}

std::string_view ArchitectureText(unsigned architecture) {
  switch (architecture) {
    case nvml::kDeviceArchKepler: return "Kepler";
    case nvml::kDeviceArchMaxwell: return "Maxwell";
    case nvml::kDeviceArchPascal: return "Pascal";
    case nvml::kDeviceArchVolta: return "Volta";
    case nvml::kDeviceArchTuring: return "Turing";
    case nvml::kDeviceArchAmpere: return "Ampere";
    case nvml::kDeviceArchAda: return "Ada Lovelace";
    case nvml::kDeviceArchHopper: return "Hopper";
    case nvml::kDeviceArchBlackwell: return "Blackwell";
    case nvml::kDeviceArchRubin: return "Rubin";
    default: return "Unknown";
  }
}

std::string_view BrandText(nvml::BrandType brand) {
  switch (brand) {
    case nvml::BrandType::kTesla: return "Tesla";
    case nvml::BrandType::kQuadro: return "Quadro";
    case nvml::BrandType::kGeforce: return "GeForce";
    case nvml::BrandType::kNvidia: return "NVIDIA";
    case nvml::BrandType::kNvidiaRtx: return "NVIDIA RTX";
    default: return "Unknown";
  }
}

std::vector<MigProfileInfo> GpuInstanceProfiles(const Gpu& gpu) {
  std::vector<MigProfileInfo> out;
  const auto add = [&](const auto& info, std::string name, unsigned profile) {
    const bool no_media =
        profile == nvml::kGpuInstanceProfile1SliceNoMe || profile == nvml::kGpuInstanceProfile2SliceNoMe;
    out.push_back({.id = info.id,
                   .name = std::move(name),
                   .order = no_media ? nvml::kGpuInstanceProfileCount + profile : profile,
                   .instances = info.instanceCount,
                   .multiprocessors = info.multiprocessorCount,
                   .slices = info.sliceCount,
                   .copy = info.copyEngineCount,
                   .decoder = info.decoderCount,
                   .encoder = info.encoderCount,
                   .jpeg = info.jpegCount,
                   .ofa = info.ofaCount,
                   .memory_mib = info.memorySizeMB,
                   .p2p = info.isP2pSupported != 0});
  };
  for (unsigned profile = 0; profile < nvml::kGpuInstanceProfileCount; ++profile) {
    const auto named = gpu.nvml->GetVersion(nvml::kVersionOfGpuInstanceProfileInfoV2,
                                            &F::DeviceGetGpuInstanceProfileInfoV, gpu.handle, profile);
    if (named) {
      add(*named, WithoutMig(named->name), profile);
    } else if (const auto plain = gpu.Get(&F::DeviceGetGpuInstanceProfileInfo, profile)) {
      add(*plain, MadeUpName(gpu, plain->sliceCount, plain->memorySizeMB).append(gpu::MigNameSuffix(profile)), profile);
    }
  }
  std::ranges::sort(out, {}, [](const MigProfileInfo& p) { return std::tuple(p.slices, p.memory_mib, p.order); });
  return out;
}

std::vector<MigProfileInfo> ComputeInstanceProfiles(const Gpu& gpu, nvml::GpuInstance instance,
                                                    const MigProfileInfo& of) {
  std::vector<MigProfileInfo> out;
  for (unsigned profile = 0; profile < nvml::kComputeInstanceProfileCount; ++profile) {
    const auto info = gpu.nvml->Get(&F::GpuInstanceGetComputeInstanceProfileInfo, instance, profile,
                                    unsigned{nvml::kComputeInstanceEngineProfileShared});
    if (!info) continue;
    out.push_back({.id = info->id,
                   .name = info->sliceCount == of.slices ? of.name : std::to_string(info->sliceCount) + "c." + of.name,
                   .instances = info->instanceCount,
                   .multiprocessors = info->multiprocessorCount,
                   .slices = info->sliceCount,
                   .copy = info->sharedCopyEngineCount,
                   .decoder = info->sharedDecoderCount,
                   .encoder = info->sharedEncoderCount,
                   .jpeg = info->sharedJpegCount,
                   .ofa = info->sharedOfaCount});
  }
  return out;
}

}  // namespace gpuop::cli::nvidia_smi
