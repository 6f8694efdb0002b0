// Field values: one way to ask for many figures at once.

#include <chrono>

#include "machine/nvml/library.h"
#include "machine/state/life.h"

namespace gpuop::machine::nvml {
namespace {

using enum abi::FieldId;

/// Sets a value of one type; what NVML says of each field's type.
void Put(abi::FieldValue& out, unsigned value) {
  out.valueType = abi::ValueType::kUnsignedInt;
  out.value.uiVal = value;
}
void Put(abi::FieldValue& out, std::uint64_t value) {
  out.valueType = abi::ValueType::kUnsignedLongLong;
  out.value.ullVal = value;
}
void Put(abi::FieldValue& out, int value) {
  out.valueType = abi::ValueType::kSignedInt;
  out.value.siVal = value;
}

Return Has(bool has, abi::FieldValue& out, auto value) {
  if (!has) return Return::kNotSupported;
  Put(out, value);
  return Return::kSuccess;
}

/// NVML's order of the ECC fields: corrected and uncorrected of each place, volatile (7…) then aggregate (18…).
Return EccField(const layout::Device& device, unsigned field, abi::FieldValue& out) {
  const bool on = device.ecc_current != 0;
  const auto& ecc = device.ecc;
  const auto total = [](const auto& counts) {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts) sum += count;
    return sum;
  };
  switch (field) {
    case kFieldEccCurrent: return Has(device.facts.ecc_supported != 0, out, device.ecc_current);
    case kFieldEccPending: return Has(device.facts.ecc_supported != 0, out, device.ecc_pending);
    case kFieldEccSbeVolTotal: return Has(on, out, total(ecc.corrected[0]));
    case kFieldEccDbeVolTotal: return Has(on, out, total(ecc.uncorrected[0]));
    case kFieldEccSbeAggTotal: return Has(on, out, total(ecc.corrected[1]));
    case kFieldEccDbeAggTotal: return Has(on, out, total(ecc.uncorrected[1]));
    default: break;
  }
  constexpr std::size_t kPlaces[] = {0, 1, 2, 3, 4};
  const bool aggregate = field >= kFieldEccSbeAggL1;
  const unsigned offset = field - (aggregate ? kFieldEccSbeAggL1 : kFieldEccSbeVolL1);
  const auto& counts = offset % 2 == 0 && offset < 10 ? ecc.corrected[aggregate] : ecc.uncorrected[aggregate];
  return Has(on, out, offset >= 10 ? counts[6] : counts[kPlaces[offset / 2]]);
}

Return LinkField(const layout::Device& device, unsigned field, unsigned link, abi::FieldValue& out) {
  const layout::DeviceFacts& facts = device.facts;
  if (facts.nvlinks == 0) return Return::kNotSupported;
  // An unknown link (scope) of a field that sums means all of them.
  const bool one = link < facts.nvlinks;
  const auto sum = [&](auto member) {
    std::uint64_t total = 0;
    for (unsigned i = 0; i < facts.nvlinks; ++i) total += !one || i == link ? device.links[i].*member : 0;
    return total;
  };
  switch (field) {
    case kFieldNvlinkCrcFlitErrorCountTotal: return Has(true, out, sum(&layout::Link::crc_flit));
    case kFieldNvlinkCrcDataErrorCountTotal: return Has(true, out, sum(&layout::Link::crc_data));
    case kFieldNvlinkReplayErrorCountTotal:
    case kFieldNvlinkErrorDlReplay: return Has(true, out, sum(&layout::Link::replay));
    case kFieldNvlinkRecoveryErrorCountTotal:
    case kFieldNvlinkErrorDlRecovery: return Has(true, out, sum(&layout::Link::recovery));
    case kFieldNvlinkErrorDlCrc: return Has(true, out, sum(&layout::Link::crc_flit));
    case kFieldNvlinkThroughputDataTx:
    case kFieldNvlinkThroughputRawTx: return Has(true, out, sum(&layout::Link::tx_kib));
    case kFieldNvlinkThroughputDataRx:
    case kFieldNvlinkThroughputRawRx: return Has(true, out, sum(&layout::Link::rx_kib));
    case kFieldNvlinkLinkCount: return Has(true, out, facts.nvlinks);
    case kFieldNvlinkSpeedMbpsCommon:
    case kFieldNvlinkGetSpeed: return Has(true, out, facts.nvlink_mb_per_s);
    case kFieldNvlinkGetState: return Has(one, out, unsigned{device.links[one ? link : 0].up});
    case kFieldNvlinkGetVersion: return Has(true, out, facts.nvlink_version);
    case kFieldNvswitchConnectedLinkCount: return Has(facts.nvlink_to_switch != 0, out, facts.nvlinks);
    case kFieldNvlinkGetPowerState: return Has(facts.architecture >= layout::Architecture::kHopper, out, 0U);
    default: break;
  }
  if (field >= kFieldNvlinkSpeedMbpsL0 && field <= kFieldNvlinkSpeedMbpsL5)
    return Has(field - kFieldNvlinkSpeedMbpsL0 < facts.nvlinks, out, facts.nvlink_mb_per_s);
  if (field >= kFieldNvlinkSpeedMbpsL6 && field <= kFieldNvlinkSpeedMbpsL11)
    return Has(field - kFieldNvlinkSpeedMbpsL6 + 6 < facts.nvlinks, out, facts.nvlink_mb_per_s);
  // NVLink 5 counts packets and errors of its own; on a healthy link they are zero.
  const bool five = facts.architecture >= layout::Architecture::kBlackwell;
  if (field >= kFieldNvlinkCountXmitPackets && field <= kFieldNvlinkCountSymbolBer)
    return Has(five, out, std::uint64_t{0});
  return Return::kNotSupported;
}

Return MemoryField(const layout::Device& device, unsigned field, abi::FieldValue& out) {
  const bool remaps = device.facts.row_remapping != 0;
  const bool retires = device.facts.ecc_supported != 0 && !remaps;
  switch (field) {
    case kFieldRetiredSbe: return Has(retires, out, device.retired_single);
    case kFieldRetiredDbe: return Has(retires, out, device.retired_double);
    case kFieldRetiredPending: return Has(retires, out, unsigned{device.retired_pending});
    case kFieldRemappedCor: return Has(remaps, out, device.remapped_correctable);
    case kFieldRemappedUnc: return Has(remaps, out, device.remapped_uncorrectable);
    case kFieldRemappedPending: return Has(remaps, out, unsigned{device.remap_pending});
    case kFieldRemappedFailure: return Has(remaps, out, unsigned{device.remap_failed});
    default: return Return::kNotSupported;
  }
}

/// Margins to the limits (T.Limit): newer parts count down.
Return MarginField(const layout::Device& device, unsigned field, abi::FieldValue& out) {
  const layout::DeviceFacts& facts = device.facts;
  const bool has = facts.architecture >= layout::Architecture::kHopper && facts.max_operating_c != 0;
  const int operating = static_cast<int>(facts.max_operating_c);
  switch (field) {
    case kFieldTemperatureShutdownTlimit: return Has(has, out, operating - static_cast<int>(facts.shutdown_c));
    case kFieldTemperatureSlowdownTlimit: return Has(has, out, operating - static_cast<int>(facts.slowdown_c));
    case kFieldTemperatureMemMaxTlimit: return Has(has && facts.memory_max_c != 0, out, 0);
    case kFieldTemperatureGpuMaxTlimit: return Has(has, out, 0);
    default: return Return::kNotSupported;
  }
}

Return OtherField(const layout::Device& device, unsigned field, abi::FieldValue& out) {
  const layout::DeviceFacts& facts = device.facts;
  const bool limits = facts.power_max_mw != 0;
  switch (field) {
    case kFieldPerfPolicyPower: return Has(true, out, device.violation_power_ns);
    case kFieldPerfPolicyThermal: return Has(true, out, device.violation_thermal_ns);
    case kFieldPerfPolicySyncBoost:
    case kFieldPerfPolicyBoardLimit:
    case kFieldPerfPolicyLowUtilization:
    case kFieldPerfPolicyReliability:
    case kFieldPerfPolicyTotalAppClocks:
    case kFieldPerfPolicyTotalBaseClocks: return Has(true, out, std::uint64_t{0});
    case kFieldMemoryTemp: return Has(facts.memory_max_c != 0, out, device.memory_temperature_c);
    case kFieldGpuTemp: return Has(true, out, device.temperature_c);
    case kFieldTotalEnergyConsumption:
    case kFieldEnergy: return Has(limits, out, EnergyMillijoules(device));
    case kFieldPcieReplayCounter: return Has(true, out, static_cast<unsigned>(device.pcie_replays));
    case kFieldPcieReplayRolloverCounter: return Has(true, out, 0U);
    case kFieldC2cLinkCount: return Has(facts.c2c != 0, out, 10U);
    case kFieldC2cLinkGetStatus: return Has(facts.c2c != 0, out, 1U);
    case kFieldC2cLinkGetMaxBw: return Has(facts.c2c != 0, out, 44712U);
    case kFieldPowerAverage:
    case kFieldPowerInstant: return Has(true, out, device.power_mw);
    case kFieldPowerMinLimit: return Has(limits, out, facts.power_min_mw);
    case kFieldPowerMaxLimit: return Has(limits, out, facts.power_max_mw);
    case kFieldPowerDefaultLimit: return Has(limits, out, facts.power_default_mw);
    case kFieldPowerCurrentLimit: return Has(limits, out, device.power_limit_mw);
    case kFieldIsMigModeIndependentMigQueryCapable: return Has(true, out, 1U);
    case kFieldGetGpuRecoveryAction: return Has(true, out, device.recovery_action);
    case kFieldPcieCountCorrectableErrors:
    case kFieldPcieCountNaksReceived:
    case kFieldPcieCountReceiverError:
    case kFieldPcieCountBadTlp:
    case kFieldPcieCountNaksSent:
    case kFieldPcieCountBadDllp:
    case kFieldPcieCountNonFatalError:
    case kFieldPcieCountFatalError:
    case kFieldPcieCountUnsupportedReq:
    case kFieldPcieCountLcrcError:
    case kFieldPcieCountLaneError: return Has(true, out, 0U);
    case kFieldPcieCountTxBytes:
    case kFieldPcieCountRxBytes: return Has(true, out, std::uint64_t{0});
    default: return Return::kNotSupported;
  }
}

Return Field(const layout::Device& device, abi::FieldValue& out) {
  const unsigned field = out.fieldId;
  if (field == 0 || field >= kFieldMax) return Return::kInvalidArgument;
  if (field <= kFieldEccDbeAggCbu) return EccField(device, field, out);
  Return answer = MemoryField(device, field, out);
  if (answer == Return::kNotSupported) answer = LinkField(device, field, out.scopeId, out);
  if (answer == Return::kNotSupported) answer = MarginField(device, field, out);
  if (answer == Return::kNotSupported) answer = OtherField(device, field, out);
  return answer;
}

}  // namespace
}  // namespace gpuop::machine::nvml

using namespace gpuop::machine::nvml;

extern "C" {

Return nvmlDeviceGetFieldValues(abi::Device device, int count, abi::FieldValue* values) {
  GPUOP_NOT_NULL(values);
  if (count <= 0) return Return::kInvalidArgument;
  GPUOP_ON_DEVICE(__func__, device, kWorking);
  for (int i = 0; i < count; ++i) {
    values[i].timestamp = static_cast<long long>(gpuop::machine::RealtimeNs() / 1000);
    values[i].latencyUsec = 0;
    values[i].nvmlReturn = Field(call.device(), values[i]);
  }
  return Return::kSuccess;
}

Return nvmlDeviceClearFieldValues(abi::Device device, int count, abi::FieldValue* values) {
  GPUOP_NOT_NULL(values);
  if (count <= 0) return Return::kInvalidArgument;
  GPUOP_CHANGE_DEVICE(__func__, device);
  for (int i = 0; i < count; ++i) values[i].nvmlReturn = Return::kNotSupported;
  return Return::kSuccess;
}

}  // extern "C"
