#pragma once
// The ReplicaSet controller's policy. Pure.

#include <vector>

#include "sim/controllers/workload.h"

namespace gpuop::sim {

struct ReplicaSetPlan {
  std::int32_t create = 0;
  std::vector<PodPtr> remove;
  kube::ReplicaSetStatus status;
  std::optional<WallTime> again;  ///< a pod becomes available then
};

/// Not finished and not being deleted.
bool IsActive(const kube::Pod& pod);
/// Which of `pods` go first when a set shrinks: those that serve least (unbound, pending, not ready), then the cheaper
/// (controller.kubernetes.io/pod-deletion-cost), then on nodes with more of the set's pods, then the younger.
std::vector<PodPtr> ByDispensability(std::vector<PodPtr> pods);

ReplicaSetPlan PlanReplicaSet(const kube::ReplicaSet& set, const std::vector<PodPtr>& pods, WallTime now);

}  // namespace gpuop::sim
