#include "machine/state/life.h"

#include <algorithm>

#include "base/text.h"
#include "machine/state/clients.h"
#include "machine/state/mig.h"

namespace gpuop::machine {
namespace {

/// Faults that end when the GPU is reset, and those that only a power cycle ends. The rest is broken hardware.
constexpr std::uint32_t kCuredByReset =
    layout::kFaultLost | layout::kFaultNeedsReset | layout::kFaultKernelHang | layout::kFaultContexts;
constexpr std::uint32_t kCuredByReboot = kCuredByReset | layout::kFaultOffBus | layout::kFaultMigBusy;

/// What every start does, whatever caused it.
void Restart(layout::Device& device, std::uint32_t cured) {
  device.faults &= ~cured;
  ++device.generation;
  device.last_xid = 0;
  device.mig_current = device.mig_pending;
  device.ecc_current = device.ecc_pending;
  device.instances = {};
  device.ecc.corrected[0] = {};
  device.ecc.uncorrected[0] = {};
  device.remap_pending = 0;
  device.retired_pending = 0;
  device.pcie_replays = 0;
  device.recovery_action = 0;
  device.locked_graphics_mhz = {};
  device.locked_memory_mhz = {};
  device.violation_power_ns = device.violation_thermal_ns = 0;
  for (layout::Link& link : device.links) {
    const layout::Flag up = link.up;
    link = {};
    link.up = up;
  }
  Idle(device);
}

}  // namespace

namespace {

constexpr std::uint64_t kReasonIdle = 1, kReasonHwSlowdown = 8, kReasonThermal = 0x60, kReasonPowerBrake = 0x80;

/// A small difference between neighbours; the same GPU always has the same.
std::uint32_t Own(const layout::Device& device) {
  return static_cast<std::uint32_t>(Hash64(device.facts.uuid.view()) % 1000);
}

void SetHeat(layout::Device& device, std::uint32_t percent) {
  if ((device.faults & layout::kFaultThermal) != 0) return;
  device.temperature_c = 27 + Own(device) % 8 + percent * 40 / 100;
  device.memory_temperature_c = device.facts.memory_max_c == 0 ? 0 : device.temperature_c + 5;
  device.clock_reasons &= ~kReasonThermal;
}

void SetClocks(layout::Device& device, bool busy) {
  device.clock_mhz = busy ? device.facts.max_clock_mhz : device.facts.idle_clock_mhz;
  const bool slow = (device.clock_reasons & kReasonHwSlowdown) != 0;
  for (const auto domain : {layout::kClockGraphics, layout::kClockSm}) {
    std::uint32_t& clock = device.clock_mhz[domain];
    if (const auto& [low, high] = device.locked_graphics_mhz; high != 0) clock = std::clamp(clock, low, high);
    if (busy && slow) clock /= 2;
  }
  if (const auto& [low, high] = device.locked_memory_mhz; high != 0)
    device.clock_mhz[layout::kClockMemory] = std::clamp(device.clock_mhz[layout::kClockMemory], low, high);
}

void SetFigures(layout::Device& device, bool busy, std::uint32_t percent) {
  if ((device.faults & layout::kFaultPowerBrake) == 0) device.clock_reasons &= ~kReasonPowerBrake;
  if ((device.faults & (layout::kFaultPowerBrake | layout::kFaultThermal)) == 0)
    device.clock_reasons &= ~kReasonHwSlowdown;
  device.clock_reasons = busy ? device.clock_reasons & ~kReasonIdle : device.clock_reasons | kReasonIdle;
  device.utilization_gpu = percent;
  device.utilization_memory = percent / 2;
  SetHeat(device, percent);
  SetClocks(device, busy);
  const std::uint32_t idle = device.facts.power_idle_mw + Own(device);
  const std::uint32_t most = std::max(idle, device.power_limit_mw);
  SetPower(device,
           idle + static_cast<std::uint32_t>(std::uint64_t{most - idle} * (busy ? 5 + percent * 9 / 10 : 0) / 100));
  device.pstate = busy || device.facts.memory_max_c != 0 ? 0 : 8;
  device.fan_percent = device.facts.fans == 0 ? 0 : 30 + percent / 2;
}

}  // namespace

void Idle(layout::Device& device) { SetFigures(device, false, 0); }
void Busy(layout::Device& device, std::uint32_t percent) { SetFigures(device, true, std::min(percent, 100U)); }

void Settle(layout::Machine& machine, std::uint32_t device) {
  std::uint32_t percent = 0;
  bool busy = false;
  for (std::uint32_t i = 0; i < machine.clients_end; ++i) {
    const layout::Client& client = machine.clients[i];
    if (client.in_use == 0 || client.device != device) continue;
    busy = true;
    percent += client.utilization;
  }
  busy ? Busy(machine.devices[device], percent) : Idle(machine.devices[device]);
}

Result<> ResetDevice(State& state, layout::Machine& machine, std::uint32_t index) {
  Reclaim(state, machine);
  layout::Device& device = machine.devices[index];
  if (InUse(machine, {.device = index}))
    return Fail(Code::kConflict, "device " + std::to_string(index) + " is in use by a process");
  if ((device.faults & layout::kFaultOffBus) != 0)
    return Fail(Code::kUnavailable, "device " + std::to_string(index) + " fell off the bus; only a power cycle helps");
  Restart(device, kCuredByReset);
  return {};
}

void Reboot(layout::Machine& machine) {
  for (layout::Client& client : machine.clients) client.in_use = 0;
  for (std::uint32_t i = 0; i < machine.device_count; ++i) {
    layout::Device& device = machine.devices[i];
    const gpu::MigModel* mig = MigModelOf(device);
    if (mig != nullptr && !mig->mode_needs_reset) device.mig_pending = 0;
    device.persistence = device.facts.persistence;
    device.compute_mode = 0;
    device.accounting = 0;
    device.power_limit_mw = device.facts.power_default_mw;
    device.energy_mj = 0;
    device.energy_at_ns = BoottimeNs();
    Restart(device, kCuredByReboot);
  }
  ++machine.boots;
  machine.booted_ns = RealtimeNs();
  machine.engine_starts = 1;
}

std::uint64_t EnergyMillijoules(const layout::Device& device) {
  const std::uint64_t now = BoottimeNs();
  const std::uint64_t span = now > device.energy_at_ns ? now - device.energy_at_ns : 0;
  return device.energy_mj + span / 1'000'000 * device.power_mw / 1000;
}

void SetPower(layout::Device& device, std::uint32_t milliwatts) {
  device.energy_mj = EnergyMillijoules(device);
  device.energy_at_ns = BoottimeNs();
  device.power_mw = milliwatts;
}

}  // namespace gpuop::machine
