#pragma once

#include "machine/spec/spec.h"
#include "machine/state/layout.h"

namespace gpuop::machine {

/// Fills a machine of zeros with what a checked spec says, switched on for the first time: devices idle, MIG as
/// wished, the spec's faults there. kInvalid, naming the field, for a fault that a GPU cannot have.
Result<> BuildMachine(const Spec& spec, layout::Machine& machine);

}  // namespace gpuop::machine
