#pragma once

#include "base/log.h"
#include "base/result.h"
#include "operands/toolkit/program/options.h"
#include "os/fd.h"

namespace gpuop::operands::toolkit {

/// The word that makes `nvidia-ctk-installer` a guard; before the flags of the toolkit that it guards.
inline constexpr const char* kGuardWord = "guard";
/// The descriptor by which it hears of its change.
inline constexpr int kGuardLine = 3;

/// A process that watches this one while it changes an engine's configuration. Should this process end before the
/// change is whole, or make nothing of it for ten minutes, the guard does what the next start would, for two
/// minutes if it must: it undoes or finishes the change by the journal and makes the engine follow. In a Pod it leaves
/// the Pod's control group, so that the end of the container is not its own.
class Guard {
 public:
  static Result<Guard> Start(const Options& options);
  Guard(Guard&&) = default;
  Guard& operator=(Guard&&) = default;
  /// The change is over, in whatever way: the guard ends, and has ended when this returns.
  ~Guard();

 private:
  Guard(os::Fd line, int pid) : line_(std::move(line)), pid_(pid) {}
  os::Fd line_;
  int pid_ = 0;
};

/// The guard's own life: `line` says when the change is over, and closes when the guarded process `guarded` ends.
/// 0: nothing had to be done, or it was done.
int RunGuard(const Options& options, int line, int guarded, Log& log);

}  // namespace gpuop::operands::toolkit
