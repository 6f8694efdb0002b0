// NVLink, chip-to-chip links, and the fabric of NVSwitches.

#include <cstdio>
#include <cstring>

#include "machine/nvml/library.h"
#include "machine/nvml/names.h"
#include "machine/state/nvswitch.h"

using namespace gpuop::machine::nvml;
namespace layout = gpuop::machine::layout;

namespace {

/// A call on one link of a device; the error for a link that it does not have.
Return OnLink(const char* name, abi::Device device, unsigned link, auto answer) {
  const Call call(name, device, Needs::kWorking);
  if (!call.ok()) return call.error();
  if (call.facts().nvlinks == 0) return Return::kNotSupported;
  if (link >= call.facts().nvlinks) return Return::kInvalidArgument;
  return answer(call, call.device().links[link]);
}

/// Healthy, as far as a machine has each thing.
unsigned HealthMask(const layout::Device& device) {
  return device.fabric_health != 0
             ? device.fabric_health
             : abi::kGpuFabricHealthMaskDegradedBwFalse | abi::kGpuFabricHealthMaskRouteRecoveryFalse << 2 |
                   abi::kGpuFabricHealthMaskRouteUnhealthyFalse << 4 |
                   abi::kGpuFabricHealthMaskAccessTimeoutRecoveryFalse << 6 |
                   abi::kGpuFabricHealthMaskIncorrectConfigurationNone << 8;
}

Return FabricStatus(const layout::Device& device) {
  return device.fabric_state == layout::kFabricCompleted ? static_cast<Return>(device.fabric_status) : Return::kSuccess;
}

void FillFabric(const layout::Device& device, auto& info) {
  UuidBytes(device.facts.fabric_cluster.view(), info.clusterUuid);
  info.status = FabricStatus(device);
  info.cliqueId = device.facts.fabric_clique;
  info.state = static_cast<unsigned char>(device.fabric_state);
}

}  // namespace

