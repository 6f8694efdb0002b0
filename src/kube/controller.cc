#include "kube/controller.h"

#include <thread>
#include <vector>

namespace gpuop::kube {
namespace {

/// What is tried again sooner is no news yet: another has written first, or what it needs is about to come.
constexpr Duration kNews = std::chrono::milliseconds(100);

}  // namespace

struct Controller::State {
  State(Executor& e, Log& l, Options o, Reconcile r)
      : executor(e), log(l), options(std::move(o)), reconcile(std::move(r)) {
    if (options.metrics == nullptr) return;
    const MetricLabels labels{{"controller", options.name}};
    errors = &options.metrics->counter("controller_errors_total", "Turns that failed.", labels);
  }

  bool Synced() const REQUIRES(mu) {
    return std::ranges::all_of(needs, [](const CacheBase* c) { return c->HasSynced(); });
  }

  Executor& executor;
  Log& log;
  const Options options;
  const Reconcile reconcile;
  Counter* errors = nullptr;
  /// Always there once the Controller is made.
  std::optional<WorkQueue> queue;

  Mutex mu;
  std::condition_variable_any idle;
  bool started GUARDED_BY(mu) = false;
  bool closed GUARDED_BY(mu) = false;
  std::size_t running GUARDED_BY(mu) = 0;
  std::uint64_t turns GUARDED_BY(mu) = 0;
  std::vector<CacheBase*> needs GUARDED_BY(mu);
  /// Threads inside a turn, so that a turn that destroys its controller does not wait for itself.
  std::multiset<std::thread::id> inside GUARDED_BY(mu);
};

Controller::Controller(Executor& executor, Log& log, Options options, Reconcile reconcile)
    : state_(std::make_shared<State>(executor, log, std::move(options), std::move(reconcile))) {
  const Options& o = state_->options;
  state_->queue.emplace(executor, WorkQueue::Options{o.name, o.back_off, o.seed, o.metrics},
                        [weak = std::weak_ptr(state_)] {
                          if (const auto state = weak.lock()) Pump(state);
                        });
}

Controller::~Controller() {
  Lock l(state_->mu);
  state_->closed = true;
  const auto self = static_cast<std::size_t>(state_->inside.count(std::this_thread::get_id()));
  while (state_->inside.size() > self) state_->idle.wait(state_->mu);
}

void Controller::Add(std::string_view key) { state_->queue->Add(key); }
void Controller::AddAfter(std::string_view key, Duration delay) { state_->queue->AddAfter(key, delay); }
bool Controller::Idle() const { return state_->queue->Depth() == 0 && state_->queue->Active() == 0; }
const WorkQueue& Controller::queue() const { return *state_->queue; }

std::function<void(std::string_view)> Controller::Adder() const {
  return [weak = std::weak_ptr(state_)](std::string_view key) {
    if (const auto state = weak.lock()) state->queue->Add(key);
  };
}

void Controller::Needs(CacheBase& cache) {
  {
    Lock l(state_->mu);
    state_->needs.push_back(&cache);
  }
  cache.OnSynced([weak = std::weak_ptr(state_)] {
    if (const auto state = weak.lock()) Pump(state);
  });
}

void Controller::Start() {
  {
    Lock l(state_->mu);
    state_->started = true;
  }
  Pump(state_);
}

void Controller::Pause() {
  Lock l(state_->mu);
  state_->started = false;
}

std::uint64_t Controller::turns() const {
  Lock l(state_->mu);
  return state_->turns;
}

/// Begins as many turns as keys and the limit allow.
void Controller::Pump(const std::shared_ptr<State>& state) {
  for (;;) {
    std::optional<std::string> key;
    {
      Lock l(state->mu);
      if (state->closed || !state->started || state->running >= state->options.concurrency || !state->Synced()) return;
      key = state->queue->Take();
      if (!key) return;
      ++state->running;
    }
    state->executor.Post([state, k = *std::move(key)] { Turn(state, k); });
  }
}

void Controller::Turn(const std::shared_ptr<State>& state, const std::string& key) {
  bool paused = false;
  {
    Lock l(state->mu);
    if (state->closed) return;
    paused = !state->started;
    if (!paused) ++state->turns;
    state->inside.insert(std::this_thread::get_id());
  }
  if (paused) {
    state->queue->Add(key);
    state->queue->Done(key);
  } else if (const Result<Next> next = state->reconcile(key); !next) {
    const Duration wait = state->queue->Failed(key);
    if (state->errors != nullptr) state->errors->Add();
    const std::initializer_list<LogField> words = {{"controller", state->options.name},
                                                   {"key", key},
                                                   {"error", next.error().text},
                                                   {"again_ms", std::to_string(wait / std::chrono::milliseconds(1))}};
    if (wait < kNews)
      state->log.Debug("reconcile failed", words);
    else
      state->log.Warn("reconcile failed", words);
  } else if (next->again) {
    state->queue->Again(key, *next->again);
  } else {
    state->queue->Done(key);
  }
  {
    Lock l(state->mu);
    --state->running;
    state->inside.erase(state->inside.find(std::this_thread::get_id()));
    state->idle.notify_all();
  }
  Pump(state);
}

}  // namespace gpuop::kube
