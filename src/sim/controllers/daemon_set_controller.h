#pragma once

#include "kube/controller.h"
#include "sim/controllers/daemon_set_plan.h"
#include "sim/controllers/pod_control.h"

namespace gpuop::sim {

/// Keeps one Pod of every DaemonSet on every node that should run it.
class DaemonSetController {
 public:
  DaemonSetController(ControllerParts parts, SharedCaches& caches, PodControl& pods, EventWriter& events);
  void Start() { controller_.Start(); }

 private:
  using SetPtr = std::shared_ptr<const kube::DaemonSet>;
  using RevisionPtr = std::shared_ptr<const kube::ControllerRevision>;

  void Watch();
  Result<kube::Next> Reconcile(const std::string& key);
  /// The hash of the current template's revision; makes or renumbers the revision if needed.
  Result<std::string> SyncRevision(const kube::DaemonSet& set);
  Result<std::string> CreateRevision(const kube::DaemonSet& set, const std::string& data, std::int64_t number);
  Result<> TrimHistory(const kube::DaemonSet& set, const std::string& current, const std::vector<PodPtr>& pods);
  Result<> Act(const kube::DaemonSet& set, const DaemonPlan& plan, const std::string& hash);
  Result<> WriteStatus(const kube::DaemonSet& set, const kube::DaemonSetStatus& status);

  ControllerParts parts_;
  SharedCaches& caches_;
  PodControl& pods_;
  EventWriter& events_;
  struct Failures {
    int count = 0;
    WallTime until{};
  };
  std::map<std::string, std::map<std::string, Failures>> failures_;  ///< by set UID, node
  kube::Controller controller_;
};

}  // namespace gpuop::sim
