#include "gpu/inventory_device.h"

#include <span>

#include "base/text.h"

namespace gpuop::gpu {
namespace {

using F = nvml::Functions;

/// Keeps the first failure that is more than an absence, and passes values on.
class Taker {
 public:
  explicit Taker(Device& device) : device_(device) {}

  template <class T, class Use>
  void Take(Result<T> result, const Use& use) {
    if (result) {
      use(*std::move(result));
    } else if (!IsAbsence(result.error()) && device_.unreadable.empty()) {
      device_.unreadable = std::move(result).error().text;
    }
  }

 private:
  Device& device_;
};

std::string_view BrandName(nvml::BrandType brand) {
  using enum nvml::BrandType;
  switch (brand) {
    case kQuadro: return "Quadro";
    case kTesla: return "Tesla";
    case kNvs: return "NVS";
    case kGrid: return "Grid";
    case kGeforce: return "GeForce";
    case kTitan: return "Titan";
    case kNvidiaVapps: return "NVIDIA Virtual Applications";
    case kNvidiaVpc: return "NVIDIA Virtual PC";
    case kNvidiaVcs: return "NVIDIA Virtual Compute Server";
    case kNvidiaVws: return "NVIDIA RTX Virtual Workstation";
    case kNvidiaCloudGaming: return "NVIDIA Cloud Gaming";
    case kQuadroRtx: return "Quadro RTX";
    case kNvidiaRtx: return "NVIDIA RTX";
    case kNvidia: return "NVIDIA";
    case kGeforceRtx: return "GeForce RTX";
    case kTitanRtx: return "Titan RTX";
    default: return "Unknown";
  }
}

PciLocation PciOf(const nvml::PciInfo& pci) {
  return {.domain = pci.domain,
          .bus = static_cast<std::uint8_t>(pci.bus),
          .device = static_cast<std::uint8_t>(pci.device),
          .vendor_id = static_cast<std::uint16_t>(pci.pciDeviceId & 0xffff),
          .device_id = static_cast<std::uint16_t>(pci.pciDeviceId >> 16U),
          .subsystem_vendor_id = static_cast<std::uint16_t>(pci.pciSubSystemId & 0xffff),
          .subsystem_id = static_cast<std::uint16_t>(pci.pciSubSystemId >> 16U)};
}

Addressing AddressingOf(nvml::DeviceAddressingModeType mode) {
  switch (mode) {
    case nvml::DeviceAddressingModeType::kNone: return Addressing::kNone;
    case nvml::DeviceAddressingModeType::kHmm: return Addressing::kHmm;
    case nvml::DeviceAddressingModeType::kAts: return Addressing::kAts;
  }
  return Addressing::kUnknown;
}

void ReadMemory(const Nvml& nvml, nvml::Device handle, Device& device) {
  const auto memory = nvml.Get(&F::DeviceGetMemoryInfo, handle);
  if (memory) {
    device.memory_mib = memory->total >> 20U;
    device.unified_memory = memory->total == 0;
  } else if (memory.error().code == Code::kUnsupported) {
    device.unified_memory = true;
  } else if (device.unreadable.empty()) {
    device.unreadable = memory.error().text;
  }
}

NvLink ReadLink(const Nvml& nvml, nvml::Device handle, unsigned number) {
  NvLink link{.link = number, .active = true, .remote_pci = {}};
  if (const auto version = nvml.Get(&F::DeviceGetNvLinkVersion, handle, number)) link.version = *version;
  if (const auto type = nvml.Get(&F::DeviceGetNvLinkRemoteDeviceType, handle, number)) {
    if (*type == nvml::IntNvLinkDeviceType::kGpu) link.remote = NvLink::Remote::kGpu;
    if (*type == nvml::IntNvLinkDeviceType::kSwitch) link.remote = NvLink::Remote::kSwitch;
  }
  if (link.remote == NvLink::Remote::kSwitch) return link;
  if (const auto pci = nvml.Get(&F::DeviceGetNvLinkRemotePciInfo_v2, handle, number))
    link.remote_pci = PciOf(*pci).Nvml();
  return link;
}

}  // namespace

bool IsAbsence(const Error& error) {
  return error.code == Code::kUnsupported || error.code == Code::kNotFound || error.code == Code::kForbidden ||
         error.code == Code::kInvalid;
}

void ReadPlace(const Nvml& nvml, nvml::Device handle, Device& device) {
  Taker taker(device);
  // The place first: it is what is still known of a GPU that answers nothing else.
  taker.Take(nvml.Get(&F::DeviceGetPciInfo_v3, handle), [&](const nvml::PciInfo& pci) { device.pci = PciOf(pci); });
  taker.Take(nvml.GetText(&F::DeviceGetUUID, handle), [&](std::string v) { device.uuid = std::move(v); });
}

Identity ReadIdentity(const Nvml& nvml, nvml::Device handle, Device& device) {
  Identity out;
  Taker taker(device);
  taker.Take(nvml.Get(&F::DeviceGetMinorNumber, handle), [&](unsigned v) { out.minor = v; });
  taker.Take(nvml.GetText(&F::DeviceGetName, handle), [&](std::string v) { out.product = std::move(v); });
  taker.Take(nvml.Get(&F::DeviceGetBrand, handle), [&](nvml::BrandType v) { out.brand = BrandName(v); });
  taker.Take(nvml.GetText(&F::DeviceGetSerial, handle), [&](std::string v) { out.serial = std::move(v); });
  taker.Take(nvml.GetText(&F::DeviceGetBoardPartNumber, handle), [&](std::string v) { out.board_part = std::move(v); });
  taker.Take(nvml.GetText(&F::DeviceGetVbiosVersion, handle), [&](std::string v) { out.vbios = std::move(v); });
  int major = 0, minor = 0;
  if (auto done = nvml.Call(&F::DeviceGetCudaComputeCapability, handle, &major, &minor)) {
    out.compute_major = static_cast<unsigned>(major);
    out.compute_minor = static_cast<unsigned>(minor);
  } else if (!IsAbsence(done.error()) && device.unreadable.empty()) {
    device.unreadable = std::move(done).error().text;
  }
  taker.Take(nvml.Get(&F::DeviceGetVirtualizationMode, handle),
             [&](nvml::GpuVirtualizationMode mode) { out.virtualization = static_cast<Virtualization>(mode); });
  taker.Take(nvml.GetVersion(nvml::kVersionOfDeviceAddressingModeV1, &F::DeviceGetAddressingMode, handle),
             [&](const nvml::DeviceAddressingModeV1& mode) {
               out.addressing = AddressingOf(static_cast<nvml::DeviceAddressingModeType>(mode.value));
             });
  return out;
}

void ReadState(const Nvml& nvml, nvml::Device handle, Device& device) {
  ReadMemory(nvml, handle, device);
  Taker taker(device);
  taker.Take(nvml.Get(&F::DeviceGetPersistenceMode, handle),
             [&](nvml::EnableState on) { device.persistence = on == nvml::EnableState::kEnabled; });
  nvml::EnableState ecc{}, pending{};
  if (nvml.Try(&F::DeviceGetEccMode, handle, &ecc, &pending) == nvml::Return::kSuccess)
    device.ecc_enabled = ecc == nvml::EnableState::kEnabled;
  nvml::FieldValue action{};
  action.fieldId = nvml::kFieldGetGpuRecoveryAction;
  if (nvml.Try(&F::DeviceGetFieldValues, handle, 1, &action) == nvml::Return::kSuccess &&
      action.nvmlReturn == nvml::Return::kSuccess)
    device.recovery_action = action.value.uiVal;
}

void ReadLinks(const Nvml& nvml, nvml::Device handle, const std::vector<NvLink>& before, Device& device) {
  for (unsigned number = 0; number < nvml::kNvlinkMaxLinks; ++number) {
    nvml::EnableState state{};
    // Without NVLink the first answers NOT_SUPPORTED; behind the last link stands INVALID_ARGUMENT.
    if (nvml.Try(&F::DeviceGetNvLinkState, handle, number, &state) != nvml::Return::kSuccess) return;
    const bool known = number < before.size() && before[number].active;
    if (state != nvml::EnableState::kEnabled)
      device.links.push_back({.link = number, .remote_pci = {}});
    else
      device.links.push_back(known ? before[number] : ReadLink(nvml, handle, number));
  }
}

void ReadFabric(const Nvml& nvml, nvml::Device handle, Device& device) {
  nvml::GpuFabricInfoV3 info{};
  info.version = nvml::kVersionOfGpuFabricInfoV3;
  nvml::Return answer = nvml.Try(&F::DeviceGetGpuFabricInfoV, handle, &info);
  if (answer == nvml::Return::kArgumentVersionMismatch) {
    info.version = nvml::kVersionOfGpuFabricInfoV2;  // a prefix of the third form
    answer = nvml.Try(&F::DeviceGetGpuFabricInfoV, handle, &info);
  }
  if (answer == nvml::Return::kFunctionNotFound) {
    const auto first = nvml.Get(&F::DeviceGetGpuFabricInfo, handle);
    if (!first) return;
    std::copy(std::begin(first->clusterUuid), std::end(first->clusterUuid), info.clusterUuid);
    info.status = first->status;
    info.cliqueId = first->cliqueId;
    info.state = first->state;
    answer = nvml::Return::kSuccess;
  }
  if (answer != nvml::Return::kSuccess || info.state > nvml::kGpuFabricStateCompleted) return;
  device.fabric.state = static_cast<Fabric::State>(info.state);
  if (info.state != nvml::kGpuFabricStateCompleted) return;
  device.fabric.status = nvml::ReturnName(info.status);
  device.fabric.cluster_uuid = UuidText({reinterpret_cast<const char*>(info.clusterUuid), sizeof info.clusterUuid});
  device.fabric.clique_id = info.cliqueId;
}

ConfidentialComputing ReadConfidentialComputing(const Nvml& nvml) {
  ConfidentialComputing out;
  if (const auto caps = nvml.Get(&F::SystemGetConfComputeCapabilities)) {
    out.cpu_capable = caps->cpuCaps != nvml::kCcSystemCpuCapsNone;
    out.gpus_capable = caps->gpusCaps != nvml::kCcSystemGpusCcNotCapable;
  }
  if (const auto state = nvml.Get(&F::SystemGetConfComputeState)) {
    out.enabled = state->ccFeature != nvml::kCcSystemFeatureDisabled;
    out.devtools = state->devToolsMode != nvml::kCcSystemDevtoolsModeOff;
  }
  if (const auto ready = nvml.Get(&F::SystemGetConfComputeGpusReadyState)) out.ready = *ready != 0;
  return out;
}

}  // namespace gpuop::gpu
