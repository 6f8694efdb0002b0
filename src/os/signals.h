#pragma once

#include <signal.h>

#include <functional>
#include <memory>
#include <stop_token>
#include <thread>

#include "base/result.h"
#include "os/fd.h"

namespace gpuop::os {

/// Turns SIGINT, SIGTERM and SIGQUIT into a stop_token. Make one at the beginning of main, before any thread: those
/// signals are blocked from then on in the calling thread and all that it starts, and read by a thread of this object.
/// A second signal ends the process at once, as it would without us. Destroy it on the thread that made it.
class StopSignals {
 public:
  /// With `on_hangup` SIGHUP is caught as well: each calls it, on the thread of this object.
  static Result<std::unique_ptr<StopSignals>> Catch(std::function<void()> on_hangup = {});
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  std::stop_token token() const { return asked_.get_token(); }
  /// For a process that is about to become another program that catches them in turn: after the destructor the signals
  /// are still blocked, and one that comes waits for that program.
  void LeaveBlocked() { leave_blocked_ = true; }

 private:
  StopSignals(Fd signals, Fd end, const sigset_t& before, std::function<void()> on_hangup);
  void Wait();

  Fd signals_, end_;
  sigset_t before_;
  const std::function<void()> on_hangup_;
  bool leave_blocked_ = false;
  std::stop_source asked_;
  std::jthread thread_;
};

}  // namespace gpuop::os
