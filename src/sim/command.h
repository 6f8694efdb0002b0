#pragma once

#include <span>

namespace gpuop::sim {

/// `gpu-operator sim`: the embedded cluster on loopback until SIGINT or SIGTERM. Writes a kubeconfig and three lines to
/// try. Returns the exit status: 0 after a clean end, 1 when it could not start, 2 for wrong arguments.
int RunSim(std::span<char* const> args);

}  // namespace gpuop::sim
