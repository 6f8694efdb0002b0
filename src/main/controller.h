#pragma once

#include <span>

namespace gpuop {

/// `gpu-operator controller`: the cluster side, until SIGINT or SIGTERM. Returns the exit status: 0 after a clean end,
/// 1 when it could not start, 2 for wrong arguments.
int RunController(std::span<char* const> args);

}  // namespace gpuop
