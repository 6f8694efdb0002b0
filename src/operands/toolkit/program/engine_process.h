#pragma once
// The process that is an engine: which one it is, and whether it follows what it is told.

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "container/engine/config.h"
#include "os/fd.h"
#include "os/fs.h"

namespace gpuop::operands::toolkit {

/// The process at the other end of a unix socket, by the kernel's word: who listens there; of Docker's, whose socket
/// systemd may have made and hold (docker.socket), who answers. kUnavailable when nobody does.
Result<int> ProcessBehind(const std::string& socket, container::EngineKind engine);

/// A process as it is now.
struct EngineProcess {
  int pid = 0;
  /// When it began, on the clock of TicksSinceBoot; nullopt when that is not to be seen.
  std::optional<std::int64_t> began;
  /// Becomes readable when it has ended; invalid where the kernel knows none.
  os::Fd handle;

  bool Is(const EngineProcess& other) const { return pid == other.pid && began == other.began; }
};
EngineProcess LookAtProcess(int pid);

/// The clock of EngineProcess::began: hundredths of a second, as a rule.
std::int64_t TicksSinceBoot();

/// "process 812 (containerd)".
std::string NameOfProcess(const os::Fs& host, int pid);

/// kUnsupported, with what to do, when SIGHUP would be lost on the process (SigIgn in /proc/PID/status): whatever a
/// program that was started by nohup starts ignores it, and so an engine that does not ask for it.
Result<> TakesHangup(const os::Fs& host, int pid);

/// Sends SIGHUP. `must_end`: it is by ending that the engine reads its configuration anew. kUnavailable when it is
/// still there after `limit`.
Result<> SendHangup(const os::Fs& host, const EngineProcess& process, bool must_end, Duration limit);

/// After `unit` was restarted: kUnavailable when the process that answered before is still there after `limit`.
Result<> AwaitRestart(const os::Fs& host, const EngineProcess& before, const std::string& unit, Duration limit);

}  // namespace gpuop::operands::toolkit
