#pragma once
// Pods that wait for a node: which is next, and which wait for something to change first.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "sim/scheduler/filter.h"

namespace gpuop::sim {

/// Higher priority first, then who came first. A pod that found no node waits until something happens that can help it
/// (or five minutes), and at least its back-off: 1 s doubling to 10 s. Passive and not thread-safe; the caller brings
/// the time.
class SchedulingQueue {
 public:
  /// A pod that is new or has changed in what placing asks for: it may be tried at once. A gated pod only waits.
  void Add(PodInfoPtr pod);
  /// Newer data of a pod without any meaning for placing.
  void Refresh(const PodInfoPtr& pod);
  void Remove(const std::string& key);

  /// The next pod to try; it stays known and comes back by Add, NoNode or Again. Null: nobody is ready.
  PodInfoPtr Pop();
  /// It found no node because of `why`.
  void NoNode(const std::string& key, Obstacles why, TimePoint now);
  /// The attempt failed for a passing reason: again after the back-off.
  void Again(const std::string& key, TimePoint now);

  /// Something happened that helps against `helps`: those who wait for it become ready, after their back-off.
  void Wake(Obstacles helps, TimePoint now);
  /// Makes ready whoever's time has come.
  void Release(TimePoint now);
  /// When Release has something to do next.
  std::optional<TimePoint> NextDue() const;

  PodInfoPtr Find(const std::string& key) const;
  std::size_t size() const { return pods_.size(); }
  bool HasReady() const { return !ready_.empty(); }

 private:
  struct Entry {
    PodInfoPtr pod;
    std::uint64_t came = 0;
    int attempts = 0;
    TimePoint tried{};
    Obstacles why;                 ///< not empty: it waits for a change
    std::optional<TimePoint> due;  ///< its place in due_
    bool ready = false;
  };
  using ReadyKey = std::tuple<std::int64_t, std::uint64_t, std::string>;

  static ReadyKey KeyOf(const Entry& e);
  static TimePoint BackoffEnd(const Entry& e);
  void MakeReady(Entry& e);
  void WaitUntil(Entry& e, TimePoint due);
  void Unlist(Entry& e);

  std::unordered_map<std::string, Entry> pods_;
  std::set<ReadyKey> ready_;
  std::set<std::pair<TimePoint, std::string>> due_;
  std::set<std::string> blocked_;  ///< those with a `why`
  std::uint64_t arrivals_ = 0;
};

}  // namespace gpuop::sim
