// PCI and PCIe, and how GPUs are placed to each other.

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "machine/nvml/library.h"
#include "machine/nvml/names.h"

using namespace gpuop::machine::nvml;
namespace layout = gpuop::machine::layout;

namespace {

Return Number(const char* name, abi::Device device, unsigned* out, auto of) {
  if (out == nullptr) return Return::kInvalidArgument;
  const Call call(name, device, Needs::kWorking);
  if (call.ok()) *out = of(call);
  return call.error();
}

/// GT/s of a PCIe generation, in MT/s.
unsigned Speed(unsigned generation) { return generation <= 2 ? 2500 * generation : 8000U << (generation - 3); }

abi::GpuTopologyLevel Level(const layout::Machine& machine, const layout::DeviceFacts& a,
                            const layout::DeviceFacts& b) {
  using enum abi::GpuTopologyLevel;
  if (&a == &b) return kInternal;
  if (a.pci_domain == b.pci_domain && a.board_id == b.board_id) return kInternal;
  if (a.numa_node != b.numa_node) return kSystem;
  return machine.numa_nodes <= 1 ? kHostbridge : kNode;
}

/// The other device of a call on two; null when its handle is none.
const layout::Device* Other(const Call& call, abi::Device handle) {
  const auto place = PlaceOf(handle);
  return place && place->whole() && place->device < call.machine().device_count ? &call.machine().devices[place->device]
                                                                                : nullptr;
}

bool Linked(const layout::Machine& machine, const layout::Device& a, const layout::Device& b) {
  if (a.facts.nvlinks == 0 || b.facts.nvlinks == 0) return false;
  const auto up = [](const layout::Device& device) {
    return std::any_of(device.links.begin(), device.links.begin() + device.facts.nvlinks,
                       [](const layout::Link& link) { return link.up != 0; });
  };
  if (a.facts.nvlink_to_switch != 0) return b.facts.nvlink_to_switch != 0 && up(a) && up(b);
  const auto index = static_cast<std::uint8_t>(&b - machine.devices.data());
  for (std::uint32_t i = 0; i < a.facts.nvlinks; ++i)
    if (a.facts.nvlink_peer[i] == index && a.links[i].up != 0) return true;
  return false;
}

}  // namespace

