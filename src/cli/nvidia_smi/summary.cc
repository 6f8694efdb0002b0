#include <fmt/core.h>

#include "cli/nvidia_smi/parts.h"

namespace gpuop::cli::nvidia_smi {
namespace {

namespace nvml = gpu::nvml;

constexpr std::string_view kWide =
    "+-----------------------------------------------------------------------------------------+\n";
constexpr std::string_view kRule =
    "+-----------------------------------------+------------------------+----------------------+\n";
constexpr std::string_view kMigRule =
    "+------------------+----------------------------------+-----------+-----------------------+\n";

/// At most `width` characters, the end given up for "...".
std::string Fit(std::string text, std::size_t width) {
  if (text.size() <= width) return text;
  return text.substr(0, width - 3) + "...";
}

std::string Head(const gpu::Nvml& nvml, const std::string& now) {
  const std::string driver = OrNa(nvml.GetText(&F::SystemGetDriverVersion));
  const auto cuda = nvml.Get(&F::SystemGetCudaDriverVersion_v2);
  const std::string version = cuda ? fmt::format("{}.{}", *cuda / 1000, *cuda % 1000 / 10) : "N/A";
  std::string out = fmt::format("{:<31}\n{}", now, kWide);
  out += fmt::format("| NVIDIA-SMI {:<22} Driver Version: {:<15}CUDA Version: {:<9}|\n", driver, driver, version);
  out += kRule;
  out +=
      "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
      "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
      "|                                         |                        |               MIG M. |\n"
      "|=========================================+========================+======================|\n";
  return out;
}

std::string OnOff(const Result<nvml::EnableState>& state) {
  if (!state) return "N/A";
  return *state == nvml::EnableState::kEnabled ? "On" : "Off";
}

/// Uncorrected errors since the last reset; "Off" without ECC.
std::string Ecc(const Gpu& gpu) {
  nvml::EnableState current{}, pending{};
  if (gpu.nvml->Try(&F::DeviceGetEccMode, gpu.handle, &current, &pending) != Return::kSuccess) return "N/A";
  if (current == nvml::EnableState::kDisabled) return "Off";
  return Number(
      gpu.Get(&F::DeviceGetTotalEccErrors, nvml::MemoryErrorType::kUncorrected, nvml::EccCounterType::kVolatileEcc));
}

std::string PowerText(const Gpu& gpu) {
  const auto part = [](const Result<unsigned>& mw) { return mw ? fmt::format("{}W", (*mw + 500) / 1000) : "N/A"; };
  return fmt::format("{:>7} / {:>5}", part(gpu.Get(&F::DeviceGetPowerUsage)),
                     part(gpu.Get(&F::DeviceGetEnforcedPowerLimit)));
}

std::string MemoryText(const Gpu& gpu) {
  // The second form tells what the driver reserves apart from what is used.
  const auto apart = gpu.nvml->GetVersion(nvml::kVersionOfMemoryV2, &F::DeviceGetMemoryInfo_v2, gpu.handle);
  if (apart) return fmt::format("{:>7}MiB / {:>6}MiB", apart->used >> 20U, apart->total >> 20U);
  const auto memory = gpu.Get(&F::DeviceGetMemoryInfo);
  if (!memory) return "Not Supported";
  return fmt::format("{:>7}MiB / {:>6}MiB", memory->used >> 20U, memory->total >> 20U);
}

std::string MigMode(const Gpu& gpu) {
  unsigned current = 0, pending = 0;
  if (gpu.nvml->Try(&F::DeviceGetMigMode, gpu.handle, &current, &pending) != Return::kSuccess) return "N/A";
  return (current != 0 ? std::string("Enabled") : std::string("Disabled")) + (current != pending ? "*" : "");
}

std::string Rows(const Gpu& gpu) {
  const auto fan = gpu.Get(&F::DeviceGetFanSpeed);
  const auto temperature = gpu.Get(&F::DeviceGetTemperature, nvml::TemperatureSensors::kGpu);
  const auto state = gpu.Get(&F::DeviceGetPerformanceState);
  const auto mode = gpu.Get(&F::DeviceGetComputeMode);
  const auto busy = gpu.MigEnabled() ? Result<nvml::Utilization>(Fail(Code::kUnsupported, ""))
                                     : gpu.Get(&F::DeviceGetUtilizationRates);
  std::string mode_text = mode ? std::string(ComputeModeText(*mode)) : "N/A";
  if (mode_text == "Exclusive_Process") mode_text = "E. Process";
  std::string out = fmt::format(
      "| {:>3}  {:<27}{:>6}  | {:>18} {:>3} | {:>20} |\n", gpu.index, Fit(OrNa(gpu.Text(&F::DeviceGetName)), 27),
      OnOff(gpu.Get(&F::DeviceGetPersistenceMode)), gpu.bus_id, OnOff(gpu.Get(&F::DeviceGetDisplayActive)), Ecc(gpu));
  out += fmt::format(
      "| {:>3}   {:>3}    {:<5} {:>20} | {:>22} | {:>7} {:>12} |\n", fan ? fmt::format("{}%", *fan) : "N/A",
      temperature ? fmt::format("{}C", *temperature) : "N/A",
      state && *state != nvml::Pstates::kUnknown ? fmt::format("P{}", static_cast<unsigned>(*state)) : "N/A",
      PowerText(gpu), MemoryText(gpu), busy ? fmt::format("{}%", busy->gpu) : "N/A", mode_text);
  out += fmt::format("|                                         |                        | {:>20} |\n", MigMode(gpu));
  return out.append(kRule);
}

std::string MigRows(const Gpu& gpu) {
  std::string out;
  const gpu::Nvml& nvml = *gpu.nvml;
  unsigned number = 0;
  for (const nvml::Device mig : OrNone(nvml.MigDevices(gpu.handle))) {
    const auto gi = nvml.Get(&F::DeviceGetGpuInstanceId, mig);
    const auto ci = nvml.Get(&F::DeviceGetComputeInstanceId, mig);
    const auto attributes = nvml.Get(&F::DeviceGetAttributes_v2, mig);
    const auto memory = nvml.Get(&F::DeviceGetMemoryInfo, mig);
    const auto bar1 = nvml.Get(&F::DeviceGetBAR1MemoryInfo, mig);
    const auto ecc = nvml.Get(&F::DeviceGetTotalEccErrors, mig, nvml::MemoryErrorType::kUncorrected,
                              nvml::EccCounterType::kVolatileEcc);
    const nvml::DeviceAttributes a = attributes.value_or(nvml::DeviceAttributes{});
    out += fmt::format(
        "| {:>2}  {:>3} {:>3} {:>3}  | {:>15}MiB / {:>5}MiB    | {:<3} {:>5} | {:>2}  {:>2}  {:>3}  {:>3}  {:>3} |\n",
        gpu.index, Number(gi), Number(ci), number++, memory ? memory->used >> 20U : 0,
        memory ? memory->total >> 20U : a.memorySizeMB, a.multiprocessorCount, Number(ecc), a.sharedCopyEngineCount,
        a.sharedEncoderCount, a.sharedDecoderCount, a.sharedOfaCount, a.sharedJpegCount);
    out += fmt::format("|                  | {:>15}MiB / {:>5}MiB    |           |                       |\n",
                       bar1 ? bar1->bar1Used >> 20U : 0, bar1 ? bar1->bar1Total >> 20U : 0);
    out += kMigRule;
  }
  return out;
}

std::string MigTable(const std::vector<Gpu>& gpus) {
  std::string rows;
  bool any = false;
  for (const Gpu& gpu : gpus)
    if (gpu.MigEnabled()) {
      any = true;
      rows += MigRows(gpu);
    }
  if (!any) return {};
  if (rows.empty())
    rows = std::string("|  No MIG devices found                                                                   |\n")
               .append(kWide);
  return std::string(kWide) +
         "| MIG devices:                                                                            |\n" +
         std::string(kMigRule) +
         "| GPU  GI  CI  MIG |              Shared Memory-Usage |        Vol|        Shared         |\n"
         "|      ID  ID  Dev |                Shared BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |\n"
         "|                  |                                  |        ECC|                       |\n"
         "|==================+==================================+===========+=======================|\n" +
         rows + std::string(89, ' ') + "\n";
}

std::string ProcessTable(const std::vector<Gpu>& gpus) {
  std::string out(kWide);
  out +=
      "| Processes:                                                                              |\n"
      "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |\n"
      "|        ID   ID                                                               Usage      |\n"
      "|=========================================================================================|\n";
  std::string rows;
  const auto id = [](std::optional<unsigned> v) { return v ? std::to_string(*v) : "N/A"; };
  for (const Gpu& gpu : gpus)
    for (const Process& p : ProcessesOn(gpu)) {
      std::string name = p.name;
      if (name.size() > 36) name = "..." + name.substr(name.size() - 33);
      rows += fmt::format("|  {:>3}   {:>3}  {:>3} {:>15}   {:>4}   {:<36} {:>7}MiB |\n", gpu.index, id(p.gpu_instance),
                          id(p.compute_instance), p.pid, p.type, name, p.bytes ? *p.bytes >> 20U : 0);
    }
  if (rows.empty())
    rows = "|  No running processes found                                                             |\n";
  return out + rows + std::string(kWide);
}

}  // namespace

Outcome Summary(const gpu::Nvml& nvml, const std::vector<Gpu>& gpus, const std::string& now) {
  Outcome out;
  out.text = Head(nvml, now);
  for (const Gpu& gpu : gpus) out.text += Rows(gpu);
  out.text += std::string(89, ' ') + "\n";
  out.text += MigTable(gpus);
  out.text += ProcessTable(gpus);
  return out;
}

}  // namespace gpuop::cli::nvidia_smi
