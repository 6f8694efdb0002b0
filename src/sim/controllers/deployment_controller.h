#pragma once

#include "kube/controller.h"
#include "sim/controllers/deployment_plan.h"
#include "sim/controllers/pod_control.h"

namespace gpuop::sim {

/// Rolls every Deployment's template out by ReplicaSets.
class DeploymentController {
 public:
  DeploymentController(ControllerParts parts, SharedCaches& caches, EventWriter& events);
  void Start() { controller_.Start(); }

 private:
  void Watch();
  Result<kube::Next> Reconcile(const std::string& key);
  /// Takes in ReplicaSets that match and belong to nobody, lets those go that match no more. Whether there were any:
  /// the cache will show it.
  Result<bool> Claim(const kube::Deployment& d, const std::vector<ReplicaSetPtr>& own);
  bool OldPodsRun(const kube::Deployment& d, const std::vector<ReplicaSetPtr>& sets) const;
  Result<> Act(const kube::Deployment& d, const DeploymentPlan& plan);
  Result<> Create(const kube::Deployment& d, const NewReplicaSet& set);
  Result<> ResolveCollision(const kube::Deployment& d, const std::string& name);
  Result<> Change(const kube::Deployment& d, const ReplicaSetChange& change);
  Result<> WriteStatus(const kube::Deployment& d, const kube::DeploymentStatus& status);
  void NoteScaling(const kube::Deployment& d, const std::string& set, std::int32_t from, std::int32_t to);

  ControllerParts parts_;
  SharedCaches& caches_;
  EventWriter& events_;
  kube::Controller controller_;
};

}  // namespace gpuop::sim
