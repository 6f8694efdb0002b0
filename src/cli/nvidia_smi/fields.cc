#include "cli/nvidia_smi/fields.h"

#include <fmt/core.h>

#include <algorithm>

namespace gpuop::cli::nvidia_smi {
namespace {

namespace nvml = gpu::nvml;
using Text = Result<std::string>;

/// `format` of a value that can be had.
template <class T, class Format>
Text Map(const Result<T>& value, const Format& format) {
  if (!value) return std::unexpected(value.error());
  return Text(format(*value));
}

template <class T>
Text Plain(const Result<T>& value) {
  return Map(value, [](const T& v) { return std::to_string(v); });
}

template <auto function>
Text Words(const Gpu& gpu, const Moment&) {
  return gpu.Text(function);
}
template <auto function>
Text Numeral(const Gpu& gpu, const Moment&) {
  return Plain(gpu.Get(function));
}
template <auto function>
Text Switch(const Gpu& gpu, const Moment&) {
  return Map(gpu.Get(function), [](nvml::EnableState s) { return EnabledText(s); });
}
template <auto function>
Text Milliwatts(const Gpu& gpu, const Moment&) {
  return Map(gpu.Get(function), [](unsigned mw) { return fmt::format("{:.2f}", mw / 1000.0); });
}

template <auto member>
Text MemoryOf(const Gpu& gpu, const Moment&) {
  const auto v2 = gpu.nvml->GetVersion(nvml::kVersionOfMemoryV2, &F::DeviceGetMemoryInfo_v2, gpu.handle);
  return Map(v2, [](const nvml::MemoryV2& m) { return std::to_string(m.*member >> 20U); });
}
/// Total and used without what the driver reserves, for drivers that do not tell it apart.
template <auto member>
Text OldMemory(const Gpu& gpu, const Moment& moment) {
  if (auto text = MemoryOf<member>(gpu, moment)) return text;
  const auto memory = gpu.Get(&F::DeviceGetMemoryInfo);
  return Map(memory, [](const nvml::Memory& m) {
    const nvml::MemoryV2 same{.version = 0, .total = m.total, .reserved = 0, .free = m.free, .used = m.used};
    return std::to_string(same.*member >> 20U);
  });
}

template <auto member>
Text Busy(const Gpu& gpu, const Moment&) {
  if (gpu.MigEnabled()) return Fail(Code::kUnsupported, "a GPU in MIG mode has no utilisation of its own");
  return Map(gpu.Get(&F::DeviceGetUtilizationRates),
             [](const nvml::Utilization& u) { return std::to_string(u.*member); });
}

template <nvml::ClockType type>
Text Clock(const Gpu& gpu, const Moment&) {
  return Plain(gpu.Get(&F::DeviceGetClockInfo, type));
}
template <nvml::ClockType type>
Text MaxClock(const Gpu& gpu, const Moment&) {
  return Plain(gpu.Get(&F::DeviceGetMaxClockInfo, type));
}
template <nvml::ClockType type>
Text ApplicationsClock(const Gpu& gpu, const Moment&) {
  return Plain(gpu.Get(&F::DeviceGetApplicationsClock, type));
}

/// A number of the GPU's PCI address or identity, with so many digits.
template <auto member, int digits>
Text Pci(const Gpu& gpu, const Moment&) {
  return Map(gpu.Get(&F::DeviceGetPciInfo_v3),
             [](const nvml::PciInfo& p) { return fmt::format("0x{:0{}X}", p.*member, digits); });
}

template <bool pending>
Text MigMode(const Gpu& gpu, const Moment&) {
  unsigned current = 0, next = 0;
  if (auto done = gpu.nvml->Call(&F::DeviceGetMigMode, gpu.handle, &current, &next); !done)
    return std::unexpected(done.error());
  return std::string((pending ? next : current) != 0 ? "Enabled" : "Disabled");
}

template <bool pending>
Text EccMode(const Gpu& gpu, const Moment&) {
  nvml::EnableState current{}, next{};
  if (auto done = gpu.nvml->Call(&F::DeviceGetEccMode, gpu.handle, &current, &next); !done)
    return std::unexpected(done.error());
  return EnabledText(pending ? next : current);
}

template <nvml::MemoryErrorType type, nvml::EccCounterType counter>
Text EccErrors(const Gpu& gpu, const Moment&) {
  return Plain(gpu.Get(&F::DeviceGetTotalEccErrors, type, counter));
}

template <nvml::InforomObject object>
Text Inforom(const Gpu& gpu, const Moment&) {
  return gpu.Text(&F::DeviceGetInforomVersion, object);
}

template <bool maximum>
Text PowerConstraint(const Gpu& gpu, const Moment&) {
  unsigned low = 0, high = 0;
  if (auto done = gpu.nvml->Call(&F::DeviceGetPowerManagementLimitConstraints, gpu.handle, &low, &high); !done)
    return std::unexpected(done.error());
  return fmt::format("{:.2f}", (maximum ? high : low) / 1000.0);
}

template <unsigned id>
Text FieldNumber(const Gpu& gpu, const Moment&) {
  nvml::FieldValue value{};
  value.fieldId = id;
  if (auto done = gpu.nvml->Call(&F::DeviceGetFieldValues, gpu.handle, 1, &value); !done)
    return std::unexpected(done.error());
  if (value.nvmlReturn != Return::kSuccess)
    return Fail(gpu::CodeOf(value.nvmlReturn), std::string(nvml::ReturnName(value.nvmlReturn)));
  return std::to_string(value.value.uiVal);
}

template <unsigned id>
Text FieldWatts(const Gpu& gpu, const Moment& moment) {
  return Map(FieldNumber<id>(gpu, moment),
             [](const std::string& mw) { return fmt::format("{:.2f}", static_cast<double>(std::stoul(mw)) / 1000.0); });
}

Text ComputeCapability(const Gpu& gpu, const Moment&) {
  int major = 0, minor = 0;
  if (auto done = gpu.nvml->Call(&F::DeviceGetCudaComputeCapability, gpu.handle, &major, &minor); !done)
    return std::unexpected(done.error());
  return fmt::format("{}.{}", major, minor);
}

Text PState(const Gpu& gpu, const Moment&) {
  return Map(gpu.Get(&F::DeviceGetPerformanceState),
             [](nvml::Pstates p) { return fmt::format("P{}", static_cast<unsigned>(p)); });
}

Text EventReasons(const Gpu& gpu, const Moment&) {
  return Map(gpu.Get(&F::DeviceGetCurrentClocksEventReasons),
             [](unsigned long long r) { return fmt::format("0x{:016x}", r); });
}

Text FabricState(const Gpu& gpu, const Moment&) {
  const auto info = gpu.nvml->GetVersion(nvml::kVersionOfGpuFabricInfoV2, &F::DeviceGetGpuFabricInfoV, gpu.handle);
  return Map(info, [](const nvml::GpuFabricInfoV3& i) {
    constexpr const char* kStates[] = {"N/A", "Not Started", "In Progress", "Completed"};
    return std::string(i.state < std::size(kStates) ? kStates[i.state] : "Unknown");
  });
}

Text Addressing(const Gpu& gpu, const Moment&) {
  const auto mode =
      gpu.nvml->GetVersion(nvml::kVersionOfDeviceAddressingModeV1, &F::DeviceGetAddressingMode, gpu.handle);
  return Map(mode, [](const nvml::DeviceAddressingModeV1& m) {
    return std::string(m.value == 1 ? "HMM" : m.value == 2 ? "ATS" : "None");
  });
}

using enum nvml::ClockType;
using nvml::EccCounterType;
using nvml::MemoryErrorType;

constexpr Field kFields[] = {
    {"timestamp", "", "", [](const Gpu&, const Moment& m) { return Text(m.now); }},
    {"driver_version", "", "", [](const Gpu& g, const Moment&) { return g.nvml->GetText(&F::SystemGetDriverVersion); }},
    {"count", "", "", [](const Gpu&, const Moment& m) { return Text(std::to_string(m.attached)); }},
    {"name", "gpu_name", "", Words<&F::DeviceGetName>},
    {"serial", "gpu_serial", "", Words<&F::DeviceGetSerial>},
    {"uuid", "gpu_uuid", "", Words<&F::DeviceGetUUID>},
    {"index", "", "", [](const Gpu& g, const Moment&) { return Text(std::to_string(g.index)); }},
    {"module_id", "", "", Numeral<&F::DeviceGetModuleId>},
    {"pci.bus_id", "gpu_bus_id", "", [](const Gpu& g, const Moment&) { return Text(g.bus_id); }},
    {"pci.domain", "", "", Pci<&nvml::PciInfo::domain, 4>},
    {"pci.bus", "", "", Pci<&nvml::PciInfo::bus, 2>},
    {"pci.device", "", "", Pci<&nvml::PciInfo::device, 2>},
    {"pci.device_id", "", "", Pci<&nvml::PciInfo::pciDeviceId, 8>},
    {"pci.sub_device_id", "", "", Pci<&nvml::PciInfo::pciSubSystemId, 8>},
    {"pcie.link.gen.current", "pcie.link.gen.gpucurrent", "", Numeral<&F::DeviceGetCurrPcieLinkGeneration>},
    {"pcie.link.gen.max", "", "", Numeral<&F::DeviceGetMaxPcieLinkGeneration>},
    {"pcie.link.gen.gpumax", "", "", Numeral<&F::DeviceGetGpuMaxPcieLinkGeneration>},
    {"pcie.link.width.current", "", "", Numeral<&F::DeviceGetCurrPcieLinkWidth>},
    {"pcie.link.width.max", "", "", Numeral<&F::DeviceGetMaxPcieLinkWidth>},
    {"vbios_version", "", "", Words<&F::DeviceGetVbiosVersion>},
    {"inforom.img", "inforom.image", "", Words<&F::DeviceGetInforomImageVersion>},
    {"inforom.oem", "", "", Inforom<nvml::InforomObject::kOem>},
    {"inforom.ecc", "", "", Inforom<nvml::InforomObject::kEcc>},
    {"inforom.pwr", "inforom.power", "", Inforom<nvml::InforomObject::kPower>},
    {"display_mode", "", "", Switch<&F::DeviceGetDisplayMode>},
    {"display_active", "", "", Switch<&F::DeviceGetDisplayActive>},
    {"persistence_mode", "", "", Switch<&F::DeviceGetPersistenceMode>},
    {"addressing_mode", "", "", Addressing},
    {"mig.mode.current", "", "", MigMode<false>},
    {"mig.mode.pending", "", "", MigMode<true>},
    {"fan.speed", "", "%", Numeral<&F::DeviceGetFanSpeed>},
    {"pstate", "", "", PState},
    {"clocks_event_reasons.active", "clocks_throttle_reasons.active", "", EventReasons},
    {"memory.total", "", "MiB", OldMemory<&nvml::MemoryV2::total>},
    {"memory.reserved", "", "MiB", MemoryOf<&nvml::MemoryV2::reserved>},
    {"memory.used", "", "MiB", OldMemory<&nvml::MemoryV2::used>},
    {"memory.free", "", "MiB", OldMemory<&nvml::MemoryV2::free>},
    {"compute_mode", "", "",
     [](const Gpu& g, const Moment&) {
       return Map(g.Get(&F::DeviceGetComputeMode), [](nvml::ComputeMode m) { return std::string(ComputeModeText(m)); });
     }},
    {"compute_cap", "", "", ComputeCapability},
    {"utilization.gpu", "", "%", Busy<&nvml::Utilization::gpu>},
    {"utilization.memory", "", "%", Busy<&nvml::Utilization::memory>},
    {"ecc.mode.current", "", "", EccMode<false>},
    {"ecc.mode.pending", "", "", EccMode<true>},
    {"ecc.errors.corrected.volatile.total", "", "",
     EccErrors<MemoryErrorType::kCorrected, EccCounterType::kVolatileEcc>},
    {"ecc.errors.corrected.aggregate.total", "", "",
     EccErrors<MemoryErrorType::kCorrected, EccCounterType::kAggregateEcc>},
    {"ecc.errors.uncorrected.volatile.total", "", "",
     EccErrors<MemoryErrorType::kUncorrected, EccCounterType::kVolatileEcc>},
    {"ecc.errors.uncorrected.aggregate.total", "", "",
     EccErrors<MemoryErrorType::kUncorrected, EccCounterType::kAggregateEcc>},
    {"temperature.gpu", "", "",
     [](const Gpu& g, const Moment&) {
       return Plain(g.Get(&F::DeviceGetTemperature, nvml::TemperatureSensors::kGpu));
     }},
    {"temperature.memory", "", "", FieldNumber<nvml::kFieldMemoryTemp>},
    {"power.management", "", "", Switch<&F::DeviceGetPowerManagementMode>},
    {"power.draw", "", "W", Milliwatts<&F::DeviceGetPowerUsage>},
    {"power.draw.average", "", "W", FieldWatts<nvml::kFieldPowerAverage>},
    {"power.draw.instant", "", "W", FieldWatts<nvml::kFieldPowerInstant>},
    {"power.limit", "", "W", Milliwatts<&F::DeviceGetPowerManagementLimit>},
    {"enforced.power.limit", "", "W", Milliwatts<&F::DeviceGetEnforcedPowerLimit>},
    {"power.default_limit", "", "W", Milliwatts<&F::DeviceGetPowerManagementDefaultLimit>},
    {"power.min_limit", "", "W", PowerConstraint<false>},
    {"power.max_limit", "", "W", PowerConstraint<true>},
    {"clocks.current.graphics", "clocks.gr", "MHz", Clock<kGraphics>},
    {"clocks.current.sm", "clocks.sm", "MHz", Clock<kSm>},
    {"clocks.current.memory", "clocks.mem", "MHz", Clock<kMem>},
    {"clocks.current.video", "clocks.video", "MHz", Clock<kVideo>},
    {"clocks.applications.graphics", "clocks.applications.gr", "MHz", ApplicationsClock<kGraphics>},
    {"clocks.applications.memory", "clocks.applications.mem", "MHz", ApplicationsClock<kMem>},
    {"clocks.max.graphics", "clocks.max.gr", "MHz", MaxClock<kGraphics>},
    {"clocks.max.sm", "", "MHz", MaxClock<kSm>},
    {"clocks.max.memory", "clocks.max.mem", "MHz", MaxClock<kMem>},
    {"fabric.state", "", "", FabricState},
    {"gsp.mode.current", "", "",
     [](const Gpu& g, const Moment&) {
       unsigned on = 0, by_default = 0;
       if (auto done = g.nvml->Call(&F::DeviceGetGspFirmwareMode, g.handle, &on, &by_default); !done)
         return Text(std::unexpected(done.error()));
       return Text(on != 0 ? "Enabled" : "Disabled");
     }},
};

}  // namespace

std::span<const Field> AllFields() { return kFields; }

const Field* FindField(std::string_view name) {
  const auto* const it = std::ranges::find_if(
      kFields, [&](const Field& f) { return f.name == name || (!f.alias.empty() && f.alias == name); });
  return it == std::end(kFields) ? nullptr : it;
}

}  // namespace gpuop::cli::nvidia_smi
