#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "base/executor.h"
#include "base/rng.h"

namespace gpuop {

/// One thread, a virtual clock and a seed: time jumps to the next task, and among tasks due at the same moment
/// the seed picks the order. Two runs with the same seed and the same posts do the same things in the same order.
/// Not thread-safe: everything happens on the thread that calls Run*.
class VirtualExecutor final : public Executor {
 public:
  explicit VirtualExecutor(std::uint64_t seed) : rng_(seed) {}

  TimePoint Now() const override { return clock_.Now(); }
  WallTime Wall() const override { return clock_.Wall(); }
  void PostAt(TimePoint when, Task task) override;

  /// Runs the next task, moving the clock to its time. False when there is none.
  bool RunOne();
  /// Runs all that is due within `span` from now and leaves the clock at its end.
  void RunFor(Duration span);
  /// Runs until `done` holds (true) or `limit` of virtual time has passed or nothing is left to run (false).
  bool RunUntil(const std::function<bool()>& done, Duration limit);
  /// Tasks waiting, due or not.
  std::size_t Waiting() const { return tasks_.size(); }

  /// The run's random source, for whatever takes part in it.
  Rng& rng() { return rng_; }
  /// Adds `what` to the run's trace. Equal traces mean equal runs.
  void Trace(std::string_view what);
  std::uint64_t TraceHash() const { return trace_; }

 private:
  FakeClock clock_;
  Rng rng_;
  std::uint64_t trace_ = 0xcbf29ce484222325ULL;
  // Keyed by due time, then by a random number that breaks ties, then by the order of posting.
  std::map<std::tuple<TimePoint, std::uint64_t, std::uint64_t>, Task> tasks_;
  std::uint64_t posted_ = 0;
};

}  // namespace gpuop
