#pragma once

#include <span>

namespace gpuop::container {

/// `nvidia-cdi-hook COMMAND …`, and the same behind `nvidia-ctk hook`: `args` are those behind the program's name, or
/// behind "hook". Reads the OCI state from standard input. 0 also for commands and flags it does not know, because a
/// spec may be newer than the hook that is installed.
int RunCdiHook(std::span<char* const> args);

}  // namespace gpuop::container
