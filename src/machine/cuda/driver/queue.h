#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <utility>

#include "base/mutex.h"

namespace gpuop::machine::cuda {

/// The work of one context, done in the order it was given, by a thread of its own. Streams only promise less order
/// than this. Thread-safe.
class Queue {
 public:
  using Task = std::move_only_function<void()>;
  using Ticket = std::uint64_t;

  Queue();
  /// Does what is left, then ends the thread.
  ~Queue();

  Ticket Push(Task task);
  /// Returns when everything up to `ticket` is done. Not from inside a task.
  void Wait(Ticket ticket);
  bool Done(Ticket ticket) const;
  /// The latest ticket that was given; 0: none yet.
  Ticket last() const;

 private:
  void Work();

  mutable Mutex mu_;
  std::condition_variable_any more_, less_;
  std::deque<Task> waiting_ GUARDED_BY(mu_);
  Ticket given_ GUARDED_BY(mu_) = 0, done_ GUARDED_BY(mu_) = 0;
  bool over_ GUARDED_BY(mu_) = false;
  std::jthread thread_;
};

}  // namespace gpuop::machine::cuda
