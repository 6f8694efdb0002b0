#include "e2e/operator/skipping_executor.h"

namespace gpuop::e2e {

SkippingExecutor::~SkippingExecutor() {
  decltype(waiting_) dropped;  // their destructors may post
  const Lock l(mu_);
  ending_ = true;
  dropped.swap(waiting_);
}

void SkippingExecutor::PostAt(TimePoint when, Task task) {
  {
    const Lock l(mu_);
    if (ending_) return;
    waiting_.emplace(std::pair(when, ++posted_), std::move(task));
  }
  threads_.PostAt(when - skipped(), [this] { PostDue(); });
}

void SkippingExecutor::Skip(Duration span) {
  skipped_ += span.count();
  PostDue();
}

void SkippingExecutor::PostDue() {
  const Lock l(mu_);
  while (!waiting_.empty() && waiting_.begin()->first.first <= Now())
    threads_.Post(std::move(waiting_.extract(waiting_.begin()).mapped()));
}

}  // namespace gpuop::e2e