extern "C" {

Return nvmlDeviceGetNvLinkState(abi::Device device, unsigned link, abi::EnableState* active) {
  GPUOP_NOT_NULL(active);
  return OnLink(__func__, device, link, [&](const Call&, const layout::Link& l) {
    *active = static_cast<abi::EnableState>(l.up);
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetNvLinkVersion(abi::Device device, unsigned link, unsigned* version) {
  GPUOP_NOT_NULL(version);
  return OnLink(__func__, device, link, [&](const Call& call, const layout::Link&) {
    *version = call.facts().nvlink_version;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetNvLinkCapability(abi::Device device, unsigned link, abi::NvLinkCapability capability,
                                     unsigned* has) {
  GPUOP_NOT_NULL(has);
  if (static_cast<unsigned>(capability) > 5) return Return::kInvalidArgument;
  return OnLink(__func__, device, link, [&](const Call&, const layout::Link& l) {
    *has = capability == abi::NvLinkCapability::kSliBridge ? 0 : l.up;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetNvLinkRemotePciInfo(abi::Device device, unsigned link, abi::PciInfo* pci) {
  return nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, pci);
}
Return nvmlDeviceGetNvLinkRemotePciInfo_v2(abi::Device device, unsigned link, abi::PciInfo* pci) {
  GPUOP_NOT_NULL(pci);
  return OnLink(__func__, device, link, [&](const Call& call, const layout::Link&) {
    *pci = {};
    if (const auto peer = call.facts().nvlink_peer[link]; peer < call.machine().device_count) {
      *pci = PciInfoOf(call.machine().devices[peer].facts);
      return Return::kSuccess;
    }
    // The NVSwitches share out the links.
    pci->bus = gpuop::machine::SwitchBus(link % gpuop::machine::SwitchCount(call.machine()));
    std::snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", pci->bus);
    std::snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "0000:%02X:00.0", pci->bus);
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetNvLinkRemoteDeviceType(abi::Device device, unsigned link, abi::IntNvLinkDeviceType* type) {
  GPUOP_NOT_NULL(type);
  return OnLink(__func__, device, link, [&](const Call& call, const layout::Link&) {
    *type = call.facts().nvlink_to_switch != 0 ? abi::IntNvLinkDeviceType::kSwitch : abi::IntNvLinkDeviceType::kGpu;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetNvLinkErrorCounter(abi::Device device, unsigned link, abi::NvLinkErrorCounter counter,
                                       unsigned long long* value) {
  GPUOP_NOT_NULL(value);
  return OnLink(__func__, device, link, [&](const Call&, const layout::Link& l) {
    switch (counter) {
      case abi::NvLinkErrorCounter::kReplay: *value = l.replay; break;
      case abi::NvLinkErrorCounter::kRecovery: *value = l.recovery; break;
      case abi::NvLinkErrorCounter::kCrcFlit: *value = l.crc_flit; break;
      case abi::NvLinkErrorCounter::kCrcData: *value = l.crc_data; break;
      case abi::NvLinkErrorCounter::kEccData: *value = l.ecc_data; break;
      default: return Return::kInvalidArgument;
    }
    return Return::kSuccess;
  });
}

Return nvmlDeviceResetNvLinkErrorCounters(abi::Device device, unsigned link) {
  GPUOP_CHANGE_DEVICE(__func__, device);
  if (call.facts().nvlinks == 0) return Return::kNotSupported;
  if (link >= call.facts().nvlinks) return Return::kInvalidArgument;
  layout::Link& l = call.device().links[link];
  l.replay = l.recovery = l.crc_flit = l.crc_data = l.ecc_data = 0;
  return Return::kSuccess;
}

Return nvmlDeviceGetNvlinkSupportedBwModes(abi::Device device, abi::NvlinkSupportedBwModesV1* modes) {
  GPUOP_NOT_NULL(modes);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (modes->version != abi::kVersionOfNvlinkSupportedBwModesV1) return Return::kArgumentVersionMismatch;
  return Return::kNotSupported;
}

Return nvmlDeviceGetNvLinkInfo(abi::Device device, abi::NvLinkInfoV2* info) {
  GPUOP_NOT_NULL(info);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (info->version != abi::kVersionOfNvLinkInfoV1 && info->version != abi::kVersionOfNvLinkInfoV2)
    return Return::kArgumentVersionMismatch;
  if (call.facts().nvlinks == 0) return Return::kNotSupported;
  info->isNvleEnabled = 0;
  if (info->version == abi::kVersionOfNvLinkInfoV2) info->firmwareInfo.numValidEntries = 0;
  return Return::kSuccess;
}

Return nvmlDeviceGetC2cModeInfoV(abi::Device device, abi::C2cModeInfoV1* info) {
  GPUOP_NOT_NULL(info);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  info->isC2cEnabled = call.facts().c2c;
  return Return::kSuccess;
}

Return nvmlDeviceGetGpuFabricInfo(abi::Device device, abi::GpuFabricInfo* info) {
  GPUOP_NOT_NULL(info);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.facts().fabric_supported == 0) return Return::kNotSupported;
  *info = {};
  FillFabric(call.device(), *info);
  return Return::kSuccess;
}

Return nvmlDeviceGetGpuFabricInfoV(abi::Device device, abi::GpuFabricInfoV3* info) {
  GPUOP_NOT_NULL(info);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  const unsigned version = info->version;
  const bool two = version == abi::VersionOf<abi::GpuFabricInfoV2>(2);
  if (!two && version != abi::VersionOf<abi::GpuFabricInfoV3>(3)) return Return::kArgumentVersionMismatch;
  if (call.facts().fabric_supported == 0) return Return::kNotSupported;
  FillFabric(call.device(), *info);
  info->healthMask = HealthMask(call.device());
  if (!two)
    info->healthSummary = static_cast<unsigned char>(
        call.device().fabric_health == 0 ? abi::kGpuFabricHealthSummaryHealthy : abi::kGpuFabricHealthSummaryUnhealthy);
  return Return::kSuccess;
}

}  // extern "C"
