#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "gpu/nvml/table.h"
#include "gpu/table_index.h"
#include "os/library.h"

namespace gpuop::gpu {

/// NVML, started. A call that fails says NVML's own name of the error ("nvmlDeviceGetName: NVML_ERROR_GPU_IS_LOST"),
/// and its Code is for decisions:
///
///   kUnsupported  the device or the driver does not know this (NOT_SUPPORTED, FUNCTION_NOT_FOUND, …)
///   kNotFound     NOT_FOUND, GPU_NOT_FOUND
///   kForbidden    NO_PERMISSION
///   kInvalid      INVALID_ARGUMENT
///   kConflict     IN_USE: a program holds the device
///   kTooLarge     INSUFFICIENT_RESOURCES, INSUFFICIENT_SIZE, MEMORY: no room
///   kGone         GPU_IS_LOST, RESET_REQUIRED: the device needs a reset or is off the bus
///   kTimeout      TIMEOUT
///   kUnavailable  the driver is not loaded, is of another version than the library, or is not ready
///   kIo           anything else
///
/// Thread-safe, as NVML is.
class Nvml {
 public:
  /// The first of `paths` that opens, started. kNotFound when none does (no driver is installed, a normal state),
  /// otherwise what nvmlInit says. `flags` are nvml::kInitFlag….
  static Result<std::unique_ptr<Nvml>> Open(const std::vector<std::string>& paths, unsigned flags = 0);
  /// The same on functions that are there already.
  static Result<std::unique_ptr<Nvml>> Start(const nvml::Functions& functions, unsigned flags = 0);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Where the library was found.
  const std::string& path() const { return path_; }
  const nvml::Functions& functions() const { return functions_; }

  template <class... P>
  using Function = nvml::Return (*nvml::Functions::*)(P...);

  /// Calls it; FUNCTION_NOT_FOUND when the library has none.
  template <class... P, class... A>
  nvml::Return Try(Function<P...> function, A... args) const {
    auto* const f = functions_.*function;
    return f == nullptr ? nvml::Return::kFunctionNotFound : f(args...);
  }

  template <class... P, class... A>
  Result<> Call(Function<P...> function, A... args) const {
    const nvml::Return answer = Try(function, args...);
    if (answer != nvml::Return::kSuccess) return std::unexpected(ErrorOf(MemberIndex(function), answer));
    return {};
  }

  /// What the function's last parameter is filled with.
  template <class... P, class... A>
  auto Get(Function<P...> function, A... args) const
      -> Result<std::remove_pointer_t<std::tuple_element_t<sizeof...(P) - 1, std::tuple<P...>>>> {
    std::remove_pointer_t<std::tuple_element_t<sizeof...(P) - 1, std::tuple<P...>>> out{};
    TRY(Call(function, args..., &out));
    return out;
  }

  /// The same for a struct that must say its version.
  template <class... P, class... A>
  auto GetVersion(unsigned version, Function<P...> function, A... args) const
      -> Result<std::remove_pointer_t<std::tuple_element_t<sizeof...(P) - 1, std::tuple<P...>>>> {
    std::remove_pointer_t<std::tuple_element_t<sizeof...(P) - 1, std::tuple<P...>>> out{};
    out.version = version;
    TRY(Call(function, args..., &out));
    return out;
  }

  /// The text that a function with (…, char* text, unsigned length) writes.
  template <class... P, class... A>
  Result<std::string> GetText(Function<P...> function, A... args) const {
    char text[kTextSize] = {};
    TRY(Call(function, args..., text, kTextSize - 1));
    return std::string(text);
  }

  /// NVML's sentence for an answer: "Insufficient Permissions".
  std::string Sentence(nvml::Return answer) const;

  /// Resets a GPU through a call that is not NVML's own but that a library may offer, as a simulated machine's does:
  /// `nvmlReturn_t gpuopMachineResetDevice(nvmlDevice_t)`. FUNCTION_NOT_FOUND without one.
  nvml::Return ResetDevice(nvml::Device device) const;

  /// Handles of all GPUs by index; nullopt for one whose handle cannot be had, with the reason.
  struct Handle {
    nvml::Device device = nullptr;
    std::optional<Error> error;
  };
  Result<std::vector<Handle>> Devices() const;

  /// MIG devices of a GPU by MIG index; none when MIG is off or unknown.
  Result<std::vector<nvml::Device>> MigDevices(nvml::Device device) const;
  /// GPU instances with the profile of this id.
  Result<std::vector<nvml::GpuInstance>> GpuInstances(nvml::Device device, unsigned profile_id) const;
  /// Compute instances with the profile of this id.
  Result<std::vector<nvml::ComputeInstance>> ComputeInstances(nvml::GpuInstance instance, unsigned profile_id) const;

  /// Programs on a device, whichever form of the call the driver has; the instances are kGpuInstanceIdAny where it does
  /// not say.
  enum class ProcessKind { kCompute, kGraphics, kMps };
  Result<std::vector<nvml::ProcessInfo>> Processes(nvml::Device device, ProcessKind kind) const;

 private:
  static constexpr unsigned kTextSize = 256;

  Nvml(std::optional<os::Library> library, std::string path, const nvml::Functions& functions)
      : library_(std::move(library)), path_(std::move(path)), functions_(functions) {}
  static Result<std::unique_ptr<Nvml>> Start(std::optional<os::Library> library, std::string path,
                                             const nvml::Functions& functions, unsigned flags);

  static Error ErrorOf(std::size_t index, nvml::Return answer);

  std::optional<os::Library> library_;
  const std::string path_;
  const nvml::Functions functions_;
  bool started_ = false;
};

/// The Code of a call's answer, as listed at Nvml.
Code CodeOf(nvml::Return answer);

}  // namespace gpuop::gpu
