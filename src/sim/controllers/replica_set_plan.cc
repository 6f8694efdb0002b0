#include "sim/controllers/replica_set_plan.h"

#include <algorithm>

#include "base/text.h"

namespace gpuop::sim {

namespace {

int PhaseRank(const kube::Pod& pod) {
  if (pod.status.phase == "Pending") return 0;
  return pod.status.phase == "Unknown" ? 1 : 2;
}

std::int64_t Restarts(const kube::Pod& pod) {
  std::int64_t most = 0;
  for (const kube::ContainerStatus& c : pod.status.containers) most = std::max<std::int64_t>(most, c.restart_count);
  return most;
}

/// Smaller goes first.
auto Worth(const kube::Pod& pod, const std::map<std::string_view, int>& per_node) {
  const auto cost = ParseInt(pod.meta.annotations.Get("controller.kubernetes.io/pod-deletion-cost")).value_or(0);
  const kube::Condition* ready = kube::FindCondition(pod.status.conditions, "Ready");
  const WallTime since = pod.ready() ? ready->last_transition : WallTime::max();
  const auto crowd = per_node.find(pod.spec.node_name.view());
  return std::tuple(!pod.spec.node_name.empty(), PhaseRank(pod), pod.ready(), cost,
                    crowd == per_node.end() ? 0 : -crowd->second, -since.time_since_epoch().count(), -Restarts(pod),
                    -pod.meta.created.time_since_epoch().count(), std::string_view(pod.meta.name));
}

}  // namespace

bool IsActive(const kube::Pod& pod) { return !pod.finished() && !pod.meta.deleting(); }

std::vector<PodPtr> ByDispensability(std::vector<PodPtr> pods) {
  std::map<std::string_view, int> per_node;
  for (const PodPtr& pod : pods)
    if (!pod->spec.node_name.empty()) ++per_node[pod->spec.node_name.view()];
  std::ranges::sort(pods, {}, [&](const PodPtr& p) { return Worth(*p, per_node); });
  return pods;
}

ReplicaSetPlan PlanReplicaSet(const kube::ReplicaSet& set, const std::vector<PodPtr>& pods, WallTime now) {
  ReplicaSetPlan plan;
  std::vector<PodPtr> active;
  kube::ReplicaSetStatus& s = plan.status;
  s.observed_generation = set.meta.generation;
  s.conditions = set.status.conditions;
  const auto labelled = [&](const kube::Pod& pod) {
    return std::ranges::all_of(set.spec.pod_template.labels,
                               [&](const auto& want) { return pod.meta.labels.Get(want.first) == want.second.view(); });
  };
  for (const PodPtr& pod : pods) {
    if (pod->meta.deleting() && !pod->finished()) ++s.terminating;
    if (!IsActive(*pod)) continue;
    active.push_back(pod);
    ++s.replicas;
    s.fully_labeled += labelled(*pod) ? 1 : 0;
    s.ready += pod->ready() ? 1 : 0;
    s.available += IsAvailable(*pod, set.spec.min_ready_seconds, now) ? 1 : 0;
    if (const auto at = AvailableAt(*pod, set.spec.min_ready_seconds, now))
      plan.again = std::min(plan.again.value_or(*at), *at);
  }
  if (set.meta.deleting()) return plan;
  const std::int32_t excess = static_cast<std::int32_t>(active.size()) - set.spec.replicas;
  plan.create = std::max(0, -excess);
  if (excess > 0) {
    plan.remove = ByDispensability(std::move(active));
    plan.remove.resize(static_cast<std::size_t>(excess));
  }
  return plan;
}

}  // namespace gpuop::sim
