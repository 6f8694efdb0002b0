#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>

#include "base/mutex.h"
#include "base/text.h"
#include "gpu/driver_root.h"
#include "gpu/nvml.h"
#include "operands/validator/compute.h"

namespace gpuop::operands::validator {
namespace {

using enum api::ReasonCode;

/// For one device; contexts take seconds where the driver does not keep GPUs awake.
std::chrono::seconds Limit() {
  const char* const text = std::getenv(kDeviceLimit);
  const auto seconds = text == nullptr ? std::nullopt : ParseInt(text);
  return std::chrono::seconds(seconds && *seconds > 0 ? *seconds : 30);
}
constexpr const char* kTerminationLog = "/dev/termination-log";

[[noreturn]] void End(const api::Finding& finding) {
  const bool right = finding.code == kProved;
  std::fprintf(right ? stdout : stderr, "vectorAdd: %s: %s\n", api::Find(finding.code).name.data(),
               finding.evidence.c_str());
  std::fflush(nullptr);
  const std::string text = WriteFinding(finding);
  // Kubernetes makes the file; without it there is nobody to tell.
  if (const int log = ::open(kTerminationLog, O_WRONLY | O_CLOEXEC); log >= 0) {
    static_cast<void>(!::write(log, text.data(), text.size()));
    ::close(log);
  }
  // A thread may hang in the driver, and ending CUDA may too.
  std::_Exit(right ? 0 : 1);
}

/// What the working thread tells the one that looks at the clock.
struct Progress {
  Mutex mu;
  std::condition_variable_any changed;
  std::string device GUARDED_BY(mu);
  unsigned begun GUARDED_BY(mu) = 0;
};

/// UUIDs (without "GPU-") on which programs compute, where the container may ask.
std::set<std::string> BusyDevices() {
  std::set<std::string> out;
  const auto nvml = gpu::Nvml::Open(gpu::DriverLibraryCandidates({}, "libnvidia-ml.so.1"));
  if (!nvml) return out;
  const auto handles = (*nvml)->Devices();
  if (!handles) return out;
  for (const gpu::Nvml::Handle& handle : *handles) {
    if (handle.device == nullptr) continue;
    const auto programs = (*nvml)->Processes(handle.device, gpu::Nvml::ProcessKind::kCompute);
    const auto uuid = (*nvml)->GetText(&gpu::nvml::Functions::DeviceGetUUID, handle.device);
    if (programs && !programs->empty() && uuid && uuid->starts_with("GPU-")) out.insert(uuid->substr(4));
  }
  return out;
}

api::Finding OfOpenError(const Error& error) {
  if (error.code == Code::kNotFound) return {kCudaLibraryMissing, error.text};
  const api::ReasonCode code = ReasonOfCuda(error);
  struct stat info{};
  if (code == kCudaInitFailed && ::stat("/dev/nvidia-uvm", &info) != 0)
    return {kUvmMissing, error.text + "; /dev/nvidia-uvm is not in the container"};
  return {code, error.text};
}

[[noreturn]] void Work(Progress& progress) {
  const auto driver = gpu::cuda::Driver::Open(gpu::DriverLibraryCandidates({}, "libcuda.so.1"));
  if (!driver) End(OfOpenError(driver.error()));
  const std::set<std::string> busy = BusyDevices();
  const ComputeResult result = Compute(
      **driver, [&](const std::string& uuid) { return busy.contains(uuid); },
      [&](const std::string& device) {
        Lock l(progress.mu);
        progress.device = device;
        ++progress.begun;
        progress.changed.notify_all();
      });
  End(result.finding);
}

}  // namespace

int RunVectorAdd(std::span<char* const>) {
  const std::chrono::seconds limit = Limit();
  Progress progress;
  std::jthread worker([&] { Work(progress); });
  Lock l(progress.mu);
  for (;;) {
    const unsigned begun = progress.begun;
    if (progress.changed.wait_for(progress.mu, limit, [&]() REQUIRES(progress.mu) { return progress.begun != begun; }))
      continue;
    End({kCudaHung, fmt::format("{}: no end after {} s",
                                progress.device.empty() ? "the start of CUDA" : progress.device, limit.count())});
  }
}

}  // namespace gpuop::operands::validator
