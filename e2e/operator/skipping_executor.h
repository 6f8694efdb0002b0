#pragma once

#include <atomic>
#include <map>
#include <utility>

#include "base/mutex.h"
#include "base/thread_executor.h"

namespace gpuop::e2e {

/// Worker threads on clocks that go as the machine's do and can be put forward: what is due in an hour need not be
/// waited for. Tasks may block.
class SkippingExecutor final : public Executor {
 public:
  explicit SkippingExecutor(std::size_t workers) : threads_(workers) {}
  ~SkippingExecutor() override;

  TimePoint Now() const override { return threads_.Now() + skipped(); }
  WallTime Wall() const override { return threads_.Wall() + skipped(); }
  void PostAt(TimePoint when, Task task) override;
  /// Puts the clocks forward. What becomes due by it runs in its order.
  void Skip(Duration span);

 private:
  Duration skipped() const { return Duration(skipped_.load()); }
  void PostDue();

  std::atomic<Duration::rep> skipped_ = 0;
  Mutex mu_;
  std::map<std::pair<TimePoint, std::uint64_t>, Task> waiting_ GUARDED_BY(mu_);
  std::uint64_t posted_ GUARDED_BY(mu_) = 0;
  bool ending_ GUARDED_BY(mu_) = false;
  ThreadExecutor threads_;
};

}  // namespace gpuop::e2e
