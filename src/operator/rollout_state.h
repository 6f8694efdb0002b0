#pragma once
// Whether a DaemonSet has come as far as it should. Pure.

#include <boost/json/object.hpp>
#include <string>

#include "kube/types/pod.h"
#include "operator/node_state.h"
#include "operator/own_object.h"

namespace gpuop::op {

/// What a DaemonSet's Pods ask of a node, read once from its manifest.
struct Placement {
  std::vector<std::pair<std::string, std::string>> selector;
  std::vector<kube::Toleration> tolerations;
  bool host_network = false;
  /// It has a node affinity: which nodes it runs on is not decided here.
  bool has_affinity = false;

  static Placement Of(const boost::json::object& daemon_set);
  bool operator==(const Placement&) const = default;
};

/// Whether the DaemonSet controller puts a Pod on the node (its taints that it always tolerates included).
bool Places(const Placement& placement, const NodeState& node);

/// Whether the DaemonSet controller puts no Pod on the node and leaves alone one that is there: the node was tainted
/// NoSchedule after the Pod came, by somebody whose business that is.
bool Keeps(const Placement& placement, const NodeState& node);

/// "" when all Pods run as wanted; else what is waited for ("3 of 5 Pods available"). `expected` is how many nodes the
/// DaemonSet should be on, nullopt when that is not known; `kept` on how many more it may have Pods (Keeps),
/// counted or not.
std::string WaitingFor(const OwnObject& daemon_set, std::optional<std::int64_t> expected, std::int64_t kept);

}  // namespace gpuop::op
