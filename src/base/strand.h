#pragma once

#include <memory>

#include "base/executor.h"

namespace gpuop {

/// Runs tasks one at a time and in the order they were posted, on an Executor with any number of threads. So what a
/// strand's tasks touch needs no lock.
///
/// Make it the last member of its owner: when its destructor has returned, no task of its runs and none will, hence
/// tasks may capture the owner's `this`. Destroyed from inside one of its own tasks, that task is the last.
class Strand {
 public:
  explicit Strand(Executor& executor);
  ~Strand();
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

  /// Thread-safe, as is PostAfter. After Close tasks are destroyed, not run.
  void Post(Executor::Task task);
  /// Posts `task` once `delay` has passed.
  void PostAfter(Duration delay, Executor::Task task);
  /// Drops the waiting tasks and waits for the running one, unless that is the caller.
  void Close();

  Executor& executor() const { return executor_; }

 private:
  struct State;
  static void Enqueue(const std::shared_ptr<State>& state, Executor::Task task);
  static void RunNext(const std::shared_ptr<State>& state);

  Executor& executor_;
  std::shared_ptr<State> state_;
};

}  // namespace gpuop
