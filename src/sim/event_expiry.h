#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "base/executor.h"
#include "sim/store.h"

namespace gpuop::sim {

/// Removes Events that nobody has written for an hour, as kube-apiserver does (--event-ttl), by the store itself: no
/// admission, no finalizers. Those read from a state file count from the time at which this is made. Keeps nothing of
/// an Event: what was last written before a revision is old when that revision is. Lives on the store's thread.
class EventExpiry {
 public:
  static constexpr Duration kLifetime = std::chrono::hours(1);
  /// Events of this long go together.
  static constexpr Duration kTogether = std::chrono::seconds(30);

  /// Both outlive it. Made after the state file was read.
  EventExpiry(Executor& executor, Store& store);

 private:
  /// All that was last written up to `revision` has had its hour at `at`.
  struct Due {
    TimePoint at;
    std::uint64_t revision;
  };
  void Note(std::uint64_t revision);
  void Arm();
  void Expire();

  Executor& executor_;
  Store& store_;
  std::deque<Due> due_;  // in the order of their times
  std::string from_;     // where in the table the first of them is being carried out
  bool armed_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace gpuop::sim
