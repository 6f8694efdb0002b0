#include <algorithm>
#include <limits>

#include "base/text.h"
#include "sim/controllers/deployment_plan.h"

namespace gpuop::sim {

namespace {

kube::Condition Condition(std::string_view type, std::string_view status, std::string_view reason, std::string message,
                          WallTime now) {
  kube::Condition c;
  c.type = type;
  c.status = status;
  c.reason = reason;
  c.message = std::string_view(message);
  c.last_transition = now;
  c.last_update = now;
  return c;
}

bool IsComplete(const kube::Deployment& d, const kube::DeploymentStatus& s) {
  return s.updated == d.spec.replicas && s.replicas == d.spec.replicas && s.available == d.spec.replicas &&
         s.observed_generation >= d.meta.generation;
}

bool HasProgressed(const kube::DeploymentStatus& before, const kube::DeploymentStatus& after) {
  return after.updated > before.updated || after.replicas - after.updated < before.replicas - before.updated ||
         after.ready > before.ready || after.available > before.available;
}

std::string Subject(const kube::Deployment& d, const ReplicaSetPtr& fresh) {
  return fresh != nullptr ? "ReplicaSet " + Quote(fresh->meta.name) : "Deployment " + Quote(d.meta.name);
}

}  // namespace

void SetDeploymentCondition(kube::DeploymentStatus& status, kube::Condition wanted) {
  const kube::Condition* have = kube::FindCondition(status.conditions, wanted.type);
  if (have != nullptr && have->status == wanted.status && have->reason == wanted.reason) return;
  if (have != nullptr && have->status == wanted.status) wanted.last_transition = have->last_transition;
  std::erase_if(status.conditions, [&](const kube::Condition& c) { return c.type == wanted.type; });
  status.conditions.push_back(std::move(wanted));
}

kube::DeploymentStatus DeploymentStatusOf(const DeploymentView& view, const ReplicaSetPtr& fresh) {
  const kube::Deployment& d = *view.deployment;
  kube::DeploymentStatus s;
  s.observed_generation = d.meta.generation;
  s.collision_count = d.status.collision_count;
  s.conditions = d.status.conditions;
  for (const ReplicaSetPtr& set : view.sets) {
    s.replicas += set->status.replicas;
    s.ready += set->status.ready;
    s.available += set->status.available;
    s.terminating += set->status.terminating;
  }
  if (fresh != nullptr) s.updated = fresh->status.replicas;
  s.unavailable = std::max(0, s.replicas - s.available);
  if (s.available >= d.spec.replicas - BoundsOf(d).unavailable)
    SetDeploymentCondition(s, Condition("Available", "True", "MinimumReplicasAvailable",
                                        "Deployment has minimum availability.", view.now));
  else
    SetDeploymentCondition(s, Condition("Available", "False", "MinimumReplicasUnavailable",
                                        "Deployment does not have minimum availability.", view.now));
  return s;
}

std::optional<WallTime> JudgeProgress(const DeploymentView& view, const ReplicaSetPtr& fresh,
                                      kube::DeploymentStatus& s) {
  const kube::Deployment& d = *view.deployment;
  if (d.spec.progress_deadline_seconds == std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  const kube::Condition* have = kube::FindCondition(s.conditions, "Progressing");
  if (s.replicas == s.updated && have != nullptr && have->reason == "NewReplicaSetAvailable") return std::nullopt;
  const std::string subject = Subject(d, fresh);
  if (IsComplete(d, s)) {
    SetDeploymentCondition(s, Condition("Progressing", "True", "NewReplicaSetAvailable",
                                        subject + " has successfully progressed.", view.now));
    return std::nullopt;
  }
  if (HasProgressed(d.status, s)) {
    kube::Condition now = Condition("Progressing", "True", "ReplicaSetUpdated", subject + " is progressing.", view.now);
    if (have != nullptr && have->is_true()) now.last_transition = have->last_transition;
    std::erase_if(s.conditions, [](const kube::Condition& c) { return c.type == "Progressing"; });
    s.conditions.push_back(std::move(now));
    return view.now + std::chrono::seconds(d.spec.progress_deadline_seconds);
  }
  if (have == nullptr || have->reason == "NewReplicaSetAvailable" || have->reason == "ProgressDeadlineExceeded" ||
      have->reason == "DeploymentPaused")
    return std::nullopt;
  const WallTime deadline = have->last_update + std::chrono::seconds(d.spec.progress_deadline_seconds);
  if (view.now < deadline) return deadline;
  SetDeploymentCondition(s, Condition("Progressing", "False", "ProgressDeadlineExceeded",
                                      subject + " has timed out progressing.", view.now));
  return std::nullopt;
}

}  // namespace gpuop::sim
