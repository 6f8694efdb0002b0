#pragma once

#include "operands/validator/components.h"

namespace gpuop::operands::validator {

/// Keeps the node's condition true until the stop token asks for the end: looks at the whole chain when it begins, and
/// again whenever device nodes, status files, CDI specifications, the engine's configuration or socket, what the node
/// offers, or its MIG state change, and when the kernel's log tells of an Xid. A change of driver, engine or MIG is
/// proved by a new workload Pod. A broken chain is looked at again after ten seconds, doubling to five minutes, because
/// not every repair can be heard. At the end the status files (*-ready) are removed: nobody looks any more.
Result<> RunWatch(const Surroundings& with);

}  // namespace gpuop::operands::validator
