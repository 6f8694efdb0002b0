#pragma once
// One GPU as nvidia-smi sees it, and how its values are written.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/nvml.h"

namespace gpuop::cli::nvidia_smi {

using F = gpu::nvml::Functions;
using gpu::nvml::Return;

/// A GPU that answered when asked for its handle.
struct Gpu {
  const gpu::Nvml* nvml = nullptr;
  gpu::nvml::Device handle = nullptr;
  unsigned index = 0;
  /// "00000000:07:00.0"; empty when it cannot be read.
  std::string bus_id;

  template <class... P, class... A>
  auto Get(gpu::Nvml::Function<P...> function, A... args) const {
    return nvml->Get(function, handle, args...);
  }
  template <class... P, class... A>
  Result<std::string> Text(gpu::Nvml::Function<P...> function, A... args) const {
    return nvml->GetText(function, handle, args...);
  }
  bool MigEnabled() const;
};

/// The GPUs of a machine, and a line for each whose handle cannot be had.
struct Machine {
  std::vector<Gpu> gpus;
  std::string unreadable;
  /// The exit status that the unreadable ones ask for, 0 without any.
  int status = 0;
};
/// All GPUs, with what can be read of each. The error is NVML's, when it does not even count them.
Result<Machine> FindGpus(const gpu::Nvml& nvml);

/// Those of `all` that `ids` (indexes, UUIDs, PCI addresses or serial numbers) name, all when it is empty. An error
/// says which id names none.
Result<std::vector<Gpu>> Choose(const std::vector<Gpu>& all, const std::vector<std::string>& ids);

/// The exit status of an NVML answer.
int StatusOf(Return answer);
int StatusOf(const Error& error);

/// A list, empty when it cannot be had.
template <class T>
std::vector<T> OrNone(Result<std::vector<T>> list) {
  return list ? *std::move(list) : std::vector<T>();
}

/// The value, or "N/A" where it cannot be had.
std::string OrNa(const Result<std::string>& value);
std::string EnabledText(const Result<gpu::nvml::EnableState>& state);
template <class T>
std::string Number(const Result<T>& value, std::string_view unit = {}) {
  if (!value) return "N/A";
  std::string text = std::to_string(*value);
  if (!unit.empty()) text.append(" ").append(unit);
  return text;
}
/// "40960 MiB"
std::string MiB(unsigned long long bytes);

/// As nvidia-smi writes them.
std::string_view ComputeModeText(gpu::nvml::ComputeMode mode);
std::string_view ArchitectureText(unsigned architecture);
std::string_view BrandText(gpu::nvml::BrandType brand);

/// A GPU or compute instance's profile name without "MIG ", whatever form of the question the driver knows.
struct MigProfileInfo {
  unsigned id = 0;
  std::string name;
  /// Among profiles of one size: plain ones first, those without media engines last, as drivers list them.
  unsigned order = 0;
  unsigned instances = 0, multiprocessors = 0, slices = 0;
  unsigned copy = 0, decoder = 0, encoder = 0, jpeg = 0, ofa = 0;
  unsigned long long memory_mib = 0;
  bool p2p = false;
};
std::vector<MigProfileInfo> GpuInstanceProfiles(const Gpu& gpu);
std::vector<MigProfileInfo> ComputeInstanceProfiles(const Gpu& gpu, gpu::nvml::GpuInstance instance,
                                                    const MigProfileInfo& of);

}  // namespace gpuop::cli::nvidia_smi
