#include "sim/controllers/job_plan.h"

#include <algorithm>
#include <limits>

#include "sim/controllers/replica_set_plan.h"

namespace gpuop::sim {

namespace {

constexpr Duration kFirstBackoff = std::chrono::seconds(10);
constexpr Duration kLongestBackoff = std::chrono::minutes(10);

bool Has(const std::vector<std::string>& list, const std::string& uid) {
  return std::ranges::find(list, uid) != list.end();
}
bool IsTracked(const kube::Pod& pod) {
  return std::ranges::find(pod.meta.finalizers, Interned(kJobTracking)) != pod.meta.finalizers.end();
}

/// When its last container ended; the deletion's time, or that of creation, where no container says.
WallTime EndOf(const kube::Pod& pod) {
  WallTime end = pod.meta.deleted.value_or(pod.meta.created);
  for (const kube::ContainerStatus& c : pod.status.containers)
    if (c.state.terminated) end = std::max(end, c.state.terminated->finished);
  return end;
}

class Planner {
 public:
  Planner(const kube::Job& job, const std::vector<PodPtr>& pods, WallTime now) : job_(job), pods_(pods), now_(now) {}

  JobPlan Run() {
    s_ = job_.status;
    Settle();
    CountPods();
    if (IsFinished(job_)) {
      for (const PodPtr& pod : active_) plan_.remove.push_back(pod);
      ExpireJob();
    } else if (!job_.meta.deleting()) {
      Decide();
    }
    return std::move(plan_);
  }

 private:
  /// Steps three and two of counting, by what is stored; then step one for new ends.
  void Settle() {
    std::map<std::string_view, PodPtr> by_uid;
    for (const PodPtr& pod : pods_) by_uid[pod->meta.uid] = pod;
    const auto settle = [&](std::vector<std::string>& uids, std::int32_t& count) {
      std::erase_if(uids, [&](const std::string& uid) {
        const auto it = by_uid.find(uid);
        if (it != by_uid.end() && IsTracked(*it->second)) {
          plan_.release.push_back(it->second);
          return false;
        }
        ++count;
        return true;
      });
    };
    settle(s_.uncounted.succeeded, s_.succeeded);
    settle(s_.uncounted.failed, s_.failed);
    for (const PodPtr& pod : pods_) {
      const std::string& uid = pod->meta.uid;
      if (!IsTracked(*pod) || Has(s_.uncounted.succeeded, uid) || Has(s_.uncounted.failed, uid)) continue;
      if (pod->status.phase == "Succeeded")
        s_.uncounted.succeeded.push_back(uid);
      else if (pod->status.phase == "Failed" || pod->meta.deleting())
        s_.uncounted.failed.push_back(uid);
    }
  }

  void CountPods() {
    std::int32_t ready = 0, terminating = 0;
    for (const PodPtr& pod : pods_) {
      if (pod->meta.deleting() && !pod->finished()) ++terminating;
      if (!IsActive(*pod)) continue;
      active_.push_back(pod);
      ready += pod->ready() ? 1 : 0;
    }
    s_.active = static_cast<std::int32_t>(active_.size());
    s_.ready = ready;
    s_.terminating = terminating;
    plan_.status = s_;
  }

  std::int32_t Succeeded() const { return s_.succeeded + static_cast<std::int32_t>(s_.uncounted.succeeded.size()); }
  std::int32_t Failed() const { return s_.failed + static_cast<std::int32_t>(s_.uncounted.failed.size()); }

  void Decide() {
    if (!job_.spec.suspend && !s_.started) s_.started = now_;
    if (const kube::Condition* target = True("FailureTarget")) {
      Fail(std::string(target->reason.view()), std::string(target->message.view()));
    } else if (const kube::Condition* met = True("SuccessCriteriaMet")) {
      Complete(std::string(met->reason.view()), std::string(met->message.view()));
    } else if (BackoffExceeded()) {
      Fail("BackoffLimitExceeded", "Job has reached the specified backoff limit");
    } else if (DeadlinePassed()) {
      Fail("DeadlineExceeded", "Job was active longer than specified deadline");
    } else if (IsDone()) {
      Complete("CompletionsReached", "Reached expected number of succeeded pods");
    } else if (job_.spec.suspend) {
      Suspend();
    } else {
      Resume();
      Size();
    }
    plan_.status = s_;
  }

  const kube::Condition* True(std::string_view type) const {
    const kube::Condition* c = kube::FindCondition(s_.conditions, type);
    return c != nullptr && c->is_true() ? c : nullptr;
  }

  void Set(std::string_view type, std::string_view status, std::string_view reason, std::string_view message) {
    for (kube::Condition& c : s_.conditions) {
      if (c.type != type) continue;
      if (c.status == status) return;
      c.status = status;
      c.reason = reason;
      c.message = message;
      c.last_probe = c.last_transition = now_;
      return;
    }
    kube::Condition& c = s_.conditions.emplace_back();
    c.type = type;
    c.status = status;
    c.reason = reason;
    c.message = message;
    c.last_probe = c.last_transition = now_;
  }

