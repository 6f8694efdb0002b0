#pragma once

#include <span>

#include "machine/cuda/exec/warp.h"

namespace gpuop::machine::exec {

/// What `name` is of the device's run-time library (vprintf, __assertfail, malloc, free); kNone: nothing of it.
Builtin BuiltinNamed(std::string_view name);

/// Runs it for one lane; `args` are the low 8 bytes of each argument. Returns its result.
std::uint64_t RunBuiltin(Warp& warp, Builtin builtin, std::span<const std::uint64_t> args, int lane);

}  // namespace gpuop::machine::exec
