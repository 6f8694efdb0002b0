#pragma once

#include <string>

#include "machine/state/layout.h"

namespace gpuop::machine {

/// A machine's state for people: one line for each device, its MIG instances and processes, and the faults there are.
std::string ShowMachine(const layout::Machine& machine);

}  // namespace gpuop::machine
