#pragma once

#include <span>

namespace gpuop::operands::gfd {

/// The program gpu-feature-discovery. Exit status: 0, 1 for a failure at the start, 2 for a wrong command line or
/// settings file.
int RunGfd(std::span<char* const> args);

}  // namespace gpuop::operands::gfd
