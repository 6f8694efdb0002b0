#pragma once
// The NVSwitches of a machine: where sysfs shows them and where NVML says that links end.

#include <cstdint>

#include "machine/state/layout.h"

namespace gpuop::machine {

/// How many an HGX board has: six with the A100, four with the H100, two with later ones.
inline std::uint32_t SwitchCount(const layout::Machine& machine) {
  const layout::Architecture architecture = machine.devices[0].facts.architecture;
  return architecture == layout::Architecture::kAmpere ? 6 : architecture == layout::Architecture::kHopper ? 4 : 2;
}

/// The PCI bus of one of them, in domain 0; it is device 0 there.
inline std::uint32_t SwitchBus(std::uint32_t number) { return 0xe0 + number; }

}  // namespace gpuop::machine
