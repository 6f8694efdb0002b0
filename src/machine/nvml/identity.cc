// What a device is: names, numbers, versions.

#include <cstring>

#include "machine/nvml/library.h"
#include "machine/nvml/more_functions.h"
#include "machine/nvml/names.h"
#include "machine/state/mig.h"

using namespace gpuop::machine::nvml;
using gpuop::machine::MigUuid;
namespace layout = gpuop::machine::layout;

namespace {

/// Most numbers of a device are read in one way.
template <class T>
Return Number(const char* name, abi::Device device, Needs needs, T* out, auto of) {
  if (out == nullptr) return Return::kInvalidArgument;
  const Call call(name, device, needs);
  if (call.ok()) *out = static_cast<T>(of(call));
  return call.error();
}

Return SetCpus(const Call& call, unsigned size, unsigned long* set) {
  constexpr unsigned kBits = sizeof(unsigned long) * 8;
  for (unsigned word = 0; word < size; ++word) set[word] = word * kBits / 64 < 4 ? call.facts().cpus[word] : 0;
  return Return::kSuccess;
}

}  // namespace

extern "C" {

Return nvmlDeviceGetName(abi::Device device, char* name, unsigned length) {
  GPUOP_ON_DEVICE(__func__, device, kIdentity);
  std::string text(call.facts().name.view());
  if (const auto& at = call.place(); !at.whole())
    text += " MIG " + gpuop::machine::MigProfileName(call.device(), at.gpu_instance, at.compute_instance);
  return CopyText(text, name, length);
}

Return nvmlDeviceGetUUID(abi::Device device, char* uuid, unsigned length) {
  GPUOP_ON_DEVICE(__func__, device, kIdentity);
  const auto& at = call.place();
  return CopyText(
      at.whole() ? std::string(call.facts().uuid.view()) : MigUuid(call.device(), at.gpu_instance, at.compute_instance),
      uuid, length);
}

Return nvmlDeviceGetBrand(abi::Device device, abi::BrandType* type) {
  return Number(__func__, device, Needs::kIdentity, type, [](const Call& call) { return call.facts().brand; });
}
Return nvmlDeviceGetArchitecture(abi::Device device, unsigned* architecture) {
  return Number(__func__, device, Needs::kIdentity, architecture,
                [](const Call& call) { return call.facts().architecture; });
}
Return nvmlDeviceGetMinorNumber(abi::Device device, unsigned* minor) {
  return Number(__func__, device, Needs::kIdentity, minor, [](const Call& call) { return call.facts().minor; });
}
Return nvmlDeviceGetBoardId(abi::Device device, unsigned* board) {
  return Number(__func__, device, Needs::kIdentity, board, [](const Call& call) { return call.facts().board_id; });
}
Return nvmlDeviceGetNumGpuCores(abi::Device device, unsigned* cores) {
  return Number(__func__, device, Needs::kWorking, cores,
                [](const Call& call) { return call.facts().sm_count * call.facts().cores_per_sm; });
}
Return nvmlDeviceGetMemoryBusWidth(abi::Device device, unsigned* width) {
  return Number(__func__, device, Needs::kWorking, width,
                [](const Call& call) { return call.facts().memory_bus_bits; });
}
Return nvmlDeviceGetIrqNum(abi::Device device, unsigned* irq) {
  return Number(__func__, device, Needs::kWorking, irq, [](const Call& call) { return 96 + call.facts().minor; });
}
Return nvmlDeviceGetBusType(abi::Device device, unsigned* type) {
  return Number(__func__, device, Needs::kWorking, type, [](const Call&) { return abi::kBusTypePcie; });
}

Return nvmlDeviceGetCudaComputeCapability(abi::Device device, int* major, int* minor) {
  GPUOP_NOT_NULL(major, minor);
  GPUOP_ON_DEVICE(__func__, device, kIdentity);
  *major = static_cast<int>(call.facts().compute_major);
  *minor = static_cast<int>(call.facts().compute_minor);
  return Return::kSuccess;
}

Return nvmlDeviceGetSerial(abi::Device device, char* serial, unsigned length) {
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  return CopyText(call.facts().serial.view(), serial, length);
}

Return nvmlDeviceGetBoardPartNumber(abi::Device device, char* number, unsigned length) {
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  return CopyText(call.facts().part_number.view(), number, length);
}

Return nvmlDeviceGetVbiosVersion(abi::Device device, char* version, unsigned length) {
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  return CopyText(call.facts().vbios.view(), version, length);
}

Return nvmlDeviceGetInforomVersion(abi::Device device, abi::InforomObject object, char* version, unsigned length) {
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  const auto& facts = call.facts();
  switch (object) {
    case abi::InforomObject::kOem: return CopyText(facts.inforom_oem.view(), version, length);
    case abi::InforomObject::kEcc: return CopyText(facts.inforom_ecc.view(), version, length);
    case abi::InforomObject::kPower: return CopyText(facts.inforom_power.view(), version, length);
    case abi::InforomObject::kDen: return Return::kNotSupported;
  }
  return Return::kInvalidArgument;
}

Return nvmlDeviceGetInforomImageVersion(abi::Device device, char* version, unsigned length) {
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  return CopyText(call.facts().inforom_image.view(), version, length);
}

Return nvmlDeviceGetGspFirmwareVersion(abi::Device device, char* version) {
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.facts().gsp_firmware == 0) return Return::kNotSupported;
  return CopyText(call.machine().driver_version.view(), version, abi::kGspFirmwareVersionBufSize);
}

