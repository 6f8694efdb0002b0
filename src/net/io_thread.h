#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include "base/executor.h"

namespace gpuop::net {

/// The thread that everything with a socket runs on: servers, clients and their handlers. It is also an Executor, so
/// that other single-threaded parts can live on the same thread. Tasks must not block and must be short (20 ms).
///
/// Either `Start` gives it a thread of its own, or `Run` makes the caller's thread the I/O thread: then a whole
/// program (HTTP, core, controllers) is one thread. Whatever was made on an IoThread is destroyed before it.
class IoThread final : public Executor {
 public:
  IoThread();
  /// Stops and joins its own thread, if any; tasks that have not run are destroyed.
  ~IoThread() override;
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  /// Begins to run on a thread of its own. Once.
  void Start();
  /// Runs on this thread until `stop` is asked for (or Stop is called). Tasks posted before or after wait for the next
  /// Run.
  void Run(std::stop_token stop);
  /// Makes Run return, and a thread begun by Start end, after the task that is running. Thread-safe.
  void Stop();
  /// Whether the caller is on the I/O thread.
  bool OnThread() const;
  /// Runs `task` now when on the I/O thread, otherwise posts it.
  void Dispatch(Task task);
  /// Runs `task` on the I/O thread and returns when it has run; runs it here while no thread is the I/O thread.
  void RunAndWait(Task task);

  TimePoint Now() const override { return system_.Now(); }
  WallTime Wall() const override { return system_.Wall(); }
  void PostAt(TimePoint when, Task task) override;

  /// The parts that need Asio; for this room's own files (net/detail).
  struct Core;
  Core& core() { return *core_; }

 private:
  SystemClock system_;
  std::unique_ptr<Core> core_;
};

}  // namespace gpuop::net
