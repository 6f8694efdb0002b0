// Clocks, power and heat.

#include <algorithm>

#include "machine/nvml/library.h"
#include "machine/state/life.h"

using namespace gpuop::machine::nvml;
namespace layout = gpuop::machine::layout;

namespace {

constexpr std::uint64_t kSettableReason = abi::kClocksEventReasonApplicationsClocksSetting;

Return Clock(const char* name, abi::Device device, abi::ClockType type, unsigned* mhz, auto of) {
  if (mhz == nullptr || static_cast<unsigned>(type) >= layout::kClocks) return Return::kInvalidArgument;
  const Call call(name, device, Needs::kWorking);
  if (call.ok()) *mhz = of(call)[static_cast<std::size_t>(type)];
  return call.error();
}

template <class T>
Return Number(const char* name, abi::Device device, T* out, auto of) {
  if (out == nullptr) return Return::kInvalidArgument;
  const Call call(name, device, Needs::kWorking);
  if (call.ok()) *out = static_cast<T>(of(call));
  return call.error();
}

/// A GPU whose limit cannot be set has no power management.
bool HasLimit(const Call& call) { return call.facts().power_max_mw != 0; }

Return Limit(const char* name, abi::Device device, unsigned* limit, auto of) {
  if (limit == nullptr) return Return::kInvalidArgument;
  const Call call(name, device, Needs::kWorking);
  if (!call.ok()) return call.error();
  if (!HasLimit(call)) return Return::kNotSupported;
  *limit = of(call);
  return Return::kSuccess;
}

void Resettle(const Call& call) { gpuop::machine::Settle(call.machine(), call.place().device); }

/// The steps from the lowest to the highest clock, highest first, as the hardware has them: 15 MHz apart.
Return Steps(unsigned low, unsigned high, unsigned* count, unsigned* mhz) {
  const unsigned steps = high < low ? 1 : (high - low) / 15 + 1;
  const unsigned room = *count;
  *count = steps;
  if (room < steps || mhz == nullptr) return Return::kInsufficientSize;
  for (unsigned i = 0; i < steps; ++i) mhz[i] = high - i * 15;
  return Return::kSuccess;
}

}  // namespace

