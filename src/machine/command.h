#pragma once

#include <span>

namespace gpuop::machine {

/// `gpu-operator machine`: simulated machines outside any cluster: make one, run programs on it, break it, look at it.
/// Returns the exit status; `machine run` that of the program.
int RunMachine(std::span<char* const> args);

}  // namespace gpuop::machine
