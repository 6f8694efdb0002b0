#include "cli/nvidia_smi/command.h"

#include <fmt/core.h>
#include <poll.h>

#include <ctime>
#include <fstream>

#include "cli/nvidia_smi/fields.h"
#include "cli/nvidia_smi/parts.h"
#include "gpu/driver_root.h"

namespace gpuop::cli {
namespace nvidia_smi {
namespace {

constexpr std::string_view kHelp =
    "nvidia-smi [options]\n\n"
    "  <none>                          a table of all GPUs, MIG devices and programs\n"
    "  -L, --list-gpus                 GPUs and MIG devices with their UUIDs\n"
    "  -q, --query [-d SECTION,…]      everything, or MIG, PERFORMANCE, MEMORY, COMPUTE, UTILIZATION, ECC,\n"
    "                                  TEMPERATURE, POWER, CLOCK, PIDS\n"
    "  --query-gpu=FIELD,… --format=csv[,noheader][,nounits]\n"
    "  --query-compute-apps=FIELD,… --format=csv[,noheader][,nounits]\n"
    "  -mig, --multi-instance-gpu 0|1  MIG mode\n"
    "  -pm, --persistence-mode 0|1     persistence mode\n"
    "  -c, --compute-mode MODE         0/DEFAULT, 1/EXCLUSIVE_THREAD, 2/PROHIBITED, 3/EXCLUSIVE_PROCESS\n"
    "  -r, --gpu-reset                 reset\n"
    "  mig -lgip | -lgipp | -lgi | -lcip | -lcipp | -lci\n"
    "  mig -cgi PROFILE[:START],… [-C] | -cci [PROFILE,…] | -dgi | -dci  [-gi ID,…] [-ci ID,…]\n"
    "  topo -m                         how GPUs reach each other, and the CPUs beside them\n"
    "  nvlink -s                       NVLinks and their speed\n"
    "  --version                       of this program, NVML, driver and CUDA\n"
    "  --help-query-gpu                the fields of --query-gpu\n"
    "  -l, --loop [SECONDS] | -lms, --loop-ms MILLISECONDS   again and again\n"
    "  -i, --id ID,…                   only these: index, UUID, PCI address or serial number\n"
    "  -f, --filename FILE             write there\n";

Outcome MigCommand(const Arguments& arguments, const std::vector<Gpu>& chosen) {
  std::vector<Gpu> gpus;
  for (const Gpu& gpu : chosen)
    if (gpu.MigEnabled()) gpus.push_back(gpu);
  if (gpus.empty()) return {"No MIG-enabled devices found.\n", 6};
  switch (arguments.mig) {
    case Arguments::Mig::kCreateGpuInstances:
    case Arguments::Mig::kCreateComputeInstances: return MigCreate(arguments, gpus);
    case Arguments::Mig::kDestroyGpuInstances:
    case Arguments::Mig::kDestroyComputeInstances: return MigDestroy(arguments, gpus);
    default: return MigList(arguments, gpus);
  }
}

std::string CudaText(const gpu::Nvml& nvml) {
  const auto cuda = nvml.Get(&F::SystemGetCudaDriverVersion_v2);
  return cuda ? fmt::format("{}.{}", *cuda / 1000, *cuda % 1000 / 10) : "N/A";
}

Outcome Versions(const gpu::Nvml& nvml) {
  const std::string driver = OrNa(nvml.GetText(&F::SystemGetDriverVersion));
  std::string library = OrNa(nvml.GetText(&F::SystemGetNVMLVersion));
  if (const std::size_t dot = library.find('.'); dot != std::string::npos) library.erase(0, dot + 1);  // "12.550.163"
  return {fmt::format("NVIDIA-SMI version  : {}\nNVML version        : {}\nDRIVER version      : {}\n"
                      "CUDA Version        : {}\n",
                      driver, library, driver, CudaText(nvml)),
          0};
}

Outcome ListFields() {
  Outcome out;
  for (const Field& field : AllFields())
    out.text += field.alias.empty() ? fmt::format("\"{}\"\n", field.name)
                                    : fmt::format("\"{}\" or \"{}\"\n", field.name, field.alias);
  return out;
}

Outcome Dispatch(const gpu::Nvml& nvml, const Arguments& arguments, const std::vector<Gpu>& gpus, std::size_t attached,
                 const std::string& now) {
  using What = Arguments::What;
  switch (arguments.what) {
    case What::kSummary: return Summary(nvml, gpus, now);
    case What::kList: return List(gpus);
    case What::kReport: return Report(nvml, arguments, gpus, attached, now);
    case What::kQueryGpu: return QueryGpus(arguments, gpus, attached, now);
    case What::kQueryApps: return QueryApps(arguments, gpus, now);
    case What::kSetMig: return SetMig(arguments, gpus);
    case What::kSetPersistence: return SetPersistence(arguments, gpus);
    case What::kSetComputeMode: return SetComputeMode(arguments, gpus);
    case What::kReset: return Reset(gpus);
    case What::kMig: return MigCommand(arguments, gpus);
    case What::kTopology: return Topology(gpus);
    case What::kLinkStatus: return LinkStatus(gpus);
    case What::kVersions:
    case What::kListFields:
    case What::kHelp: break;
  }
  return {std::string(kHelp), 0};
}

Outcome RunParsed(const gpu::Nvml& nvml, const Arguments& arguments, const std::string& now) {
  if (arguments.what == Arguments::What::kVersions) return Versions(nvml);
  auto machine = FindGpus(nvml);
  if (!machine) return {machine.error().text + "\n", StatusOf(machine.error())};
  const std::size_t attached = machine->gpus.size();
  if (attached == 0)
    return {machine->unreadable + "No devices were found\n", machine->status != 0 ? machine->status : 6};
  auto chosen = Choose(machine->gpus, arguments.ids);
  if (!chosen)
    return {fmt::format("{}No devices were found: \"{}\" is no GPU of this machine\n", machine->unreadable,
                        chosen.error().text),
            6};
  Outcome out = Dispatch(nvml, arguments, *chosen, attached, now);
  out.text.insert(0, machine->unreadable);
  if (out.status == 0) out.status = machine->status;
  return out;
}

/// Why NVML could not be started, in nvidia-smi's words.
Outcome NotStarted(const Error& error) {
  if (error.code == Code::kNotFound)
    return {
        "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA Display "
        "Driver is properly installed and present in your system.\n"
        "Please also try adding directory that contains libnvidia-ml.so to your system PATH.\n",
        12};
  if (error.text.ends_with("NVML_ERROR_DRIVER_NOT_LOADED"))
    return {
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest "
        "NVIDIA driver is installed and running.\n",
        9};
  if (error.text.ends_with("NVML_ERROR_LIB_RM_VERSION_MISMATCH"))
    return {"Failed to initialize NVML: Driver/library version mismatch\n", 18};
  if (error.code == Code::kForbidden) return {"Failed to initialize NVML: Insufficient Permissions\n", 4};
  return {"Failed to initialize NVML: " + error.text + "\n", 255};
}

std::string Now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &parts)};
}

