#include "base/virtual_executor.h"

#include <algorithm>

#include "base/text.h"

namespace gpuop {

void VirtualExecutor::PostAt(TimePoint when, Task task) {
  tasks_.emplace(std::tuple(std::max(when, Now()), rng_.Next(), ++posted_), std::move(task));
}

bool VirtualExecutor::RunOne() {
  if (tasks_.empty()) return false;
  auto next = tasks_.extract(tasks_.begin());
  const TimePoint due = std::get<0>(next.key());
  if (due > Now()) clock_.Advance(due - Now());
  next.mapped()();
  return true;
}

void VirtualExecutor::RunFor(Duration span) {
  const TimePoint end = Now() + span;
  while (!tasks_.empty() && std::get<0>(tasks_.begin()->first) <= end) RunOne();
  if (Now() < end) clock_.Advance(end - Now());
}

bool VirtualExecutor::RunUntil(const std::function<bool()>& done, Duration limit) {
  const TimePoint end = Now() + limit;
  while (!done()) {
    if (tasks_.empty() || std::get<0>(tasks_.begin()->first) > end) return false;
    RunOne();
  }
  return true;
}

void VirtualExecutor::Trace(std::string_view what) {
  trace_ = Hash64(what, trace_);
  trace_ = Hash64("\n", trace_);
}

}  // namespace gpuop
