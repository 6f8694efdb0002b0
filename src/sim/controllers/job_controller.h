#pragma once

#include "kube/controller.h"
#include "sim/controllers/job_plan.h"
#include "sim/controllers/pod_control.h"

namespace gpuop::sim {

/// Runs every Job's Pods to completion. Completion mode NonIndexed.
class JobController {
 public:
  JobController(ControllerParts parts, SharedCaches& caches, PodControl& pods, EventWriter& events);
  void Start() { controller_.Start(); }

 private:
  void Watch();
  Result<kube::Next> Reconcile(const std::string& key);
  Result<> Act(const kube::Job& job, const JobPlan& plan);
  Result<> WriteStatus(const kube::Job& job, const JobPlan& plan);
  Result<> Release(const kube::Pod& pod);

  ControllerParts parts_;
  SharedCaches& caches_;
  PodControl& pods_;
  EventWriter& events_;
  kube::Controller controller_;
};

}  // namespace gpuop::sim
