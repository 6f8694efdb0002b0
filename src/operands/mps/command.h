#pragma once

#include <span>

namespace gpuop::operands::mps {

/// The program mps-control-daemon. Exit status: 0, 1 for a failure, 2 for a wrong command line or, at the start, a
/// wrong settings file.
int RunMpsControlDaemon(std::span<char* const> args);

}  // namespace gpuop::operands::mps