Return nvmlDeviceGetGspFirmwareMode(abi::Device device, unsigned* enabled, unsigned* standard) {
  GPUOP_NOT_NULL(enabled, standard);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  *enabled = *standard = call.facts().gsp_firmware;
  return Return::kSuccess;
}

Return nvmlDeviceGetModuleId(abi::Device device, unsigned* module) {
  GPUOP_NOT_NULL(module);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.facts().module_id == 0) return Return::kNotSupported;
  *module = call.facts().module_id;
  return Return::kSuccess;
}

Return nvmlDeviceGetPlatformInfo(abi::Device device, abi::PlatformInfoV2* info) {
  GPUOP_NOT_NULL(info);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (info->version != abi::kVersionOfPlatformInfoV2 && info->version != abi::kVersionOfPlatformInfoV1)
    return Return::kArgumentVersionMismatch;
  if (call.facts().fabric_cluster.empty()) return Return::kNotSupported;
  // Both forms have the same places; their names differ.
  static_assert(sizeof(abi::PlatformInfoV1) == sizeof(abi::PlatformInfoV2));
  const unsigned version = info->version;
  *info = {};
  info->version = version;
  UuidBytes(call.facts().fabric_cluster.view(), info->ibGuid);
  info->slotNumber = 1;
  info->hostId = 1;
  info->peerType = 1;
  info->moduleId = static_cast<unsigned char>(call.facts().module_id);
  return Return::kSuccess;
}

Return nvmlDeviceGetNumaNodeId(abi::Device device, unsigned* node) {
  GPUOP_NOT_NULL(node);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  // The node of memory that a coherent GPU adds to the system, not the one it is near to.
  if (call.facts().c2c == 0) return Return::kNotSupported;
  *node = call.machine().numa_nodes + call.facts().minor;
  return Return::kSuccess;
}

Return nvmlDeviceGetAddressingMode(abi::Device device, abi::DeviceAddressingModeV1* mode) {
  GPUOP_NOT_NULL(mode);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (mode->version != abi::kVersionOfDeviceAddressingModeV1) return Return::kArgumentVersionMismatch;
  // 0 none, 1 HMM, 2 ATS: page tables shared with the CPU.
  mode->value = call.facts().c2c != 0 || call.facts().unified_memory != 0 ? 2 : 0;
  return Return::kSuccess;
}

