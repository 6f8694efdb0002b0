#pragma once

#include <span>

namespace gpuop::sim {

/// `gpu-operator sim fault NODE WHAT …`: makes something happen to a machine of a running `gpu-operator sim`, which the
/// kubeconfig names. Returns the exit status: 0, 1 when it did not happen, 2 for wrong arguments.
int RunMachineFault(std::span<char* const> args);

}  // namespace gpuop::sim
