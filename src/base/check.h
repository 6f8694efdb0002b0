#pragma once

namespace gpuop {

/// Prints `file:line: what` to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* what);

}  // namespace gpuop

/// An invariant of ours. When it does not hold the process ends: a restart is cheaper than a wrong label.
#define GPUOP_CHECK(cond) \
  if (!(cond)) ::gpuop::CheckFailed(__FILE__, __LINE__, #cond)
