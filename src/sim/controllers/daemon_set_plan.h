#pragma once
// The DaemonSet controller's policy. Pure: objects and the time in, wishes out.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kube/types/node.h"
#include "sim/controllers/workload.h"

namespace gpuop::sim {

using NodePtr = std::shared_ptr<const kube::Node>;

/// The parts of a DaemonSet's pod template that decide where its pods run.
struct DaemonPlacement {
  Interned node_name;
  kube::StringMap node_selector;
  kube::RawJson affinity;
  std::vector<kube::Toleration> tolerations;  ///< with those that the controller adds

  template <class V>
  void Visit(V& v) {
    v("nodeName", node_name);
    v("nodeSelector", node_selector);
    v("affinity", affinity);
    v("tolerations", tolerations);
  }
};
/// Reads them from the template; the tolerations that the controller gives every daemon pod are added, and one more for
/// pods on the host's network.
Result<DaemonPlacement> ReadDaemonPlacement(const kube::DaemonSet& set);

/// Whether a node gets a pod, and whether one that it has may stay.
struct DaemonFit {
  bool should_run = false, may_stay = false;
};

/// Decides for many nodes: what is parsed once is kept.
class DaemonFitter {
 public:
  static Result<DaemonFitter> For(const kube::DaemonSet& set);
  DaemonFit Check(const kube::Node& node) const;

 private:
  struct Parsed;
  std::shared_ptr<const Parsed> parsed_;
};

/// The node that a daemon pod runs on or is meant for ("" when that cannot be told).
std::string TargetNode(const kube::Pod& pod);

/// One pod to make: the template with tolerations and the affinity for its node.
Result<boost::json::object> DaemonPod(const kube::DaemonSet& set, const std::string& node, std::string_view hash);

/// A pod to delete, and the event that explains it (both parts empty: none).
struct PodRemoval {
  PodPtr pod;
  std::string event_type, event_reason, event_message;
};

struct DaemonPlan {
  std::vector<std::string> create_on;  ///< node names
  std::vector<PodRemoval> remove;
  kube::DaemonSetStatus status;
  /// Look again then: a pod becomes available, or a failed pod's back-off ends.
  std::optional<WallTime> again;
};

/// What the plan looks at.
struct DaemonView {
  const kube::DaemonSet* set = nullptr;
  const DaemonFitter* fitter = nullptr;
  std::string hash;  ///< of the current template
  std::vector<NodePtr> nodes;
  std::vector<PodPtr> pods;  ///< the set's own
  WallTime now{};
  /// Nodes whose failed pods must not be replaced before a time.
  std::map<std::string, WallTime> failed_until;
};
/// One turn of the controller: pods on all nodes that should run one, none elsewhere; failed pods replaced; the update
/// strategy; the status counts.
DaemonPlan PlanDaemonSet(const DaemonView& view);

}  // namespace gpuop::sim