extern "C" {

Return nvmlDeviceGetPciInfo_v3(abi::Device device, abi::PciInfo* pci) {
  GPUOP_NOT_NULL(pci);
  GPUOP_ON_DEVICE(__func__, device, kIdentity);
  *pci = PciInfoOf(call.facts());
  return Return::kSuccess;
}
Return nvmlDeviceGetPciInfo_v2(abi::Device device, abi::PciInfo* pci) { return nvmlDeviceGetPciInfo_v3(device, pci); }
Return nvmlDeviceGetPciInfo(abi::Device device, abi::PciInfo* pci) { return nvmlDeviceGetPciInfo_v3(device, pci); }

Return nvmlDeviceGetPciInfoExt(abi::Device device, abi::PciInfoExtV1* pci) {
  GPUOP_NOT_NULL(pci);
  GPUOP_ON_DEVICE(__func__, device, kIdentity);
  if (pci->version != abi::kVersionOfPciInfoExtV1) return Return::kArgumentVersionMismatch;
  const abi::PciInfo info = PciInfoOf(call.facts());
  pci->domain = info.domain;
  pci->bus = info.bus;
  pci->device = info.device;
  pci->pciDeviceId = info.pciDeviceId;
  pci->pciSubSystemId = info.pciSubSystemId;
  pci->baseClass = 3;
  pci->subClass = call.facts().display_capable != 0 ? 0 : 2;
  std::memcpy(pci->busId, info.busId, sizeof pci->busId);
  return Return::kSuccess;
}

Return nvmlDeviceGetMaxPcieLinkGeneration(abi::Device device, unsigned* generation) {
  return Number(__func__, device, generation, [](const Call& call) { return call.facts().pcie_gen; });
}
Return nvmlDeviceGetGpuMaxPcieLinkGeneration(abi::Device device, unsigned* generation) {
  return Number(__func__, device, generation, [](const Call& call) { return call.facts().pcie_gen; });
}
Return nvmlDeviceGetMaxPcieLinkWidth(abi::Device device, unsigned* width) {
  return Number(__func__, device, width, [](const Call& call) { return call.facts().pcie_width; });
}
Return nvmlDeviceGetCurrPcieLinkGeneration(abi::Device device, unsigned* generation) {
  return Number(__func__, device, generation, [](const Call& call) { return call.device().pcie_gen; });
}
Return nvmlDeviceGetCurrPcieLinkWidth(abi::Device device, unsigned* width) {
  return Number(__func__, device, width, [](const Call& call) { return call.device().pcie_width; });
}
Return nvmlDeviceGetPcieReplayCounter(abi::Device device, unsigned* count) {
  return Number(__func__, device, count,
                [](const Call& call) { return static_cast<unsigned>(call.device().pcie_replays); });
}
Return nvmlDeviceGetPcieLinkMaxSpeed(abi::Device device, unsigned* speed) {
  return Number(__func__, device, speed, [](const Call& call) { return call.facts().pcie_gen; });
}
Return nvmlDeviceGetPcieSpeed(abi::Device device, unsigned* speed) {
  return Number(__func__, device, speed, [](const Call& call) { return Speed(call.device().pcie_gen); });
}
Return nvmlDeviceGetPcieThroughput(abi::Device device, abi::PcieUtilCounter counter, unsigned* kb_per_second) {
  if (static_cast<unsigned>(counter) > 1) return Return::kInvalidArgument;
  return Number(__func__, device, kb_per_second, [counter](const Call& call) {
    const auto& now = call.device();
    return static_cast<unsigned>(counter == abi::PcieUtilCounter::kTxBytes ? now.pcie_tx_kb_s : now.pcie_rx_kb_s);
  });
}

Return nvmlDeviceGetTopologyCommonAncestor(abi::Device one, abi::Device two, abi::GpuTopologyLevel* level) {
  GPUOP_NOT_NULL(level);
  GPUOP_ON_DEVICE(__func__, one, kWorking);
  const layout::Device* other = Other(call, two);
  if (other == nullptr) return Return::kInvalidArgument;
  *level = Level(call.machine(), call.facts(), other->facts);
  return Return::kSuccess;
}

Return nvmlDeviceGetTopologyNearestGpus(abi::Device device, abi::GpuTopologyLevel level, unsigned* count,
                                        abi::Device* devices) {
  GPUOP_NOT_NULL(count);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  unsigned found = 0;
  for (const std::uint32_t index : call.library().visible) {
    const auto& facts = call.machine().devices[index].facts;
    if (index == call.place().device || Level(call.machine(), call.facts(), facts) != level) continue;
    if (devices != nullptr && found < *count) devices[found] = DeviceHandleOf({.device = index});
    ++found;
  }
  *count = devices == nullptr ? found : std::min(found, *count);
  return Return::kSuccess;
}

Return nvmlSystemGetTopologyGpuSet(unsigned cpu, unsigned* count, abi::Device* devices) {
  GPUOP_NOT_NULL(count);
  const Call call(__func__);
  if (!call.ok()) return call.error();
  if (cpu >= 256) return Return::kInvalidArgument;
  unsigned found = 0;
  for (const std::uint32_t index : call.library().visible) {
    if ((call.machine().devices[index].facts.cpus[cpu / 64] >> cpu % 64 & 1) == 0) continue;
    if (devices != nullptr && found < *count) devices[found] = DeviceHandleOf({.device = index});
    ++found;
  }
  *count = devices == nullptr ? found : std::min(found, *count);
  return Return::kSuccess;
}

Return nvmlDeviceGetP2PStatus(abi::Device one, abi::Device two, abi::GpuP2PCapsIndex index, abi::GpuP2PStatus* status) {
  GPUOP_NOT_NULL(status);
  GPUOP_ON_DEVICE(__func__, one, kWorking);
  const layout::Device* other = Other(call, two);
  if (other == nullptr || static_cast<unsigned>(index) > 4) return Return::kInvalidArgument;
  const bool linked = Linked(call.machine(), call.device(), *other);
  const bool over_links = index == abi::GpuP2PCapsIndex::kNvlink || index == abi::GpuP2PCapsIndex::kAtomics;
  *status = linked || !over_links ? abi::GpuP2PStatus::kOk : abi::GpuP2PStatus::kNotSupported;
  return Return::kSuccess;
}

Return nvmlDeviceModifyDrainState(abi::PciInfo* pci, abi::EnableState) {
  GPUOP_NOT_NULL(pci);
  const Call call(__func__);
  return call.ok() ? Return::kNotSupported : call.error();
}
Return nvmlDeviceQueryDrainState(abi::PciInfo* pci, abi::EnableState* state) {
  GPUOP_NOT_NULL(pci, state);
  const Call call(__func__);
  if (call.ok()) *state = abi::EnableState::kDisabled;
  return call.error();
}
Return nvmlDeviceRemoveGpu(abi::PciInfo* pci) {
  GPUOP_NOT_NULL(pci);
  const Call call(__func__);
  return call.ok() ? Return::kNotSupported : call.error();
}
Return nvmlDeviceRemoveGpu_v2(abi::PciInfo* pci, abi::DetachGpuState, abi::PcieLinkState) {
  return nvmlDeviceRemoveGpu(pci);
}

}  // extern "C"
