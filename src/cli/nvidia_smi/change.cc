#include <fmt/core.h>

#include "base/text.h"
#include "cli/nvidia_smi/parts.h"

namespace gpuop::cli::nvidia_smi {
namespace {

namespace nvml = gpu::nvml;

constexpr std::string_view kEarlyEnd = "Terminating early due to previous errors.\n";
constexpr std::string_view kAllDone = "All done.\n";

/// The switch that `value` means: 0 or 1, or a word for it.
std::optional<bool> OnOff(std::string_view value) {
  if (value == "0" || EqualsIgnoreCase(value, "DISABLED")) return false;
  if (value == "1" || EqualsIgnoreCase(value, "ENABLED")) return true;
  return std::nullopt;
}

Outcome BadValue(std::string_view option, std::string_view value) {
  return {fmt::format("Invalid value \"{}\" for option \"{}\".\n", value, option), 2};
}

/// What a change of the MIG mode led to, in the driver's words.
std::string MigModeText(const Gpu& gpu, bool on, Return activation) {
  const std::string_view word = on ? "enable" : "disable";
  if (activation == Return::kSuccess)
    return fmt::format("{} MIG Mode for GPU {}\n", on ? "Enabled" : "Disabled", gpu.bus_id);
  std::string out = fmt::format("Warning: MIG mode is in pending {} state for GPU {}:{}\n", word, gpu.bus_id,
                                gpu.nvml->Sentence(activation));
  if (activation == Return::kInUse)
    return out + gpu.bus_id +
           " is currently being used by one or more other processes (e.g. CUDA application or a monitoring application "
           "such as another instance of nvidia-smi). Please first kill all processes using the device and retry the "
           "command or reboot the system to make MIG mode effective.\n";
  return out + fmt::format("Reboot the system or try nvidia-smi --gpu-reset to make MIG mode effective on GPU {}\n",
                           gpu.bus_id);
}

}  // namespace

Outcome SetMig(const Arguments& arguments, const std::vector<Gpu>& gpus) {
  const auto on = OnOff(arguments.value);
  if (!on) return BadValue("-mig", arguments.value);
  Outcome out;
  for (const Gpu& gpu : gpus) {
    Return activation = Return::kSuccess;
    const Return answer = gpu.nvml->Try(&F::DeviceSetMigMode, gpu.handle,
                                        unsigned{*on ? nvml::kDeviceMigEnable : nvml::kDeviceMigDisable}, &activation);
    if (answer == Return::kSuccess) {
      out.text += MigModeText(gpu, *on, activation);
      continue;
    }
    out.text += fmt::format("Unable to {} MIG Mode for GPU {}: {}\n", *on ? "enable" : "disable", gpu.bus_id,
                            gpu.nvml->Sentence(answer));
    if (answer == Return::kNotSupported) {
      out.text += "Treating as warning and moving on.\n";
      continue;
    }
    out.text += kEarlyEnd;
    out.status = StatusOf(answer);
    return out;
  }
  out.text += kAllDone;
  return out;
}

Outcome SetPersistence(const Arguments& arguments, const std::vector<Gpu>& gpus) {
  const auto on = OnOff(arguments.value);
  if (!on) return BadValue("-pm", arguments.value);
  const auto wanted = *on ? nvml::EnableState::kEnabled : nvml::EnableState::kDisabled;
  const std::string_view word = *on ? "Enabled" : "Disabled";
  Outcome out;
  for (const Gpu& gpu : gpus) {
    if (const auto now = gpu.Get(&F::DeviceGetPersistenceMode); now && *now == wanted) {
      out.text += fmt::format("Persistence mode is already {} for GPU {}.\n", word, gpu.bus_id);
      continue;
    }
    const Return answer = gpu.nvml->Try(&F::DeviceSetPersistenceMode, gpu.handle, wanted);
    if (answer != Return::kSuccess) {
      out.text += fmt::format("Unable to set persistence mode for GPU {}: {}\n{}", gpu.bus_id,
                              gpu.nvml->Sentence(answer), kEarlyEnd);
      out.status = StatusOf(answer);
      return out;
    }
    out.text += fmt::format("{} persistence mode for GPU {}.\n", word, gpu.bus_id);
  }
  out.text += kAllDone;
  return out;
}

Outcome SetComputeMode(const Arguments& arguments, const std::vector<Gpu>& gpus) {
  struct Mode {
    std::string_view number, word;
    nvml::ComputeMode mode;
  };
  static constexpr Mode kModes[] = {{"0", "DEFAULT", nvml::ComputeMode::kDefault},
                                    {"1", "EXCLUSIVE_THREAD", nvml::ComputeMode::kExclusiveThread},
                                    {"2", "PROHIBITED", nvml::ComputeMode::kProhibited},
                                    {"3", "EXCLUSIVE_PROCESS", nvml::ComputeMode::kExclusiveProcess}};
  for (const Mode& m : kModes) {
    if (arguments.value != m.number && !EqualsIgnoreCase(arguments.value, m.word)) continue;
    Outcome out;
    for (const Gpu& gpu : gpus) {
      if (const auto now = gpu.Get(&F::DeviceGetComputeMode); now && *now == m.mode) {
        out.text += fmt::format("Compute mode is already set to {} for GPU {}.\n", m.word, gpu.bus_id);
        continue;
      }
      const Return answer = gpu.nvml->Try(&F::DeviceSetComputeMode, gpu.handle, m.mode);
      if (answer != Return::kSuccess) {
        out.text += fmt::format("Unable to set the compute mode for GPU {}: {}\n{}", gpu.bus_id,
                                gpu.nvml->Sentence(answer), kEarlyEnd);
        out.status = StatusOf(answer);
        return out;
      }
      out.text += fmt::format("Set compute mode to {} for GPU {}.\n", m.word, gpu.bus_id);
    }
    out.text += kAllDone;
    return out;
  }
  return BadValue("-c", arguments.value);
}

Outcome Reset(const std::vector<Gpu>& gpus) {
  // NVML has no public call for a reset. A library that offers one of its own, as a simulated machine's does, is used.
  Outcome out;
  std::string refused;
  unsigned busy = 0;
  for (const Gpu& gpu : gpus) {
    const Return answer = gpu.nvml->ResetDevice(gpu.handle);
    if (answer == Return::kSuccess) {
      out.text += fmt::format("GPU {} was successfully reset.\n", gpu.bus_id);
    } else if (answer == Return::kFunctionNotFound || answer == Return::kNotSupported) {
      out.text += fmt::format("Resetting GPU {} is not supported.\n", gpu.bus_id);
      out.status = StatusOf(Return::kNotSupported);
    } else {
      refused += fmt::format("  GPU {}: {}\n", gpu.bus_id, gpu.nvml->Sentence(answer));
      if (answer == Return::kInUse) ++busy;
      out.status = 255;
    }
  }
  if (!refused.empty()) out.text += "\nThe following GPUs could not be reset:\n" + refused;
  if (busy != 0)
    out.text += fmt::format(
        "\n{} device{} currently being used by one or more other processes (e.g., Fabric Manager, CUDA application, "
        "graphics application such as an X server, or a monitoring application such as another instance of "
        "nvidia-smi). Please first kill all processes using {} and all compute applications running in the "
        "system.\n",
        busy, busy == 1 ? " is" : "s are", busy == 1 ? "this device" : "these devices");
  if (out.status == 0) out.text += kAllDone;
  return out;
}

}  // namespace gpuop::cli::nvidia_smi
