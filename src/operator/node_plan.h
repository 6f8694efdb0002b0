#pragma once
// What a node's labels must become. Pure: the policy is all here, and tables of cases cover it.

#include <map>
#include <optional>
#include <set>
#include <string>

#include "operator/driver_routing.h"
#include "operator/label_rules.h"
#include "operator/node_marks.h"
#include "operator/node_state.h"

namespace gpuop::op {

/// Labels and annotations to set, or to remove where there is no value.
struct NodePatch {
  std::map<std::string, std::optional<std::string>> labels, annotations;

  bool empty() const { return labels.empty() && annotations.empty(); }
  bool operator==(const NodePatch&) const = default;
};

/// What else the plan rests on.
struct NodeContext {
  const LabelRules& rules;
  const DriverRouting& drivers;
  /// Proof that the GPUs are gone has stood for the whole hold time (see kHoldTime).
  bool absence_held = false;
  /// A selector has gone unmet, for want of a discovered label, for the whole hold time.
  bool unmet_held = false;
  /// A driver Pod without an owner runs here: left by the ClusterPolicy when NVIDIADrivers took over.
  bool orphaned_driver = false;
  /// Asked for only while the node leaves one workload for another: whether Pods use its GPUs (true while nobody
  /// knows), and the deploy names of operands whose Pods run on it.
  bool gpus_in_use = true;
  std::set<std::string, std::less<>> running = {};
};

struct NodePlan {
  NodePatch patch;
  /// GPUs are proved absent, but not long enough to act on it.
  bool absence_pending = false;
  /// The node keeps its driver though its selector is not met at the moment.
  bool unmet_pending = false;
  /// The node leaves one workload for another: the Pods that use its GPUs are to be evicted, then the operands of the
  /// one leave, then those of the other come. Until it is done the plan must be made again whenever its Pods change.
  bool changing_workload = false;
  /// The node's workload label is none of the three words: nothing is decided for it.
  std::string bad_workload;
  std::vector<std::string> rivals;
  /// Marks of operands that are not meant to be on the node any more. Each goes once no Pod on the node keeps it.
  NodeMarks leftovers;
  /// Goes together with the last of them.
  NodePatch last;
};

/// How long a proof must stand before something disruptive follows from it: longer than a restart of node feature
/// discovery or a device plugin takes.
inline constexpr std::chrono::minutes kHoldTime{5};

NodePlan PlanNode(const NodeState& node, const NodeContext& context);

}  // namespace gpuop::op
