#pragma once

#include "kube/controller.h"
#include "sim/controllers/pod_control.h"
#include "sim/controllers/replica_set_plan.h"

namespace gpuop::sim {

/// Keeps the wished number of Pods of every ReplicaSet.
class ReplicaSetController {
 public:
  ReplicaSetController(ControllerParts parts, SharedCaches& caches, PodControl& pods, EventWriter& events);
  void Start() { controller_.Start(); }

 private:
  void Watch();
  Result<kube::Next> Reconcile(const std::string& key);
  Result<> Act(const kube::ReplicaSet& set, const ReplicaSetPlan& plan);
  Result<> WriteStatus(const kube::ReplicaSet& set, const kube::ReplicaSetStatus& status);

  ControllerParts parts_;
  SharedCaches& caches_;
  PodControl& pods_;
  kube::Controller controller_;
};

}  // namespace gpuop::sim
