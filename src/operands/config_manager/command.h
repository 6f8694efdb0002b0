#pragma once

#include <span>

namespace gpuop::operands::config_manager {

/// The program config-manager. Exit status: 0, 1 when no configuration can be linked (with --oneshot) or the API cannot
/// be reached at all, 2 for a wrong command line.
int RunConfigManager(std::span<char* const> args);

}  // namespace gpuop::operands::config_manager
