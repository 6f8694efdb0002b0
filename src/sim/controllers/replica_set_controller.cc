#include "sim/controllers/replica_set_controller.h"

#include <algorithm>

#include "kube/list_text.h"

namespace gpuop::sim {

namespace json = boost::json;

namespace {

/// Pods come and go in crowds: one turn for all that happens within this time, longer for a set whose turn is longer.
Duration Gather(std::int32_t pods) { return std::chrono::milliseconds(10) + pods * std::chrono::microseconds(50); }

/// A set makes no more pods until it has seen these: what many sets make together must not outrun those who watch.
constexpr std::int32_t kMostAtOnce = 100;

/// What stands in the status when pods cannot be made or deleted.
void NoteFailure(kube::ReplicaSetStatus& status, const Result<>& acted, WallTime now) {
  const kube::Condition* have = kube::FindCondition(status.conditions, "ReplicaFailure");
  if (acted) {
    std::erase_if(status.conditions, [](const kube::Condition& c) { return c.type == "ReplicaFailure"; });
  } else if (have == nullptr) {
    kube::Condition c;
    c.type = "ReplicaFailure";
    c.status = "True";
    c.reason = acted.error().text.starts_with("create") ? "FailedCreate" : "FailedDelete";
    c.message = std::string_view(acted.error().text);
    c.last_transition = now;
    status.conditions.push_back(std::move(c));
  }
}

}  // namespace

ReplicaSetController::ReplicaSetController(ControllerParts parts, SharedCaches& caches, PodControl& pods, EventWriter&)
    : parts_(std::move(parts)),
      caches_(caches),
      pods_(pods),
      controller_(parts_.executor, parts_.log, {.name = "replica-set", .seed = parts_.seed + 1},
                  [this](const std::string& key) { return Reconcile(key); }) {
  controller_.Needs(caches_.replica_sets);
  controller_.Needs(caches_.pods);
  Watch();
}

void ReplicaSetController::Watch() {
  caches_.replica_sets.OnChange(
      [this](const kube::Change<kube::ReplicaSet>& change) { controller_.Add(change.Key()); });
  caches_.pods.OnChange([this](const kube::Change<kube::Pod>& change) {
    const auto wake = [&](const kube::Pod& pod) {
      const kube::OwnerReference* owner = pod.meta.Controller();
      if (owner != nullptr && owner->kind == "ReplicaSet") {
        const auto set = caches_.replica_sets.Get(pod.meta.ns, owner->name);
        controller_.AddAfter(kube::KeyOf(pod.meta.ns, owner->name), Gather(set == nullptr ? 0 : set->spec.replicas));
      }
      if (owner != nullptr) return;
      for (const auto& set : caches_.replica_sets.List())
        if (set->meta.ns == pod.meta.ns && kube::Matches(set->spec.selector, pod.meta.labels))
          controller_.AddAfter(set->meta.Key(), Gather(set->spec.replicas));
    };
    if (change.old) wake(*change.old);
    if (change.now) wake(*change.now);
  });
}

Result<kube::Next> ReplicaSetController::Reconcile(const std::string& key) {
  const auto set = caches_.replica_sets.Get(key);
  if (set == nullptr) return kube::Next{};
  ASSIGN(const std::vector<PodPtr> pods, pods_.Claim(*set, set->spec.selector));
  const WallTime now = parts_.executor.Wall();
  ReplicaSetPlan plan = PlanReplicaSet(*set, pods, now);
  const bool settled = pods_.Settled(set->meta.uid);
  Result<> acted = settled ? Act(*set, plan) : Result<>();
  if (settled) NoteFailure(plan.status, acted, now);
  TRY(WriteStatus(*set, plan.status));
  TRY(std::move(acted));
  kube::Next next;
  if (plan.again) next.again = std::max<Duration>(*plan.again - now, std::chrono::milliseconds(1));
  if (!settled || plan.create > kMostAtOnce) next.again = std::chrono::seconds(1);
  return next;
}

Result<> ReplicaSetController::Act(const kube::ReplicaSet& set, const ReplicaSetPlan& plan) {
  for (const PodPtr& pod : plan.remove) TRY(pods_.Delete(set, *pod));
  if (plan.create == 0) return {};
  ASSIGN(const json::object pod, PodFromTemplate(set.spec.pod_template.whole, kube::ReplicaSet::kResource, set.meta));
  for (std::int32_t i = 0; i < std::min(plan.create, kMostAtOnce); ++i) TRY(pods_.Create(set, pod));
  return {};
}

Result<> ReplicaSetController::WriteStatus(const kube::ReplicaSet& set, const kube::ReplicaSetStatus& s) {
  if (s == set.status) return {};
  json::array conditions;
  for (const kube::Condition& c : s.conditions) conditions.push_back(ConditionJson(c));
  json::object status{{"replicas", s.replicas},
                      {"fullyLabeledReplicas", OrNull(s.fully_labeled)},
                      {"readyReplicas", OrNull(s.ready)},
                      {"availableReplicas", OrNull(s.available)},
                      {"terminatingReplicas", s.terminating},
                      {"observedGeneration", OrNull(s.observed_generation)},
                      {"conditions", conditions.empty() ? json::value(nullptr) : json::value(conditions)}};
  kube::ObjectRef ref = kube::Ref<kube::ReplicaSet>(std::string(set.meta.ns.view()), set.meta.name);
  ref.subresource = "status";
  auto r = MergePatch(parts_.client, ref, {{"metadata", {{"uid", set.meta.uid}}}, {"status", std::move(status)}});
  if (!r && r.error().code == Code::kNotFound) return {};
  return r;
}

}  // namespace gpuop::sim
