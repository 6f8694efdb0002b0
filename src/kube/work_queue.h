#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "kube/back_off.h"

namespace gpuop::kube {

/// Keys that need a turn. A key waits once however often it is added, is never in two hands at a time, and any number
/// of Adds while it is being worked on become exactly one more turn, behind the others that wait (so a busy key does
/// not starve them). Passive: it owns no thread. Thread-safe.
class WorkQueue {
 public:
  struct Options {
    /// "node-labels": the `name` label of the metrics.
    std::string name = {};
    /// How a failed key waits. From 5 ms to 1000 s, as Kubernetes' own controllers do.
    BackOff back_off{std::chrono::milliseconds(5), std::chrono::seconds(1000), 0.1};
    std::uint64_t seed = 1;
    MetricRegistry* metrics = nullptr;
  };

  /// `on_ready` is called, without a lock held and possibly from inside Add or Done, whenever Take may give a key.
  WorkQueue(Executor& executor, Options options, std::function<void()> on_ready);
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  void Add(std::string_view key);
  /// Adds `key` once `delay` has passed. The earliest of several counts. A turn in between does not cancel it.
  void AddAfter(std::string_view key, Duration delay);

  /// The key that has waited longest, now in the caller's hands until Done, Again or Failed; nullopt when none waits.
  std::optional<std::string> Take();
  /// The turn went well: the key's failures are forgotten.
  void Done(const std::string& key);
  /// The turn went well and asks for another after `delay`, unless one comes earlier.
  void Again(const std::string& key, Duration delay);
  /// The turn failed: the key comes back after its back-off, which is the answer.
  Duration Failed(const std::string& key);

  /// Drops a key that waits, its delays and its failures. One in somebody's hands stays there.
  void Forget(const std::string& key);

  /// Keys that wait for a turn now.
  std::size_t Depth() const;
  /// Keys in somebody's hands.
  std::size_t Active() const;
  /// Keys that wait for a time to come.
  std::size_t Delayed() const;
  /// How often `key` has failed in a row.
  int Failures(const std::string& key) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace gpuop::kube
