#pragma once

#include "machine/cuda/ptx/cursor.h"
#include "machine/cuda/ptx/module.h"

namespace gpuop::machine::ptx {

/// Reads a function's body, now() at its '{', into `function`, whose name and formals are there. Names of registers,
/// variables and labels are resolved; what is left as kSymbol belongs to the module. Variables in .shared, .global and
/// .const declared inside get their place in `function.variables` like .local ones.
Result<> ParseBody(Cursor& in, Function& function);

}  // namespace gpuop::machine::ptx
