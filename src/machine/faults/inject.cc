#include <algorithm>
#include <array>

#include "base/check.h"
#include "machine/faults/fault.h"
#include "machine/state/life.h"
#include "machine/state/state.h"

namespace gpuop::machine {
namespace {

/// nvmlMemoryLocation_t: device memory.
constexpr std::size_t kDram = 2;
constexpr std::uint64_t kHwSlowdown = 0x8, kSwThermal = 0x20, kHwThermal = 0x40, kPowerBrake = 0x80;
/// CUDA_ERROR_ECC_UNCORRECTABLE and CUDA_ERROR_ILLEGAL_ADDRESS.
constexpr std::uint32_t kCudaEcc = 214;

/// Faults that are nothing but a flag.
struct FlagOf {
  std::string_view name;
  std::uint32_t bit;
};
constexpr std::array kMachineFlags = std::to_array<FlagOf>({
    {"driver-missing", layout::kFaultDriverMissing},
    {"fabric-not-ready", layout::kFaultFabric},
    {"hang", layout::kFaultHang},
    {"module-missing", layout::kFaultModuleMissing},
    {"module-vermagic", layout::kFaultModuleVermagic},
    {"no-permission", layout::kFaultNoPermission},
    {"uvm-missing", layout::kFaultUvmMissing},
    {"version-mismatch", layout::kFaultVersionMismatch},
});
constexpr std::array kDeviceFlags = std::to_array<FlagOf>({
    {"contexts-dead", layout::kFaultContexts},
    {"device-node-missing", layout::kFaultNodeMissing},
    {"gpu-lost", layout::kFaultLost},
    {"kernel-hang", layout::kFaultKernelHang},
    {"mig-busy", layout::kFaultMigBusy},
    {"needs-reset", layout::kFaultNeedsReset},
    {"off-bus", layout::kFaultOffBus},
    {"power-brake", layout::kFaultPowerBrake},
    {"power-cable", layout::kFaultPowerCable},
    {"thermal", layout::kFaultThermal},
    {"wrong-result", layout::kFaultWrongResult},
});

template <std::size_t N>
std::uint32_t BitOf(const std::array<FlagOf, N>& flags, std::string_view name) {
  const auto it = std::ranges::find(flags, name, &FlagOf::name);
  return it == flags.end() ? 0 : it->bit;
}

void Xid(layout::Machine& machine, std::uint32_t device, std::uint32_t xid) {
  machine.devices[device].last_xid = xid;
  PushEvent(machine, {.kind = layout::kEventXid, .data = xid, .device = device});
}

void NeedsAction(layout::Machine& machine, std::uint32_t device, std::uint32_t action) {
  std::uint32_t& now = machine.devices[device].recovery_action;
  if (now >= action) return;
  now = action;
  PushEvent(machine, {.kind = layout::kEventRecoveryAction, .data = action, .device = device});
}

void CountEcc(layout::Machine& machine, std::uint32_t device, bool corrected, std::uint64_t count) {
  layout::EccCounts& ecc = machine.devices[device].ecc;
  for (auto& counts : corrected ? ecc.corrected : ecc.uncorrected) counts[kDram] += count;
  PushEvent(machine, {.kind = corrected ? layout::kEventEccSingle : layout::kEventEccDouble, .device = device});
}

void KillContexts(layout::Machine& machine, std::uint32_t device, std::uint32_t cuda_error) {
  for (layout::Client& client : machine.clients)
    if (client.in_use != 0 && client.device == device) client.dead = cuda_error;
}

/// What comes with a device's flag being set.
void Consequences(layout::Machine& machine, std::uint32_t index, std::uint32_t bit, std::optional<std::int64_t> value) {
  layout::Device& device = machine.devices[index];
  switch (bit) {
    case layout::kFaultContexts:
      CountEcc(machine, index, false, 1);
      KillContexts(machine, index, kCudaEcc);
      Xid(machine, index, 95);
      NeedsAction(machine, index, 1);
      break;
    case layout::kFaultLost:
      Xid(machine, index, 119);
      PushEvent(machine, {.kind = layout::kEventUnavailable, .device = index});
      NeedsAction(machine, index, 1);
      break;
    case layout::kFaultOffBus:
      Xid(machine, index, 79);
      PushEvent(machine, {.kind = layout::kEventUnavailable, .device = index});
      NeedsAction(machine, index, 2);
      break;
    case layout::kFaultNeedsReset: NeedsAction(machine, index, 1); break;
    case layout::kFaultPowerCable: Xid(machine, index, 54); break;
    case layout::kFaultPowerBrake:
      device.clock_reasons |= kPowerBrake | kHwSlowdown;
      PushEvent(machine, {.kind = layout::kEventClock, .device = index});
      break;
    case layout::kFaultThermal:
      device.temperature_c = value ? static_cast<std::uint32_t>(*value) : device.facts.slowdown_c + 3;
      if (device.facts.memory_max_c != 0) device.memory_temperature_c = device.temperature_c + 5;
      if (device.temperature_c >= device.facts.slowdown_c)
        device.clock_reasons |= kHwThermal | kHwSlowdown | kSwThermal;
      PushEvent(machine, {.kind = layout::kEventClock, .device = index});
      break;
    default: break;
  }
}

/// Kinds that are more, or other, than a flag.
void InjectOther(layout::Machine& machine, const Fault& fault) {
  const std::uint32_t index = fault.gpu.value_or(0);
  layout::Device& device = machine.devices[index];
  const auto value = static_cast<std::uint64_t>(fault.value.value_or(1));
  if (fault.fault == "xid") {
    Xid(machine, index, static_cast<std::uint32_t>(value));
  } else if (fault.fault == "ecc-corrected") {
    CountEcc(machine, index, true, value);
  } else if (fault.fault == "ecc-uncorrected") {
    CountEcc(machine, index, false, value);
    KillContexts(machine, index, kCudaEcc);
    Xid(machine, index, 48);
    NeedsAction(machine, index, 1);
  } else if (fault.fault == "row-remap-pending") {
    device.remap_pending = 1;
    ++device.remapped_uncorrectable;
    if (device.remap_banks[0] > 0) --device.remap_banks[0], ++device.remap_banks[1];
    Xid(machine, index, 63);
    NeedsAction(machine, index, 1);
  } else if (fault.fault == "row-remap-failed") {
    device.remap_failed = 1;
    if (device.remap_banks[0] > 0) --device.remap_banks[0], ++device.remap_banks[4];
    Xid(machine, index, 64);
  } else if (fault.fault == "nvlink-down") {
    device.links[value].up = 0;
    Xid(machine, index, 74);
  } else if (fault.fault == "pcie-degraded") {
    device.pcie_width = static_cast<std::uint32_t>(value);
  } else if (fault.fault == "engine-restart") {
    ++machine.engine_starts;
  } else if (fault.fault == "reboot" || fault.fault == "power-loss") {
    Reboot(machine);
  }
}

/// The fabric manager's registration of all devices that have one.
void SetFabric(layout::Machine& machine, layout::FabricState state) {
  for (std::uint32_t i = 0; i < machine.device_count; ++i)
    if (machine.devices[i].facts.fabric_supported != 0) machine.devices[i].fabric_state = state;
}

/// Whether the fault can be on this device; the reason it cannot.
std::string Impossible(const layout::Machine& machine, const Fault& fault) {
  if (!fault.gpu) return {};
  const layout::DeviceFacts& facts = machine.devices[*fault.gpu].facts;
  if (fault.fault == "nvlink-down" && static_cast<std::uint64_t>(*fault.value) >= facts.nvlinks)
    return "value: the GPU has " + std::to_string(facts.nvlinks) + " NVLinks";
  if (fault.fault.starts_with("row-remap") && facts.row_remapping == 0) return "fault: the GPU does not remap rows";
  if (fault.fault.starts_with("ecc") && facts.ecc_supported == 0) return "fault: the GPU has no ECC";
  if (fault.fault == "mig-busy" && facts.mig_model.empty()) return "fault: the GPU has no MIG";
  if (fault.fault == "pcie-degraded" && static_cast<std::uint64_t>(*fault.value) > facts.pcie_width)
    return "value: the GPU has " + std::to_string(facts.pcie_width) + " lanes";
  return {};
}

}  // namespace

Result<> Inject(layout::Machine& machine, const Fault& fault) {
  TRY(Check(fault, machine.device_count));
  if (std::string why = Impossible(machine, fault); !why.empty()) return Fail(Code::kInvalid, std::move(why));
  if (const std::uint32_t bit = BitOf(kMachineFlags, fault.fault); bit != 0) {
    machine.faults |= bit;
    if (bit == layout::kFaultHang) machine.hang_call.Set(fault.call);
    if (bit == layout::kFaultFabric) SetFabric(machine, layout::kFabricInProgress);
  } else if (const std::uint32_t device_bit = BitOf(kDeviceFlags, fault.fault); device_bit != 0) {
    machine.devices[*fault.gpu].faults |= device_bit;
    Consequences(machine, *fault.gpu, device_bit, fault.value);
  } else {
    InjectOther(machine, fault);
  }
  return {};
}

Result<> Clear(layout::Machine& machine, const Fault& fault) {
  const FaultKind* kind = FindFaultKind(fault.fault);
  if (kind == nullptr) return Check(fault, machine.device_count);
  if (kind->event)
    return Fail(Code::kInvalid, "fault: " + fault.fault + " is over as it happens; there is nothing to clear");
  if (kind->scope == FaultScope::kGpu && (!fault.gpu || *fault.gpu >= machine.device_count))
    return Fail(Code::kInvalid, "gpu: expected 0 to " + std::to_string(machine.device_count - 1));
  if (const std::uint32_t bit = BitOf(kMachineFlags, fault.fault); bit != 0) {
    machine.faults &= ~bit;
    if (bit == layout::kFaultHang) machine.hang_call.Set("");
    if (bit == layout::kFaultFabric) SetFabric(machine, layout::kFabricCompleted);
    return {};
  }
  layout::Device& device = machine.devices[*fault.gpu];
  device.faults &= ~BitOf(kDeviceFlags, fault.fault);
  if (fault.fault == "nvlink-down") {
    for (std::uint32_t i = 0; i < device.facts.nvlinks; ++i)
      if (!fault.value || *fault.value == i) device.links[i].up = 1;
  }
  if (fault.fault == "pcie-degraded") device.pcie_width = device.facts.pcie_width;
  if (fault.fault == "row-remap-pending") device.remap_pending = 0;
  if (fault.fault == "row-remap-failed") device.remap_failed = 0;
  if (device.faults == 0 && device.remap_pending == 0) device.recovery_action = 0;
  if (fault.fault == "thermal" || fault.fault == "power-brake") Settle(machine, *fault.gpu);
  return {};
}

std::vector<Fault> Standing(const layout::Machine& machine) {
  std::vector<Fault> out;
  for (const FlagOf& flag : kMachineFlags)
    if ((machine.faults & flag.bit) != 0)
      out.push_back({.fault = std::string(flag.name),
                     .call = std::string(flag.bit == layout::kFaultHang ? machine.hang_call.view() : "")});
  for (std::uint32_t i = 0; i < machine.device_count; ++i) {
    const layout::Device& device = machine.devices[i];
    const auto add = [&](std::string_view name, std::optional<std::int64_t> value = {}) {
      out.push_back({.fault = std::string(name), .gpu = i, .value = value});
    };
    for (const FlagOf& flag : kDeviceFlags)
      if ((device.faults & flag.bit) != 0)
        add(flag.name,
            flag.bit == layout::kFaultThermal ? std::optional<std::int64_t>(device.temperature_c) : std::nullopt);
    for (std::uint32_t link = 0; link < device.facts.nvlinks; ++link)
      if (device.links[link].up == 0) add("nvlink-down", link);
    if (device.pcie_width != device.facts.pcie_width) add("pcie-degraded", device.pcie_width);
    if (device.remap_pending != 0) add("row-remap-pending");
    if (device.remap_failed != 0) add("row-remap-failed");
  }
  return out;
}

}  // namespace gpuop::machine
