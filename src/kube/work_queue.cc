#include "kube/work_queue.h"

namespace gpuop::kube {

struct WorkQueue::State : std::enable_shared_from_this<State> {
  /// Two delays a key can have: one asked for from outside, and the one its last turn left behind.
  enum Kind { kAsked, kOwn };
  using Delay = std::pair<std::string, Kind>;

  State(Executor& e, Options o, std::function<void()> f)
      : executor(e), back_off(o.back_off), on_ready(std::move(f)), rng(o.seed) {
    if (o.metrics == nullptr) return;
    const MetricLabels labels{{"name", o.name}};
    depth = &o.metrics->gauge("workqueue_depth", "Keys that wait for a turn.", labels);
    adds = &o.metrics->counter("workqueue_adds_total", "Keys added.", labels);
    retries = &o.metrics->counter("workqueue_retries_total", "Turns that failed.", labels);
    waited = &o.metrics->histogram("workqueue_queue_duration_seconds", "How long keys wait for a turn.",
                                   ExponentialBounds(1e-6, 10, 9), labels);
    worked = &o.metrics->histogram("workqueue_work_duration_seconds", "How long turns take.",
                                   ExponentialBounds(1e-6, 10, 9), labels);
  }

  /// True when `on_ready` is to be called once the lock is released.
  bool Enqueue(const std::string& key) REQUIRES(mu) {
    if (!dirty.try_emplace(key, executor.Now()).second || active.contains(key)) return false;
    if (adds != nullptr) adds->Add();
    ready.push_back(key);
    Measure();
    return true;
  }
  void Measure() REQUIRES(mu) {
    if (depth != nullptr) depth->Set(static_cast<double>(ready.size()));
  }

  /// Notes the delay and says when the timer must be set; nullopt when an earlier one is set already.
  std::optional<TimePoint> Note(const std::string& key, Kind kind, Duration delay) REQUIRES(mu) {
    const TimePoint due = executor.Now() + std::max(delay, Duration::zero());
    const auto [it, fresh] = delays.try_emplace({key, kind}, due);
    if (!fresh && it->second <= due) return std::nullopt;
    it->second = due;
    return due;
  }
  void SetTimer(const std::string& key, Kind kind, std::optional<TimePoint> due) {
    if (!due) return;
    executor.PostAt(*due, [weak = weak_from_this(), key, kind, when = *due] {
      if (const auto self = weak.lock()) self->Due(key, kind, when);
    });
  }
  void Due(const std::string& key, Kind kind, TimePoint when) {
    bool tell = false;
    {
      Lock l(mu);
      const auto it = delays.find({key, kind});
      if (it == delays.end() || it->second != when) return;  // replaced or cancelled
      delays.erase(it);
      tell = Enqueue(key);
    }
    if (tell) on_ready();
  }
  /// Takes the key back. True when it waits again at once.
  bool Return(const std::string& key) REQUIRES(mu) {
    const auto it = active.find(key);
    if (it == active.end()) return false;
    if (worked != nullptr) worked->Observe(std::chrono::duration<double>(executor.Now() - it->second).count());
    active.erase(it);
    if (!dirty.contains(key)) return false;
    if (adds != nullptr) adds->Add();
    ready.push_back(key);
    Measure();
    return true;
  }

  Executor& executor;
  const BackOff back_off;
  const std::function<void()> on_ready;
  Gauge* depth = nullptr;
  Counter* adds = nullptr;
  Counter* retries = nullptr;
  Histogram* waited = nullptr;
  Histogram* worked = nullptr;

  mutable Mutex mu;
  Rng rng GUARDED_BY(mu);
  std::deque<std::string> ready GUARDED_BY(mu);
  /// Keys that need a turn, and since when; those not active are in `ready`.
  std::map<std::string, TimePoint, std::less<>> dirty GUARDED_BY(mu);
  /// Keys in somebody's hands, and since when.
  std::map<std::string, TimePoint, std::less<>> active GUARDED_BY(mu);
  std::map<Delay, TimePoint> delays GUARDED_BY(mu);
  std::map<std::string, int, std::less<>> failures GUARDED_BY(mu);
};

WorkQueue::WorkQueue(Executor& executor, Options options, std::function<void()> on_ready)
    : state_(std::make_shared<State>(executor, std::move(options), std::move(on_ready))) {}

WorkQueue::~WorkQueue() = default;

void WorkQueue::Add(std::string_view key) {
  bool tell = false;
  {
    Lock l(state_->mu);
    tell = state_->Enqueue(std::string(key));
  }
  if (tell) state_->on_ready();
}

void WorkQueue::AddAfter(std::string_view key, Duration delay) {
  if (delay <= Duration::zero()) return Add(key);
  const std::string owned(key);
  std::optional<TimePoint> due;
  {
    Lock l(state_->mu);
    due = state_->Note(owned, State::kAsked, delay);
  }
  state_->SetTimer(owned, State::kAsked, due);
}

std::optional<std::string> WorkQueue::Take() {
  State& s = *state_;
  Lock l(s.mu);
  if (s.ready.empty()) return std::nullopt;
  std::string key = std::move(s.ready.front());
  s.ready.pop_front();
  s.Measure();
  const auto it = s.dirty.find(key);
  if (s.waited != nullptr) s.waited->Observe(std::chrono::duration<double>(s.executor.Now() - it->second).count());
  s.dirty.erase(it);
  s.active.emplace(key, s.executor.Now());
  s.delays.erase({key, State::kOwn});  // this turn will say anew when it wants another
  return key;
}

void WorkQueue::Done(const std::string& key) {
  bool tell = false;
  {
    Lock l(state_->mu);
    state_->failures.erase(key);
    tell = state_->Return(key);
  }
  if (tell) state_->on_ready();
}

void WorkQueue::Again(const std::string& key, Duration delay) {
  bool tell = false;
  std::optional<TimePoint> due;
  {
    Lock l(state_->mu);
    state_->failures.erase(key);
    due = state_->Note(key, State::kOwn, delay);
    tell = state_->Return(key);
  }
  state_->SetTimer(key, State::kOwn, due);
  if (tell) state_->on_ready();
}

Duration WorkQueue::Failed(const std::string& key) {
  bool tell = false;
  std::optional<TimePoint> due;
  Duration wait{};
  {
    Lock l(state_->mu);
    if (state_->retries != nullptr) state_->retries->Add();
    wait = state_->back_off.After(++state_->failures[key], state_->rng);
    due = state_->Note(key, State::kOwn, wait);
    tell = state_->Return(key);
  }
  state_->SetTimer(key, State::kOwn, due);
  if (tell) state_->on_ready();
  return wait;
}

void WorkQueue::Forget(const std::string& key) {
  State& s = *state_;
  Lock l(s.mu);
  s.dirty.erase(key);
  std::erase(s.ready, key);
  s.Measure();
  s.delays.erase({key, State::kOwn});
  s.delays.erase({key, State::kAsked});
  s.failures.erase(key);
}

std::size_t WorkQueue::Depth() const {
  Lock l(state_->mu);
  return state_->ready.size();
}
std::size_t WorkQueue::Active() const {
  Lock l(state_->mu);
  return state_->active.size();
}
std::size_t WorkQueue::Delayed() const {
  Lock l(state_->mu);
  return state_->delays.size();
}
int WorkQueue::Failures(const std::string& key) const {
  Lock l(state_->mu);
  const auto it = state_->failures.find(key);
  return it == state_->failures.end() ? 0 : it->second;
}

}  // namespace gpuop::kube