Return nvmlDeviceGetCpuAffinity(abi::Device device, unsigned size, unsigned long* set) {
  GPUOP_NOT_NULL(set);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  return SetCpus(call, size, set);
}

Return nvmlDeviceGetCpuAffinityWithinScope(abi::Device device, unsigned size, unsigned long* set, unsigned scope) {
  GPUOP_NOT_NULL(set);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (scope != abi::kAffinityScopeNode && scope != abi::kAffinityScopeSocket) return Return::kInvalidArgument;
  return SetCpus(call, size, set);
}

Return nvmlDeviceGetMemoryAffinity(abi::Device device, unsigned size, unsigned long* set, unsigned scope) {
  GPUOP_NOT_NULL(set);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (scope != abi::kAffinityScopeNode && scope != abi::kAffinityScopeSocket) return Return::kInvalidArgument;
  for (unsigned word = 0; word < size; ++word) set[word] = 0;
  if (size > 0 && call.facts().numa_node >= 0) set[0] = 1UL << call.facts().numa_node;
  return Return::kSuccess;
}

Return nvmlDeviceOnSameBoard(abi::Device one, abi::Device two, int* same) {
  GPUOP_NOT_NULL(same);
  const auto other = PlaceOf(two);
  GPUOP_ON_DEVICE(__func__, one, kIdentity);
  if (!other || other->device >= call.machine().device_count) return Return::kInvalidArgument;
  const auto& facts = call.machine().devices[other->device].facts;
  *same = facts.pci_domain == call.facts().pci_domain && facts.board_id == call.facts().board_id ? 1 : 0;
  return Return::kSuccess;
}

Return nvmlDeviceGetPersistenceMode(abi::Device device, abi::EnableState* mode) {
  return Number(__func__, device, Needs::kWorking, mode, [](const Call& call) { return call.device().persistence; });
}

Return nvmlDeviceSetPersistenceMode(abi::Device device, abi::EnableState mode) {
  GPUOP_CHANGE_DEVICE(__func__, device);
  if (static_cast<unsigned>(mode) > 1) return Return::kInvalidArgument;
  call.device().persistence = static_cast<std::uint32_t>(mode);
  return Return::kSuccess;
}

Return nvmlDeviceGetComputeMode(abi::Device device, abi::ComputeMode* mode) {
  return Number(__func__, device, Needs::kWorking, mode, [](const Call& call) { return call.device().compute_mode; });
}

Return nvmlDeviceSetComputeMode(abi::Device device, abi::ComputeMode mode) {
  GPUOP_CHANGE_DEVICE(__func__, device);
  if (static_cast<unsigned>(mode) > 3 || mode == abi::ComputeMode::kExclusiveThread) return Return::kInvalidArgument;
  call.device().compute_mode = static_cast<std::uint32_t>(mode);
  return Return::kSuccess;
}

Return nvmlDeviceGetDisplayMode(abi::Device device, abi::EnableState* display) {
  return Number(__func__, device, Needs::kWorking, display,
                [](const Call& call) { return call.facts().display_capable; });
}

Return nvmlDeviceGetDisplayActive(abi::Device device, abi::EnableState* active) {
  return Number(__func__, device, Needs::kWorking, active, [](const Call&) { return 0; });
}

Return nvmlDeviceGetVirtualizationMode(abi::Device device, abi::GpuVirtualizationMode* mode) {
  return Number(__func__, device, Needs::kWorking, mode, [](const Call&) { return abi::GpuVirtualizationMode::kNone; });
}

Return nvmlDeviceGetDriverModel(abi::Device, abi::DriverModel*, abi::DriverModel*) { return Return::kNotSupported; }
Return nvmlDeviceGetDriverModel_v2(abi::Device, abi::DriverModel*, abi::DriverModel*) { return Return::kNotSupported; }

}  // extern "C"
