#pragma once

#include <memory>
#include <utility>

#include "base/mutex.h"
#include "net/io_thread.h"

namespace gpuop::net {

/// Stands between a source of calls on the I/O thread and the sink that takes them, so that the sink's owner can end
/// the calls from anywhere: when Close has returned no call is running (but for one that itself called Close) and
/// none will come.
template <class Sink>
class SinkGate {
 public:
  SinkGate(IoThread& io, std::shared_ptr<Sink> sink) : io_(io), sink_(std::move(sink)) {}

  /// Calls `f(sink)`, unless closed. On the I/O thread.
  template <class F>
  void Tell(F&& f) {
    if (telling_) return;  // only a call that has closed the gate can lead here again
    Lock l(mu_);
    telling_ = true;
    // A copy: the call may close the gate.
    if (const std::shared_ptr<Sink> sink = sink_) f(*sink);
    telling_ = false;
  }

  /// Tell, and close with it.
  template <class F>
  void TellLast(F&& f) {
    if (telling_) return;
    std::shared_ptr<Sink> sink;  // destroyed after the lock is gone
    Lock l(mu_);
    telling_ = true;
    sink = std::exchange(sink_, nullptr);
    if (sink) f(*sink);
    telling_ = false;
  }

  /// Once, by the owner.
  void Close() {
    std::shared_ptr<Sink> sink;
    if (io_.OnThread()) {
      // No other thread tells, and this one is either not telling or inside a call.
      sink = std::exchange(sink_, nullptr);
      return;
    }
    Lock l(mu_);
    sink = std::exchange(sink_, nullptr);
  }

 private:
  IoThread& io_;
  Mutex mu_;  // held during calls, and for sink_ off the I/O thread
  std::shared_ptr<Sink> sink_;
  bool telling_ = false;  // on the I/O thread only
};

}  // namespace gpuop::net
