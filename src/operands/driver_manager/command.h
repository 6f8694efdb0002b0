#pragma once

#include <span>

namespace gpuop::operands::driver_manager {

/// `driver-manager` (also called k8s-driver-manager): `uninstall_driver` makes room for a driver container,
/// `preflight_check` does nothing. Its settings come from the environment.
int RunDriverManager(std::span<char* const> args);

}  // namespace gpuop::operands::driver_manager