extern "C" {

Return nvmlDeviceGetClockInfo(abi::Device device, abi::ClockType type, unsigned* mhz) {
  return Clock(__func__, device, type, mhz, [](const Call& call) { return call.device().clock_mhz; });
}
Return nvmlDeviceGetMaxClockInfo(abi::Device device, abi::ClockType type, unsigned* mhz) {
  return Clock(__func__, device, type, mhz, [](const Call& call) { return call.facts().max_clock_mhz; });
}
Return nvmlDeviceGetApplicationsClock(abi::Device device, abi::ClockType type, unsigned* mhz) {
  return Clock(__func__, device, type, mhz, [](const Call& call) {
    auto clocks = call.facts().max_clock_mhz;
    if (call.device().locked_graphics_mhz[1] != 0) clocks[0] = clocks[1] = call.device().locked_graphics_mhz[1];
    return clocks;
  });
}
Return nvmlDeviceGetDefaultApplicationsClock(abi::Device device, abi::ClockType type, unsigned* mhz) {
  return Clock(__func__, device, type, mhz, [](const Call& call) { return call.facts().max_clock_mhz; });
}
Return nvmlDeviceGetMaxCustomerBoostClock(abi::Device device, abi::ClockType type, unsigned* mhz) {
  return Clock(__func__, device, type, mhz, [](const Call& call) { return call.facts().max_clock_mhz; });
}
Return nvmlDeviceGetClock(abi::Device device, abi::ClockType type, abi::ClockId id, unsigned* mhz) {
  if (id == abi::ClockId::kCurrent) return nvmlDeviceGetClockInfo(device, type, mhz);
  if (id == abi::ClockId::kAppClockTarget) return nvmlDeviceGetApplicationsClock(device, type, mhz);
  if (id == abi::ClockId::kAppClockDefault) return nvmlDeviceGetDefaultApplicationsClock(device, type, mhz);
  return Return::kInvalidArgument;
}

Return nvmlDeviceGetSupportedMemoryClocks(abi::Device device, unsigned* count, unsigned* mhz) {
  GPUOP_NOT_NULL(count);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  const unsigned high = call.facts().max_clock_mhz[layout::kClockMemory];
  const unsigned low = call.facts().idle_clock_mhz[layout::kClockMemory];
  const unsigned steps = low == high ? 1 : 2, room = *count;
  *count = steps;
  if (room < steps || mhz == nullptr) return Return::kInsufficientSize;
  mhz[0] = high;
  if (steps == 2) mhz[1] = low;
  return Return::kSuccess;
}

Return nvmlDeviceGetSupportedGraphicsClocks(abi::Device device, unsigned memory_mhz, unsigned* count, unsigned* mhz) {
  GPUOP_NOT_NULL(count);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (memory_mhz != call.facts().max_clock_mhz[layout::kClockMemory] &&
      memory_mhz != call.facts().idle_clock_mhz[layout::kClockMemory])
    return Return::kNotFound;
  return Steps(call.facts().idle_clock_mhz[layout::kClockGraphics], call.facts().max_clock_mhz[layout::kClockGraphics],
               count, mhz);
}

Return nvmlDeviceSetGpuLockedClocks(abi::Device device, unsigned low, unsigned high) {
  GPUOP_CHANGE_DEVICE(__func__, device);
  if (low > high || high == 0) return Return::kInvalidArgument;
  call.device().locked_graphics_mhz = {low, std::min(high, call.facts().max_clock_mhz[layout::kClockGraphics])};
  call.device().clock_reasons |= kSettableReason;
  Resettle(call);
  return Return::kSuccess;
}
Return nvmlDeviceResetGpuLockedClocks(abi::Device device) {
  GPUOP_CHANGE_DEVICE(__func__, device);
  call.device().locked_graphics_mhz = {};
  call.device().clock_reasons &= ~kSettableReason;
  Resettle(call);
  return Return::kSuccess;
}
Return nvmlDeviceSetMemoryLockedClocks(abi::Device device, unsigned low, unsigned high) {
  GPUOP_CHANGE_DEVICE(__func__, device);
  if (low > high || high == 0) return Return::kInvalidArgument;
  call.device().locked_memory_mhz = {low, std::min(high, call.facts().max_clock_mhz[layout::kClockMemory])};
  Resettle(call);
  return Return::kSuccess;
}
Return nvmlDeviceResetMemoryLockedClocks(abi::Device device) {
  GPUOP_CHANGE_DEVICE(__func__, device);
  call.device().locked_memory_mhz = {};
  Resettle(call);
  return Return::kSuccess;
}
Return nvmlDeviceSetApplicationsClocks(abi::Device device, unsigned memory_mhz, unsigned graphics_mhz) {
  {
    GPUOP_CHANGE_DEVICE(__func__, device);
    if (memory_mhz > call.facts().max_clock_mhz[layout::kClockMemory] ||
        graphics_mhz > call.facts().max_clock_mhz[layout::kClockGraphics])
      return Return::kInvalidArgument;
  }
  return nvmlDeviceSetGpuLockedClocks(device, graphics_mhz, graphics_mhz);
}
Return nvmlDeviceResetApplicationsClocks(abi::Device device) { return nvmlDeviceResetGpuLockedClocks(device); }

Return nvmlDeviceGetPerformanceState(abi::Device device, abi::Pstates* state) {
  return Number(__func__, device, state, [](const Call& call) { return call.device().pstate; });
}
Return nvmlDeviceGetPowerState(abi::Device device, abi::Pstates* state) {
  return nvmlDeviceGetPerformanceState(device, state);
}
Return nvmlDeviceGetCurrentClocksEventReasons(abi::Device device, unsigned long long* reasons) {
  return Number(__func__, device, reasons, [](const Call& call) { return call.device().clock_reasons; });
}
Return nvmlDeviceGetCurrentClocksThrottleReasons(abi::Device device, unsigned long long* reasons) {
  return nvmlDeviceGetCurrentClocksEventReasons(device, reasons);
}
Return nvmlDeviceGetSupportedClocksEventReasons(abi::Device device, unsigned long long* reasons) {
  return Number(__func__, device, reasons, [](const Call&) { return 0x1ffULL; });
}
Return nvmlDeviceGetSupportedClocksThrottleReasons(abi::Device device, unsigned long long* reasons) {
  return nvmlDeviceGetSupportedClocksEventReasons(device, reasons);
}

Return nvmlDeviceGetTemperature(abi::Device device, abi::TemperatureSensors sensor, unsigned* celsius) {
  if (sensor != abi::TemperatureSensors::kGpu) return Return::kInvalidArgument;
  return Number(__func__, device, celsius, [](const Call& call) { return call.device().temperature_c; });
}
Return nvmlDeviceGetTemperatureV(abi::Device device, abi::TemperatureV1* temperature) {
  GPUOP_NOT_NULL(temperature);
  if (temperature->version != abi::kVersionOfTemperatureV1) return Return::kArgumentVersionMismatch;
  if (temperature->sensorType != abi::TemperatureSensors::kGpu) return Return::kInvalidArgument;
  return Number(__func__, device, &temperature->temperature,
                [](const Call& call) { return call.device().temperature_c; });
}
Return nvmlDeviceGetTemperatureThreshold(abi::Device device, abi::TemperatureThresholds threshold, unsigned* celsius) {
  GPUOP_NOT_NULL(celsius);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  std::uint32_t limit = 0;
  switch (static_cast<unsigned>(threshold)) {
    case 0: limit = call.facts().shutdown_c; break;
    case 1: limit = call.facts().slowdown_c; break;
    case 2: limit = call.facts().memory_max_c; break;
    case 3: limit = call.facts().max_operating_c; break;
    default: return static_cast<unsigned>(threshold) < 8 ? Return::kNotSupported : Return::kInvalidArgument;
  }
  if (limit == 0) return Return::kNotSupported;
  *celsius = limit;
  return Return::kSuccess;
}

Return nvmlDeviceGetNumFans(abi::Device device, unsigned* fans) {
  return Number(__func__, device, fans, [](const Call& call) { return call.facts().fans; });
}
Return nvmlDeviceGetFanSpeed(abi::Device device, unsigned* percent) {
  return nvmlDeviceGetFanSpeed_v2(device, 0, percent);
}
Return nvmlDeviceGetFanSpeed_v2(abi::Device device, unsigned fan, unsigned* percent) {
  GPUOP_NOT_NULL(percent);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (call.facts().fans == 0) return Return::kNotSupported;
  if (fan >= call.facts().fans) return Return::kInvalidArgument;
  *percent = call.device().fan_percent;
  return Return::kSuccess;
}

Return nvmlDeviceGetPowerManagementMode(abi::Device device, abi::EnableState* mode) {
  return Number(__func__, device, mode, [](const Call& call) { return HasLimit(call) ? 1 : 0; });
}
Return nvmlDeviceGetPowerManagementLimit(abi::Device device, unsigned* limit) {
  return Limit(__func__, device, limit, [](const Call& call) { return call.device().power_limit_mw; });
}
Return nvmlDeviceGetEnforcedPowerLimit(abi::Device device, unsigned* limit) {
  return Limit(__func__, device, limit, [](const Call& call) { return call.device().power_limit_mw; });
}
Return nvmlDeviceGetPowerManagementDefaultLimit(abi::Device device, unsigned* limit) {
  return Limit(__func__, device, limit, [](const Call& call) { return call.facts().power_default_mw; });
}
Return nvmlDeviceGetPowerManagementLimitConstraints(abi::Device device, unsigned* low, unsigned* high) {
  GPUOP_NOT_NULL(low, high);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (!HasLimit(call)) return Return::kNotSupported;
  *low = call.facts().power_min_mw;
  *high = call.facts().power_max_mw;
  return Return::kSuccess;
}
Return nvmlDeviceSetPowerManagementLimit(abi::Device device, unsigned limit) {
  GPUOP_CHANGE_DEVICE(__func__, device);
  if (!HasLimit(call)) return Return::kNotSupported;
  if (limit < call.facts().power_min_mw || limit > call.facts().power_max_mw) return Return::kInvalidArgument;
  call.device().power_limit_mw = limit;
  Resettle(call);
  return Return::kSuccess;
}
Return nvmlDeviceSetPowerManagementLimit_v2(abi::Device device, abi::PowerValueV2* value) {
  GPUOP_NOT_NULL(value);
  if (value->version != abi::VersionOf<abi::PowerValueV2>(2)) return Return::kArgumentVersionMismatch;
  if (value->powerScope != abi::kPowerScopeGpu) return Return::kNotSupported;
  return nvmlDeviceSetPowerManagementLimit(device, value->powerValueMw);
}
Return nvmlDeviceGetPowerUsage(abi::Device device, unsigned* milliwatts) {
  return Number(__func__, device, milliwatts, [](const Call& call) { return call.device().power_mw; });
}
Return nvmlDeviceGetTotalEnergyConsumption(abi::Device device, unsigned long long* millijoules) {
  GPUOP_NOT_NULL(millijoules);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  if (!HasLimit(call)) return Return::kNotSupported;
  *millijoules = gpuop::machine::EnergyMillijoules(call.device());
  return Return::kSuccess;
}
Return nvmlDeviceGetPowerSource(abi::Device device, unsigned* source) {
  return Number(__func__, device, source, [](const Call&) { return abi::kPowerSourceAc; });
}
Return nvmlDeviceGetViolationStatus(abi::Device device, abi::PerfPolicyType policy, abi::ViolationTime* time) {
  GPUOP_NOT_NULL(time);
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  const auto kind = static_cast<unsigned>(policy);
  if (kind > 5 && kind != 10 && kind != 11) return Return::kInvalidArgument;
  time->referenceTime = gpuop::machine::RealtimeNs() / 1000;
  time->violationTime = policy == abi::PerfPolicyType::kPower     ? call.device().violation_power_ns
                        : policy == abi::PerfPolicyType::kThermal ? call.device().violation_thermal_ns
                                                                  : 0;
  return Return::kSuccess;
}

}  // extern "C"
