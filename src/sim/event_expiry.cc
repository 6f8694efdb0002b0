#include "sim/event_expiry.h"

namespace gpuop::sim {
namespace {

constexpr std::string_view kTable = "/events";
/// How many go in one turn.
constexpr int kAtOnce = 256;

}  // namespace

EventExpiry::EventExpiry(Executor& executor, Store& store) : executor_(executor), store_(store) {
  if (store_.Count(kTable) > 0) Note(store_.revision());
  store_.Observe([this, alive = std::weak_ptr<int>(alive_)](std::string_view table, const Event& event) {
    if (table == kTable && event.type != Event::Type::kDeleted && !alive.expired()) Note(event.revision);
  });
}

void EventExpiry::Note(std::uint64_t revision) {
  const TimePoint now = executor_.Now();
  if (due_.empty() || due_.back().at <= now + kLifetime)
    due_.push_back({now + kLifetime + kTogether, revision});
  else
    due_.back().revision = revision;
  Arm();
}

void EventExpiry::Arm() {
  if (armed_ || due_.empty()) return;
  armed_ = true;
  executor_.PostAt(due_.front().at, [this, alive = std::weak_ptr<int>(alive_)] {
    if (!alive.expired()) Expire();
  });
}

void EventExpiry::Expire() {
  armed_ = false;
  const std::uint64_t revision = due_.front().revision;
  const Page page =
      store_.List(kTable, {.ns = {}, .from = from_, .limit = kAtOnce, .matches = [&](const Stored& event) {
                             return event.revision <= revision;
                           }});
  // What a log that cannot be written keeps goes with those of the next time.
  for (const StoredPtr& event : page.items)
    if (!store_.Delete(kTable, event->ns, event->name)) break;
  from_ = page.next;
  if (from_.empty()) due_.pop_front();
  Arm();
}

}  // namespace gpuop::sim
