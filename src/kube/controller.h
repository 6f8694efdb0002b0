#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "base/log.h"
#include "base/result.h"
#include "kube/cache.h"
#include "kube/work_queue.h"

namespace gpuop::kube {

/// What a turn leaves behind.
struct Next {
  /// Come back after this time even if nothing happens; the next turn for the key replaces it.
  std::optional<Duration> again;
};

/// Keeps the world as wished, one key at a time: whoever sees a change calls Add, and `reconcile` is called on the
/// executor for each key, at most `concurrency` keys at once and never the same key twice at once. It reads what is,
/// decides, and acts; an Error means "again, with back-off" and is logged here, once. It may block if the
/// executor's tasks may.
///
/// Declared after whatever `reconcile` uses, its caches among them: when the destructor has returned, no turn runs and
/// none will. Handlers of those caches reach it by Watch or Adder, because they go on a little longer.
class Controller {
 public:
  using Reconcile = std::function<Result<Next>(const std::string& key)>;
  struct Options {
    std::string name = {};
    std::size_t concurrency = 1;
    BackOff back_off = WorkQueue::Options().back_off;
    std::uint64_t seed = 1;
    MetricRegistry* metrics = nullptr;
  };

  Controller(Executor& executor, Log& log, Options options, Reconcile reconcile);
  ~Controller();

  void Add(std::string_view key);
  void AddAfter(std::string_view key, Duration delay);

  /// No turn begins before `cache` has synced. Call before Start.
  void Needs(CacheBase& cache);
  /// Needs `cache`, and gives each object a turn whose change `matters` (null: every change). Before cache.Start.
  template <class T>
  void Watch(Cache<T>& cache, std::function<bool(const Change<T>&)> matters = nullptr) {
    Needs(cache);
    cache.OnChange([add = Adder(), m = std::move(matters)](const Change<T>& c) {
      if (!m || m(c)) add(c.Key());
    });
  }
  /// Add, for callbacks that may outlive the controller (and then do nothing), as a cache's handlers do.
  std::function<void(std::string_view key)> Adder() const;
  /// Turns begin. Keys added before wait until now.
  void Start();
  /// No new turn begins until Start is called again (as when the leader lease is lost). Keys wait meanwhile.
  void Pause();

  /// Nothing waits for a turn and none runs (keys may wait for a time to come).
  bool Idle() const;
  /// Turns begun so far.
  std::uint64_t turns() const;
  const WorkQueue& queue() const;

 private:
  struct State;
  static void Pump(const std::shared_ptr<State>& state);
  static void Turn(const std::shared_ptr<State>& state, const std::string& key);

  std::shared_ptr<State> state_;
};

}  // namespace gpuop::kube
