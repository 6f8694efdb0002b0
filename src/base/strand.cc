#include "base/strand.h"

#include <deque>
#include <thread>

#include "base/mutex.h"

namespace gpuop {

struct Strand::State {
  explicit State(Executor& e) : executor(e) {}

  Executor& executor;
  Mutex mu;
  std::condition_variable_any idle;
  std::deque<Executor::Task> tasks GUARDED_BY(mu);
  bool scheduled GUARDED_BY(mu) = false;
  bool closed GUARDED_BY(mu) = false;
  /// The thread that runs a task now; the default id when none does.
  std::thread::id runner GUARDED_BY(mu);
};

Strand::Strand(Executor& executor) : executor_(executor), state_(std::make_shared<State>(executor)) {}

Strand::~Strand() { Close(); }

void Strand::Close() {
  std::deque<Executor::Task> dropped;
  Lock l(state_->mu);
  state_->closed = true;
  dropped.swap(state_->tasks);
  if (state_->runner == std::this_thread::get_id()) return;
  while (state_->runner != std::thread::id()) state_->idle.wait(state_->mu);
}

void Strand::Post(Executor::Task task) { Enqueue(state_, std::move(task)); }

void Strand::PostAfter(Duration delay, Executor::Task task) {
  executor_.PostAfter(delay, [weak = std::weak_ptr(state_), task = std::move(task)]() mutable {
    if (const auto state = weak.lock()) Enqueue(state, std::move(task));
  });
}

void Strand::Enqueue(const std::shared_ptr<State>& state, Executor::Task task) {
  {
    Lock l(state->mu);
    if (state->closed) return;
    state->tasks.push_back(std::move(task));
    if (state->scheduled) return;
    state->scheduled = true;
  }
  state->executor.Post([state] { RunNext(state); });
}

void Strand::RunNext(const std::shared_ptr<State>& state) {
  {
    Executor::Task task;
    {
      Lock l(state->mu);
      if (state->tasks.empty()) {  // closed meanwhile
        state->scheduled = false;
        return;
      }
      task = std::move(state->tasks.front());
      state->tasks.pop_front();
      state->runner = std::this_thread::get_id();
    }
    task();
    // The task's captures go before the strand counts as idle.
    task = nullptr;
  }
  Lock l(state->mu);
  state->runner = std::thread::id();
  state->idle.notify_all();
  state->scheduled = !state->tasks.empty();
  // One task per turn, so that one busy strand does not keep a thread from the others.
  if (state->scheduled) state->executor.Post([state] { RunNext(state); });
}

}  // namespace gpuop
