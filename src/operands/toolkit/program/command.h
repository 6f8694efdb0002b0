#pragma once

#include <span>

namespace gpuop::operands::toolkit {

/// `nvidia-ctk-installer` (also `nvidia-toolkit`): installs the runtime and hooks, writes the management CDI spec, has
/// the engine know the runtimes, and waits; a signal takes the engine's part back. `args` are those behind its name.
/// 0, or 1 with the reason on standard error.
int RunToolkit(std::span<char* const> args);

}  // namespace gpuop::operands::toolkit
