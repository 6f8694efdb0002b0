#pragma once
// The Deployment controller's policy. Pure: objects and the time in, wishes out.

#include <map>
#include <string>
#include <vector>

#include "sim/controllers/workload.h"

namespace gpuop::sim {

using ReplicaSetPtr = std::shared_ptr<const kube::ReplicaSet>;

inline constexpr std::string_view kRevision = "deployment.kubernetes.io/revision";
inline constexpr std::string_view kRevisionHistory = "deployment.kubernetes.io/revision-history";
inline constexpr std::string_view kDesiredReplicas = "deployment.kubernetes.io/desired-replicas";
inline constexpr std::string_view kMaxReplicas = "deployment.kubernetes.io/max-replicas";
inline constexpr std::string_view kPodTemplateHash = "pod-template-hash";

/// A change of one ReplicaSet: its size, its annotations, or both.
struct ReplicaSetChange {
  ReplicaSetPtr set;
  std::optional<std::int32_t> replicas;
  std::map<std::string, std::string> annotations;  ///< to set
  std::optional<std::int32_t> min_ready_seconds;
};

/// A ReplicaSet to create.
struct NewReplicaSet {
  std::string name, hash;
  std::int32_t replicas = 0;
  std::map<std::string, std::string> annotations;
};

struct DeploymentPlan {
  std::optional<NewReplicaSet> create;
  std::vector<ReplicaSetChange> change;
  std::vector<ReplicaSetPtr> remove;    ///< beyond the history limit
  std::optional<std::string> revision;  ///< the Deployment's own annotation, where it must change
  kube::DeploymentStatus status;
  std::optional<WallTime> again;  ///< the progress deadline
};

struct DeploymentView {
  const kube::Deployment* deployment = nullptr;
  std::vector<ReplicaSetPtr> sets;  ///< its own
  /// Pods of old sets that still run, for strategy Recreate.
  bool old_pods_running = false;
  WallTime now{};
};

/// maxSurge and maxUnavailable as numbers of pods.
struct RollingBounds {
  std::int32_t surge = 0, unavailable = 0;
};
RollingBounds BoundsOf(const kube::Deployment& d);

/// Whether `set` runs the template, the hash label apart.
bool HasTemplate(const kube::ReplicaSet& set, const kube::PodTemplate& wanted);

/// One turn of the controller.
DeploymentPlan PlanDeployment(const DeploymentView& view);

/// The status a Deployment should have, given its ReplicaSets as they are. `fresh` is the set of the current template
/// or null.
kube::DeploymentStatus DeploymentStatusOf(const DeploymentView& view, const ReplicaSetPtr& fresh);
/// Adds what is to say about progress: Progressing with its reason. Returns when the deadline comes, if it is running.
std::optional<WallTime> JudgeProgress(const DeploymentView& view, const ReplicaSetPtr& fresh,
                                      kube::DeploymentStatus& status);
/// Replaces the condition of the same type, as Deployments do it: nothing changes when status and reason are the same,
/// and the transition's time stays when the status is.
void SetDeploymentCondition(kube::DeploymentStatus& status, kube::Condition wanted);

}  // namespace gpuop::sim