int Print(const Outcome& outcome, const std::string& file) {
  if (file.empty()) {
    std::fwrite(outcome.text.data(), 1, outcome.text.size(), stdout);
    return std::fflush(stdout) == 0 ? outcome.status : 255;
  }
  std::ofstream out(file);
  out << outcome.text;
  if (!out.flush()) {
    std::fprintf(stderr, "nvidia-smi: cannot write %s\n", file.c_str());
    return 255;
  }
  return outcome.status;
}

}  // namespace

Outcome Run(const gpu::Nvml& nvml, const std::vector<std::string>& args, const std::string& now) {
  auto arguments = ParseArguments(args);
  if (!arguments) return {arguments.error().text, 2};
  return RunParsed(nvml, *arguments, now);
}

}  // namespace nvidia_smi

int RunNvidiaSmi(std::span<char* const> args) {
  using namespace nvidia_smi;
  const auto arguments = ParseArguments({args.begin(), args.end()});
  if (!arguments) return Print({arguments.error().text, 2}, {});
  if (arguments->what == Arguments::What::kHelp) return Print({std::string(kHelp), 0}, {});
  if (arguments->what == Arguments::What::kListFields) return Print(ListFields(), {});
  auto nvml = gpu::Nvml::Open(gpu::DriverLibraryCandidates({}, "libnvidia-ml.so.1"));
  if (!nvml) return Print(NotStarted(nvml.error()), {});
  int status = Print(RunParsed(**nvml, *arguments, Now()), arguments->file);
  while (arguments->again_ms > 0 && status != 255) {
    ::poll(nullptr, 0, arguments->again_ms);
    status = Print(RunParsed(**nvml, *arguments, Now()), arguments->file);
  }
  return status;
}

}  // namespace gpuop::cli
