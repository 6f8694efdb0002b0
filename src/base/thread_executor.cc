#include "base/thread_executor.h"

#include <optional>

namespace gpuop {

ThreadExecutor::ThreadExecutor(std::size_t workers) {
  workers_.reserve(workers);
  for (std::size_t i = 0; i < workers; ++i) workers_.emplace_back([this](const std::stop_token& stop) { Work(stop); });
}

ThreadExecutor::~ThreadExecutor() {
  for (std::jthread& w : workers_) w.request_stop();
  workers_.clear();
  // Destroying a task may post another; those find no worker and are dropped here too.
  for (;;) {
    std::map<std::pair<TimePoint, std::uint64_t>, Task> dropped;
    {
      Lock l(mu_);
      dropped.swap(tasks_);
    }
    if (dropped.empty()) break;
  }
}

void ThreadExecutor::PostAt(TimePoint when, Task task) {
  Lock l(mu_);
  tasks_.emplace(std::pair(when, ++posted_), std::move(task));
  changed_.notify_one();
}

void ThreadExecutor::Work(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::optional<Task> task;
    {
      Lock l(mu_);
      if (tasks_.empty()) {
        changed_.wait(mu_, stop, [this]() REQUIRES(mu_) { return !tasks_.empty(); });
        continue;
      }
      const TimePoint due = tasks_.begin()->first.first;
      if (due > Now()) {
        changed_.wait_until(mu_, stop, due, [this, due]() REQUIRES(mu_) {
          return tasks_.empty() || tasks_.begin()->first.first < due;
        });
        continue;
      }
      task = std::move(tasks_.extract(tasks_.begin()).mapped());
      // Somebody else may be waiting for a later time than what is now first.
      if (!tasks_.empty()) changed_.notify_one();
    }
    (*task)();
  }
}

}  // namespace gpuop