  bool BackoffExceeded() const {
    const std::int32_t limit = job_.spec.backoff_limit.value_or(6);
    std::int64_t restarts = 0;
    for (const PodPtr& pod : active_)
      if (pod->spec.restart_policy == "OnFailure")
        for (const kube::ContainerStatus& c : pod->status.containers) restarts += c.restart_count;
    return Failed() > limit || (restarts > 0 && restarts >= limit);
  }

  bool DeadlinePassed() {
    if (!job_.spec.active_deadline_seconds || !s_.started || job_.spec.suspend) return false;
    const WallTime end = *s_.started + std::chrono::seconds(*job_.spec.active_deadline_seconds);
    if (now_ < end) LookAgain(end);
    return now_ >= end;
  }

  bool IsDone() const {
    if (job_.spec.completions) return Succeeded() >= *job_.spec.completions;
    return Succeeded() > 0 && active_.empty();
  }

  /// The verdict is written first; the final condition follows when no pod runs and every end is counted.
  bool Settled() const {
    return active_.empty() && s_.terminating == 0 && s_.uncounted.succeeded.empty() && s_.uncounted.failed.empty();
  }

  void Fail(const std::string& reason, const std::string& message) {
    Set("FailureTarget", "True", reason, message);
    for (const PodPtr& pod : active_) plan_.remove.push_back(pod);
    if (!Settled()) return;
    Set("Failed", "True", reason, message);
    plan_.events.push_back({"Warning", reason, message});
  }

  void Complete(const std::string& reason, const std::string& message) {
    Set("SuccessCriteriaMet", "True", reason, message);
    for (const PodPtr& pod : active_) plan_.remove.push_back(pod);
    if (!Settled()) return;
    s_.completed = now_;
    Set("Complete", "True", reason, message);
    plan_.events.push_back({"Normal", "Completed", "Job completed"});
  }

  void Suspend() {
    for (const PodPtr& pod : active_) plan_.remove.push_back(pod);
    if (True("Suspended") != nullptr) return;
    s_.started.reset();
    Set("Suspended", "True", "JobSuspended", "Job suspended");
    plan_.events.push_back({"Normal", "Suspended", "Job suspended"});
  }

  void Resume() {
    if (True("Suspended") == nullptr) return;
    s_.started = now_;
    Set("Suspended", "False", "JobResumed", "Job resumed");
    plan_.events.push_back({"Normal", "Resumed", "Job resumed"});
  }

  void Size() {
    const std::int32_t parallelism = job_.spec.parallelism.value_or(1);
    const std::int32_t active = s_.active;
    std::int32_t wanted = parallelism;
    if (job_.spec.completions)
      wanted = std::min(parallelism, std::max(0, *job_.spec.completions - Succeeded()));
    else if (Succeeded() > 0)
      wanted = std::min(active, parallelism);
    if (active > wanted) {
      plan_.remove = ByDispensability(active_);
      plan_.remove.resize(static_cast<std::size_t>(active - wanted));
      return;
    }
    if (active == wanted) return;
    if (const auto until = BackoffEnd(); until && *until > now_) return LookAgain(*until);
    plan_.create = wanted - active;
  }

  /// New pods wait after a failure, longer with each: 10 s doubling to 10 min, counted from the last success on.
  std::optional<WallTime> BackoffEnd() const {
    WallTime last_success{}, last_failure{};
    for (const PodPtr& pod : pods_)
      if (pod->status.phase == "Succeeded") last_success = std::max(last_success, EndOf(*pod));
    int failures = 0;
    for (const PodPtr& pod : pods_) {
      if (pod->status.phase != "Failed" || EndOf(*pod) <= last_success) continue;
      ++failures;
      last_failure = std::max(last_failure, EndOf(*pod));
    }
    if (failures == 0) return std::nullopt;
    return last_failure + std::min<Duration>(kFirstBackoff * (1LL << std::min(failures - 1, 6)), kLongestBackoff);
  }

  void ExpireJob() {
    if (!job_.spec.ttl_seconds_after_finished || job_.meta.deleting()) return;
    const kube::Condition* end = True("Complete") != nullptr ? True("Complete") : True("Failed");
    const WallTime at = end->last_transition + std::chrono::seconds(*job_.spec.ttl_seconds_after_finished);
    at <= now_ ? void(plan_.delete_job = true) : LookAgain(at);
  }

  void LookAgain(WallTime at) { plan_.again = std::min(plan_.again.value_or(at), at); }

  const kube::Job& job_;
  const std::vector<PodPtr>& pods_;
  const WallTime now_;
  std::vector<PodPtr> active_;
  kube::JobStatus s_;
  JobPlan plan_;
};

}  // namespace

bool IsFinished(const kube::Job& job) {
  return std::ranges::any_of(job.status.conditions, [](const kube::Condition& c) {
    return c.is_true() && (c.type == "Complete" || c.type == "Failed");
  });
}

JobPlan PlanJob(const kube::Job& job, const std::vector<PodPtr>& pods, WallTime now) {
  return Planner(job, pods, now).Run();
}

}  // namespace gpuop::sim
