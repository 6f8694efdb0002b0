#pragma once

#include <functional>
#include <memory>

#include "base/executor.h"
#include "base/mutex.h"

namespace gpuop::op {

/// Many calls within `delay` become one call of `act`, `delay` after the first. Copies share. Thread-safe; `act` must
/// be safe to call for as long as any copy, or a call on its way, lives.
class Coalesced {
 public:
  Coalesced(Executor& executor, Duration delay, std::function<void()> act)
      : state_(std::make_shared<State>(executor, delay, std::move(act))) {}

  void operator()() const {
    {
      Lock l(state_->mu);
      if (state_->armed) return;
      state_->armed = true;
    }
    state_->executor.PostAfter(state_->delay, [state = state_] {
      {
        Lock l(state->mu);
        state->armed = false;
      }
      state->act();
    });
  }

 private:
  struct State {
    Executor& executor;
    const Duration delay;
    const std::function<void()> act;
    Mutex mu;
    bool armed GUARDED_BY(mu) = false;
  };
  std::shared_ptr<State> state_;
};

}  // namespace gpuop::op
