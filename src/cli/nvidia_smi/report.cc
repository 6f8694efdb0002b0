#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/nvidia_smi/fields.h"
#include "cli/nvidia_smi/parts.h"

namespace gpuop::cli::nvidia_smi {
namespace {

namespace nvml = gpu::nvml;

constexpr std::size_t kColumn = 42;  // where the colons stand

std::string Line(std::size_t depth, std::string_view name, std::string_view value) {
  return fmt::format("{:{}}{:<{}}: {}\n", "", 4 * depth, name, kColumn - 4 * depth, value);
}
std::string Title(std::size_t depth, std::string_view name) { return fmt::format("{:{}}{}\n", "", 4 * depth, name); }

/// A field of --query-gpu as the report writes it.
std::string Value(const Gpu& gpu, std::string_view name, std::string_view unit = {}) {
  const Field* const field = FindField(name);
  const auto value = field == nullptr ? Result<std::string>(Fail(Code::kUnsupported, "")) : field->read(gpu, {});
  if (!value || value->empty()) return "N/A";
  if (unit.empty()) unit = field->unit;
  return unit.empty() ? *value : *value + " " + std::string(unit);
}

struct Row {
  std::string_view title;  // or empty for a title of its own
  std::string_view field;
  std::string_view unit = {};
};
struct Group {
  /// What -d calls it; empty for what only the whole report has.
  std::string_view section;
  /// Its heading; the rows stand a level deeper when there is one.
  std::string_view title;
  std::vector<Row> rows;
};

const std::vector<Group>& Groups() {
  static const std::vector<Group> groups = {
      {"",
       "",
       {{"Display Mode", "display_mode"},
        {"Display Active", "display_active"},
        {"Persistence Mode", "persistence_mode"},
        {"Addressing Mode", "addressing_mode"}}},
      {"MIG", "MIG Mode", {{"Current", "mig.mode.current"}, {"Pending", "mig.mode.pending"}}},
      {"", "", {{"Serial Number", "serial"}, {"GPU UUID", "uuid"}}},
      {"", "", {{"VBIOS Version", "vbios_version"}}},
      {"",
       "Inforom Version",
       {{"Image Version", "inforom.img"},
        {"OEM Object", "inforom.oem"},
        {"ECC Object", "inforom.ecc"},
        {"Power Management Object", "inforom.pwr"}}},
      {"",
       "PCI",
       {{"Bus", "pci.bus"},
        {"Device", "pci.device"},
        {"Domain", "pci.domain"},
        {"Device Id", "pci.device_id"},
        {"Bus Id", "pci.bus_id"},
        {"Sub System Id", "pci.sub_device_id"}}},
      {"", "", {{"Fan Speed", "fan.speed"}}},
      {"PERFORMANCE", "", {{"Performance State", "pstate"}}},
      {"MEMORY",
       "FB Memory Usage",
       {{"Total", "memory.total"}, {"Reserved", "memory.reserved"}, {"Used", "memory.used"}, {"Free", "memory.free"}}},
      {"COMPUTE", "", {{"Compute Mode", "compute_mode"}}},
      {"UTILIZATION", "Utilization", {{"GPU", "utilization.gpu"}, {"Memory", "utilization.memory"}}},
      {"ECC", "ECC Mode", {{"Current", "ecc.mode.current"}, {"Pending", "ecc.mode.pending"}}},
      {"TEMPERATURE",
       "Temperature",
       {{"GPU Current Temp", "temperature.gpu", "C"}, {"Memory Current Temp", "temperature.memory", "C"}}},
      {"POWER",
       "GPU Power Readings",
       {{"Average Power Draw", "power.draw.average"},
        {"Instantaneous Power Draw", "power.draw.instant"},
        {"Power Draw", "power.draw"},
        {"Current Power Limit", "enforced.power.limit"},
        {"Requested Power Limit", "power.limit"},
        {"Default Power Limit", "power.default_limit"},
        {"Min Power Limit", "power.min_limit"},
        {"Max Power Limit", "power.max_limit"}}},
      {"CLOCK",
       "Clocks",
       {{"Graphics", "clocks.current.graphics"},
        {"SM", "clocks.current.sm"},
        {"Memory", "clocks.current.memory"},
        {"Video", "clocks.current.video"}}},
      {"CLOCK",
       "Applications Clocks",
       {{"Graphics", "clocks.applications.graphics"}, {"Memory", "clocks.applications.memory"}}},
      {"CLOCK",
       "Max Clocks",
       {{"Graphics", "clocks.max.graphics"}, {"SM", "clocks.max.sm"}, {"Memory", "clocks.max.memory"}}},
  };
  return groups;
}

std::string Identity(const Gpu& gpu) {
  const auto brand = gpu.Get(&F::DeviceGetBrand);
  const auto architecture = gpu.Get(&F::DeviceGetArchitecture);
  return Line(1, "Product Name", OrNa(gpu.Text(&F::DeviceGetName))) +
         Line(1, "Product Brand", brand ? BrandText(*brand) : "N/A") +
         Line(1, "Product Architecture", architecture ? ArchitectureText(*architecture) : "N/A");
}

std::string MigDevices(const Gpu& gpu) {
  if (!gpu.MigEnabled()) return Line(1, "MIG Device", "None");
  std::string out;
  unsigned index = 0;
  for (const nvml::Device mig : OrNone(gpu.nvml->MigDevices(gpu.handle))) {
    const auto memory = gpu.nvml->Get(&F::DeviceGetMemoryInfo, mig);
    const auto a = gpu.nvml->Get(&F::DeviceGetAttributes_v2, mig);
    out += Title(1, "MIG Device");
    out += Line(2, "Index", std::to_string(index++));
    out += Line(2, "GPU Instance ID", Number(gpu.nvml->Get(&F::DeviceGetGpuInstanceId, mig)));
    out += Line(2, "Compute Instance ID", Number(gpu.nvml->Get(&F::DeviceGetComputeInstanceId, mig)));
    out += Title(2, "Device Attributes") + Title(3, "Shared");
    out += Line(4, "Multiprocessor count", a ? std::to_string(a->multiprocessorCount) : "N/A");
    out += Line(4, "Copy Engine count", a ? std::to_string(a->sharedCopyEngineCount) : "N/A");
    out += Line(4, "Encoder count", a ? std::to_string(a->sharedEncoderCount) : "N/A");
    out += Line(4, "Decoder count", a ? std::to_string(a->sharedDecoderCount) : "N/A");
    out += Line(4, "OFA count", a ? std::to_string(a->sharedOfaCount) : "N/A");
    out += Line(4, "JPG count", a ? std::to_string(a->sharedJpegCount) : "N/A");
    out += Title(2, "FB Memory Usage");
    out += Line(3, "Total", memory ? MiB(memory->total) : "N/A");
    out += Line(3, "Used", memory ? MiB(memory->used) : "N/A");
    out += Line(3, "Free", memory ? MiB(memory->free) : "N/A");
  }
  return out.empty() ? Line(1, "MIG Device", "None") : out;
}

std::string ClockReasons(const Gpu& gpu) {
  struct Reason {
    std::size_t depth;
    std::string_view name;
    unsigned long long bit;
  };
  static constexpr Reason kReasons[] = {
      {2, "Idle", nvml::kClocksEventReasonGpuIdle},
      {2, "Applications Clocks Setting", nvml::kClocksEventReasonApplicationsClocksSetting},
      {2, "SW Power Cap", nvml::kClocksEventReasonSwPowerCap},
      {2, "HW Slowdown", nvml::kClocksThrottleReasonHwSlowdown},
      {3, "HW Thermal Slowdown", nvml::kClocksThrottleReasonHwThermalSlowdown},
      {3, "HW Power Brake Slowdown", nvml::kClocksThrottleReasonHwPowerBrakeSlowdown},
      {2, "Sync Boost", nvml::kClocksEventReasonSyncBoost},
      {2, "SW Thermal Slowdown", nvml::kClocksEventReasonSwThermalSlowdown},
      {2, "Display Clock Setting", nvml::kClocksEventReasonDisplayClockSetting}};
  const auto active = gpu.Get(&F::DeviceGetCurrentClocksEventReasons);
  if (!active) return Line(1, "Clocks Event Reasons", "N/A");
  std::string out = Title(1, "Clocks Event Reasons");
  for (const Reason& r : kReasons) out += Line(r.depth, r.name, (*active & r.bit) != 0 ? "Active" : "Not Active");
  return out;
}

std::string EccErrors(const Gpu& gpu) {
  std::string out = Title(1, "ECC Errors");
  for (const auto& [title, counter] : {std::pair("Volatile", nvml::EccCounterType::kVolatileEcc),
                                       std::pair("Aggregate", nvml::EccCounterType::kAggregateEcc)}) {
    out += Title(2, title);
    for (const auto& [place, location] :
         {std::pair("SRAM", nvml::MemoryLocation::kSram), std::pair("DRAM", nvml::MemoryLocation::kDram)})
      for (const auto& [kind, type] : {std::pair("Correctable", nvml::MemoryErrorType::kCorrected),
                                       std::pair("Uncorrectable", nvml::MemoryErrorType::kUncorrected)})
        out += Line(3, fmt::format("{} {}", place, kind),
                    Number(gpu.Get(&F::DeviceGetMemoryErrorCounter, type, counter, location)));
  }
  return out;
}

std::string RemappedRows(const Gpu& gpu) {
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
  if (gpu.nvml->Try(&F::DeviceGetRemappedRows, gpu.handle, &corrected, &uncorrected, &pending, &failed) !=
      Return::kSuccess)
    return Line(1, "Remapped Rows", "N/A");
  return Title(1, "Remapped Rows") + Line(2, "Correctable Error", std::to_string(corrected)) +
         Line(2, "Uncorrectable Error", std::to_string(uncorrected)) + Line(2, "Pending", pending != 0 ? "Yes" : "No") +
         Line(2, "Remapping Failure Occurred", failed != 0 ? "Yes" : "No");
}

std::string FabricPart(const Gpu& gpu) {
  nvml::GpuFabricInfoV3 info{};
  info.version = nvml::kVersionOfGpuFabricInfoV2;
  const bool known = gpu.nvml->Try(&F::DeviceGetGpuFabricInfoV, gpu.handle, &info) == Return::kSuccess &&
                     info.state != nvml::kGpuFabricStateNotSupported;
  const bool done = known && info.state == nvml::kGpuFabricStateCompleted;
  const std::string uuid = UuidText({reinterpret_cast<const char*>(info.clusterUuid), sizeof info.clusterUuid});
  return Title(1, "Fabric") + Line(2, "State", Value(gpu, "fabric.state")) +
         Line(2, "Status",
              !done                             ? "N/A"
              : info.status == Return::kSuccess ? "Success"
                                                : gpu.nvml->Sentence(info.status)) +
         Line(2, "CliqueId", done ? std::to_string(info.cliqueId) : "N/A") +
         Line(2, "ClusterUUID", done ? uuid : "N/A");
}

std::string ProcessPart(const Gpu& gpu) {
  const auto processes = ProcessesOn(gpu);
  if (processes.empty()) return Line(1, "Processes", "None");
  std::string out = Title(1, "Processes");
  const auto id = [](std::optional<unsigned> v) { return v ? std::to_string(*v) : "N/A"; };
  for (const Process& p : processes)
    out += Line(2, "GPU instance ID", id(p.gpu_instance)) + Line(2, "Compute instance ID", id(p.compute_instance)) +
           Line(2, "Process ID", std::to_string(p.pid)) + Line(3, "Type", p.type) + Line(3, "Name", p.name) +
           Line(3, "Used GPU Memory", p.bytes ? MiB(*p.bytes) : "Not available in WDDM driver model");
  return out;
}

/// What stands behind a group of the table, and is more than rows.
std::string Behind(const Gpu& gpu, const Group& group) {
  if (group.title == "MIG Mode") return MigDevices(gpu);
  if (group.section == "PERFORMANCE") return ClockReasons(gpu);
  if (group.section == "ECC") return EccErrors(gpu) + RemappedRows(gpu);
  if (!group.rows.empty() && group.rows.front().title == "Serial Number")
    return Line(1, "Minor Number", Number(gpu.Get(&F::DeviceGetMinorNumber)));
  if (!group.rows.empty() && group.rows.front().title == "VBIOS Version")
    return Line(1, "Board Part Number", OrNa(gpu.Text(&F::DeviceGetBoardPartNumber)));
  return {};
}

std::string OneGpu(const Gpu& gpu, const std::vector<std::string>& sections) {
  const auto asked = [&](std::string_view section) {
    return sections.empty() || std::ranges::any_of(sections, [&](const std::string& s) {
             return !section.empty() && EqualsIgnoreCase(s, section);
           });
  };
  std::string out = fmt::format("\nGPU {}\n", gpu.bus_id);
  if (sections.empty()) out += Identity(gpu);
  for (const Group& group : Groups()) {
    if (!asked(group.section)) continue;
    const std::size_t depth = group.title.empty() ? 1 : 2;
    if (depth == 2) out += Title(1, group.title);
    for (const Row& row : group.rows) out += Line(depth, row.title, Value(gpu, row.field, row.unit));
    out += Behind(gpu, group);
  }
  if (asked("")) out += FabricPart(gpu);
  if (asked("PIDS")) out += ProcessPart(gpu);
  return out;
}

constexpr std::array kSections = {"MIG", "PERFORMANCE", "MEMORY", "COMPUTE", "UTILIZATION",
                                  "ECC", "TEMPERATURE", "POWER",  "CLOCK",   "PIDS"};

}  // namespace

Outcome Report(const gpu::Nvml& nvml, const Arguments& arguments, const std::vector<Gpu>& gpus, std::size_t attached,
               const std::string& now) {
  for (const std::string& section : arguments.sections)
    if (std::ranges::none_of(kSections, [&](std::string_view s) { return EqualsIgnoreCase(s, section); }))
      return {fmt::format("\"--display=\" has no section \"{}\".\n", section), 2};
  const auto cuda = nvml.Get(&F::SystemGetCudaDriverVersion_v2);
  Outcome out;
  out.text = "\n==============NVSMI LOG==============\n\n" + Line(0, "Timestamp", now) +
             Line(0, "Driver Version", OrNa(nvml.GetText(&F::SystemGetDriverVersion))) +
             Line(0, "CUDA Version", cuda ? fmt::format("{}.{}", *cuda / 1000, *cuda % 1000 / 10) : "N/A") + "\n" +
             Line(0, "Attached GPUs", std::to_string(attached));
  out.text.erase(out.text.rfind('\n'));
  out.text += "\n";
  for (const Gpu& gpu : gpus) out.text += OneGpu(gpu, arguments.sections);
  return out;
}

}  // namespace gpuop::cli::nvidia_smi
