#pragma once
// Where work runs. Nothing in this project sleeps or spins: what waits is a task posted for later.

#include <functional>
#include <string_view>

#include "base/clock.h"

namespace gpuop {

/// Runs tasks, now or later. `ThreadExecutor` uses worker threads in life; `VirtualExecutor` runs everything
/// in one thread on a virtual clock, so that a whole cluster's run is a function of its seed.
///
/// There is no cancel: a task whose owner may be gone holds a weak_ptr and does nothing when it has expired.
class Executor : public Clock {
 public:
  using Task = std::move_only_function<void()>;

  /// Runs `task` as soon as a thread is free. Thread-safe; callable from inside a task. Never runs it inline.
  void Post(Task task) { PostAt(Now(), std::move(task)); }
  void PostAfter(Duration delay, Task task) { PostAt(Now() + delay, std::move(task)); }
  /// Runs `task` once `when` has come. Tasks still waiting when the executor stops are destroyed, not run.
  virtual void PostAt(TimePoint when, Task task) = 0;
};

}  // namespace gpuop
