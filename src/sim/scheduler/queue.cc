#include "sim/scheduler/queue.h"

#include <algorithm>

#include "base/check.h"

namespace gpuop::sim {

namespace {

constexpr Duration kFirstBackoff = std::chrono::seconds(1);
constexpr Duration kLongestBackoff = std::chrono::seconds(10);
constexpr Duration kLongestWait = std::chrono::minutes(5);

}  // namespace

SchedulingQueue::ReadyKey SchedulingQueue::KeyOf(const Entry& e) {
  return {-std::int64_t{e.pod->priority}, e.came, e.pod->Key()};
}

TimePoint SchedulingQueue::BackoffEnd(const Entry& e) {
  if (e.attempts == 0) return e.tried;
  return e.tried + std::min(kFirstBackoff * (1 << std::min(e.attempts - 1, 4)), kLongestBackoff);
}

void SchedulingQueue::Unlist(Entry& e) {
  if (e.ready) ready_.erase(KeyOf(e));
  if (e.due) due_.erase({*e.due, e.pod->Key()});
  if (!e.why.empty()) blocked_.erase(e.pod->Key());
  e.ready = false;
  e.due.reset();
  e.why = {};
}

void SchedulingQueue::MakeReady(Entry& e) {
  Unlist(e);
  e.ready = true;
  ready_.insert(KeyOf(e));
}

void SchedulingQueue::WaitUntil(Entry& e, TimePoint due) {
  Unlist(e);
  e.due = due;
  due_.emplace(due, e.pod->Key());
}

void SchedulingQueue::Add(PodInfoPtr pod) {
  Entry& e = pods_[pod->Key()];
  if (e.pod != nullptr) {
    Unlist(e);
    if (e.pod->uid != pod->uid) e = {};
  }
  if (e.pod == nullptr) e.came = ++arrivals_;
  e.pod = std::move(pod);
  if (!e.pod->gated) MakeReady(e);
}

void SchedulingQueue::Refresh(const PodInfoPtr& pod) {
  const auto it = pods_.find(pod->Key());
  if (it == pods_.end()) return;
  GPUOP_CHECK(it->second.pod->priority == pod->priority);
  it->second.pod = pod;
}

void SchedulingQueue::Remove(const std::string& key) {
  const auto it = pods_.find(key);
  if (it == pods_.end()) return;
  Unlist(it->second);
  pods_.erase(it);
}

PodInfoPtr SchedulingQueue::Pop() {
  if (ready_.empty()) return nullptr;
  Entry& e = pods_.at(std::get<2>(*ready_.begin()));
  Unlist(e);
  return e.pod;
}

void SchedulingQueue::NoNode(const std::string& key, Obstacles why, TimePoint now) {
  const auto it = pods_.find(key);
  if (it == pods_.end()) return;
  Entry& e = it->second;
  e.tried = now;
  ++e.attempts;
  WaitUntil(e, now + kLongestWait);
  e.why = why;
  blocked_.insert(key);
}

void SchedulingQueue::Again(const std::string& key, TimePoint now) {
  const auto it = pods_.find(key);
  if (it == pods_.end()) return;
  it->second.tried = now;
  ++it->second.attempts;
  WaitUntil(it->second, BackoffEnd(it->second));
}

void SchedulingQueue::Wake(Obstacles helps, TimePoint now) {
  std::vector<Entry*> woken;
  for (const std::string& key : blocked_)
    if (Entry& e = pods_.at(key); e.why.Meets(helps)) woken.push_back(&e);
  for (Entry* e : woken) {
    const TimePoint end = BackoffEnd(*e);
    end <= now ? MakeReady(*e) : WaitUntil(*e, end);
  }
}

void SchedulingQueue::Release(TimePoint now) {
  while (!due_.empty() && due_.begin()->first <= now) MakeReady(pods_.at(due_.begin()->second));
}

std::optional<TimePoint> SchedulingQueue::NextDue() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

PodInfoPtr SchedulingQueue::Find(const std::string& key) const {
  const auto it = pods_.find(key);
  return it == pods_.end() ? nullptr : it->second.pod;
}

}  // namespace gpuop::sim
