#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "operands/validator/gpu_check.h"
#include "os/process.h"

namespace gpuop::operands::validator {

/// The word that starts the child below: `nvidia-validator ask-driver LIBRARY…`.
inline constexpr const char* kAskDriver = "ask-driver";

/// Asks the driver whose NVML is the first of `libraries` that opens. It is done in a child, this program once more: a
/// driver that hangs or crashes takes nothing with it, and no memory of NVML's stays behind. What goes wrong is in the
/// findings: kDriverHung after `limit`, kDriverFailed when the child dies.
DriverState AskDriverInChild(os::Processes& processes, const std::vector<std::string>& libraries, Duration limit,
                             const std::stop_token& stop);

/// The child: prints what AskDriver says of the first library that opens. Does not return when all went well.
int RunAskDriver(std::span<char* const> libraries);

/// The text between both.
std::string WriteDriverState(const DriverState& state);
Result<DriverState> ReadDriverState(std::string_view text);

}  // namespace gpuop::operands::validator
