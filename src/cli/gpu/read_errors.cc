// What engines and programs write when a link of the chain is broken.

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/gpu/why.h"

namespace gpuop::cli::kubectl_gpu {
namespace {

using enum api::ReasonCode;
using api::ReasonCode;

struct Saying {
  /// All of them stand in the text, in lower case.
  std::array<std::string_view, 2> words;
  ReasonCode code;
};

// The first that fits counts, so the more exact ones come first.
constexpr Saying kEngine[] = {
    {{"failedmount"}, kVolumeNotMounted},
    {{"failedattachvolume"}, kVolumeNotMounted},
    {{"failedmapvolume"}, kVolumeNotMounted},
    {{"no match for platform"}, kArchitectureMismatch},
    {{"exec format error"}, kArchitectureMismatch},
    {{"unsatisfied condition: cuda"}, kCudaDriverTooOld},
    {{"nvidia-container-cli", "driver not loaded"}, kDriverNotLoaded},
    {{"nvidia-container-cli", "libnvidia-ml.so"}, kDriverLibraryMissing},
    {{"nvidia-container-cli", "driver/library version mismatch"}, kDriverVersionMismatch},
    {{"nvidia-container-cli", "unknown device"}, kGpuMissing},
    {{"nvidia-container-cli", "nvml error"}, kDriverFailed},
    {{"failed to stat cdi host device"}, kCdiSpecStale},
    {{"cdi", "no such file or directory"}, kCdiSpecStale},
    {{"unresolvable cdi devices"}, kCdiSpecMissing},
    {{"no cdi devices"}, kCdiSpecMissing},
    {{"cdi", "invalid"}, kCdiSpecInvalid},
    {{"cdi device injection failed"}, kCdiSpecMissing},
    {{"no runtime for"}, kRuntimeHandlerMissing},
    {{"runtimeclass", "not found"}, kRuntimeHandlerMissing},
    {{"runtime handler", "not supported"}, kRuntimeHandlerMissing},
    {{"failed to find runtime handler"}, kRuntimeHandlerMissing},
    {{"nvidia-container-runtime", "no such file"}, kToolkitNotReady},
    {{"nvidia-cdi-hook", "no such file"}, kToolkitNotReady},
    {{"\"nvidia-smi\"", "executable file not found"}, kDevicesNotInjected},
    {{"unexpectedadmissionerror"}, kAdmissionRefused},
    {{"outofnvidia.com/"}, kAdmissionRefused},
    {{"imagepullbackoff"}, kImageNotPulled},
    {{"errimage"}, kImageNotPulled},
    {{"invalidimagename"}, kImageNotPulled},
};

constexpr Saying kProgram[] = {
    {{"exec format error"}, kArchitectureMismatch},
    {{"libcuda.so", "cannot open shared object"}, kCudaLibraryMissing},
    {{"libnvidia-ml.so", "cannot open shared object"}, kCudaLibraryMissing},
    {{"couldn't find libnvidia-ml.so"}, kCudaLibraryMissing},
    {{"cuda driver version is insufficient"}, kCudaDriverTooOld},
    {{"cudaerrorinsufficientdriver"}, kCudaDriverTooOld},
    {{"cudaerrorunsupportedptxversion"}, kCudaDriverTooOld},
    {{"cudaerrorsystemdrivermismatch"}, kDriverVersionMismatch},
    {{"cudaerrorsystemnotready"}, kFabricNotReady},
    {{"cudaerrornodevice"}, kCudaNoDevice},
    {{"cudaerrornokernelimagefordevice"}, kCudaBinaryMismatch},
    {{"cudaerroreccuncorrectable"}, kEccUncorrected},
    {{"cudaerrormemoryallocation"}, kCudaOutOfMemory},
    {{"cudaerrordevicesunavailable"}, kGpuNeedsReset},
    {{"cudaerrorinitializationerror"}, kCudaInitFailed},
    {{"cuda_error_system_driver_mismatch"}, kDriverVersionMismatch},
    {{"driver/library version mismatch"}, kDriverVersionMismatch},
    {{"unsupported display driver / cuda driver combination"}, kDriverVersionMismatch},
    {{"cuda_error_system_not_ready"}, kFabricNotReady},
    {{"system not yet initialized"}, kFabricNotReady},
    {{"no cuda-capable device"}, kCudaNoDevice},
    {{"cuda_error_no_device"}, kCudaNoDevice},
    {{"no devices were found"}, kCudaNoDevice},
    {{"no cuda gpus are available"}, kCudaNoDevice},
    {{"no nvidia driver on your system"}, kCudaNoDevice},
    {{"no kernel image is available"}, kCudaBinaryMismatch},
    {{"cuda_error_no_binary_for_gpu"}, kCudaBinaryMismatch},
    {{"cuda_error_unsupported_ptx_version"}, kCudaDriverTooOld},
    {{"unsupported toolchain"}, kCudaDriverTooOld},
    {{"uncorrectable ecc error"}, kEccUncorrected},
    {{"cuda_error_ecc_uncorrectable"}, kEccUncorrected},
    {{"cuda out of memory"}, kCudaOutOfMemory},
    {{"cuda error", "out of memory"}, kCudaOutOfMemory},
    {{"cuda_error_out_of_memory"}, kCudaOutOfMemory},
    {{"cuda", "gpu is lost"}, kGpuLost},
    {{"unable to determine the device handle", "unknown error"}, kGpuOffBus},
    {{"cuda_error_devices_unavailable"}, kGpuNeedsReset},
    {{"all cuda-capable devices are busy or unavailable"}, kGpuNeedsReset},
    {{"cuda", "initialization error"}, kCudaInitFailed},
    {{"cuda_error_unknown"}, kCudaInitFailed},
    {{"cuda", "unknown error"}, kCudaInitFailed},
    {{"cuinit failed"}, kCudaInitFailed},
    {{"illegal memory access"}, kProgramFailed},
    {{"cuda_error_"}, kCudaFailed},
    {{"cudaerror"}, kCudaFailed},
    {{"cuda error"}, kCudaFailed},
};

template <std::size_t N>
std::optional<ReasonCode> Read(const Saying (&sayings)[N], const std::string& lower) {
  for (const Saying& s : sayings)
    if (std::ranges::all_of(s.words, [&](std::string_view w) { return lower.find(w) != std::string::npos; }))
      return s.code;
  return std::nullopt;
}

}  // namespace

std::optional<ReasonCode> ReadEngineError(std::string_view text) { return Read(kEngine, ToLower(text)); }

std::optional<ReasonCode> ReadProgramError(std::string_view log, std::string& line) {
  // The first line that says it: what follows it is often only a trace.
  for (const std::string_view each : Split(log, '\n')) {
    if (const auto code = Read(kProgram, ToLower(each))) {
      line = Trim(each);
      return code;
    }
  }
  return std::nullopt;
}

}  // namespace gpuop::cli::kubectl_gpu
