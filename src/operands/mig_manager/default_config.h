#pragma once

#include <string>

namespace gpuop::operands::mig_manager {

/// The layouts that nodes may name in their label nvidia.com/mig.config, as mig-parted's configuration (YAML): the 81
/// names that NVIDIA ships, each with the same devices.
std::string DefaultLayouts();

/// systemd services of a host that hold GPUs and must stop while a layout changes (YAML).
std::string DefaultClients();

}  // namespace gpuop::operands::mig_manager
