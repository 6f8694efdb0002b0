#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "api/chain.h"
#include "gpu/cuda/driver.h"

namespace gpuop::operands::validator {

/// What came of computing on the devices that this container was given.
struct ComputeResult {
  /// kProved, or what is broken.
  api::Finding finding = {};
  unsigned proved = 0;
  /// UUIDs of devices that a program holds for itself, or has filled: they were left alone.
  std::vector<std::string> busy = {};
};

/// Runs our kernels on every device and compares each bit of the results. A device that `is_busy` (by UUID) may refuse
/// without being broken. `on_device` is told before each device, with words for people: whoever watches over the time
/// knows where it went.
ComputeResult Compute(const gpu::cuda::Driver& driver, const std::function<bool(const std::string& uuid)>& is_busy,
                      const std::function<void(const std::string& device)>& on_device);

/// What an error of CUDA means for the chain.
api::ReasonCode ReasonOfCuda(const Error& error);

/// The termination message by which the workload tells its Pod's creator, and back; kInvalid for text of other images.
std::string WriteFinding(const api::Finding& finding);
Result<api::Finding> ReadFinding(std::string_view text);

/// The variable that says how many seconds `vectorAdd` may take for one device; 30 without it.
inline constexpr const char* kDeviceLimit = "DEVICE_LIMIT_SECONDS";

/// `vectorAdd`: computes on all devices of this container within a limit, prints what it did and leaves a termination
/// message. 0 when everything was right.
int RunVectorAdd(std::span<char* const> args);

}  // namespace gpuop::operands::validator
