#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "base/mutex.h"

namespace gpuop {

/// Worker threads on the machine's clocks. Tasks may block; while `workers` of them do, the others wait.
/// The destructor lets running tasks finish, drops waiting ones and joins.
class ThreadExecutor final : public Executor {
 public:
  explicit ThreadExecutor(std::size_t workers);
  ~ThreadExecutor() override;

  TimePoint Now() const override { return system_.Now(); }
  WallTime Wall() const override { return system_.Wall(); }
  void PostAt(TimePoint when, Task task) override;

 private:
  void Work(const std::stop_token& stop);

  SystemClock system_;
  Mutex mu_;
  std::condition_variable_any changed_;
  std::map<std::pair<TimePoint, std::uint64_t>, Task> tasks_ GUARDED_BY(mu_);
  std::uint64_t posted_ GUARDED_BY(mu_) = 0;
  std::vector<std::jthread> workers_;
};

}  // namespace gpuop
