#pragma once
// Which nodes take a pod, and why the others do not, in kube-scheduler's words. Pure.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/scheduler/pod_info.h"

namespace gpuop::sim {

using NodeTable = std::map<std::string, NodeInfo, std::less<>>;

/// What refused a pod: each later event can help only against some of these.
enum class Obstacle : std::uint8_t {
  kNodeUnschedulable,
  kNodeName,
  kTaint,
  kNodeAffinity,
  kPorts,
  kResources,
  kSpread,
  kPodAffinity,
  kNoNodes,
};
/// A set of obstacles.
class Obstacles {
 public:
  Obstacles() = default;
  Obstacles(std::initializer_list<Obstacle> list) {
    for (const Obstacle o : list) Add(o);
  }
  void Add(Obstacle o) { bits_ = static_cast<std::uint16_t>(bits_ | (1U << static_cast<unsigned>(o))); }
  void Add(Obstacles o) { bits_ = static_cast<std::uint16_t>(bits_ | o.bits_); }
  bool Meets(Obstacles o) const { return (bits_ & o.bits_) != 0; }
  bool empty() const { return bits_ == 0; }
  bool operator==(const Obstacles&) const = default;

 private:
  std::uint16_t bits_ = 0;
};

/// One node's answer. No reasons: it takes the pod.
struct NodeVerdict {
  std::vector<std::string> reasons;
  Obstacles obstacles;
  /// Fewer pods on the node would help (what preemption could do).
  bool resolvable = true;
  bool Fits() const { return reasons.empty(); }
};

/// Counts pods by (topology key, its value on the node).
using TopologyCounts = std::map<std::pair<std::string, std::string>, int>;

/// The filters for one pod. What depends on all nodes is counted once, when it is made: O(nodes) and more only for pods
/// that have, or meet, pod affinity or spread constraints. `nodes` must outlive it unchanged.
class PodFilter {
 public:
  /// `nodes_with_terms`: the nodes that run pods with required (anti-)affinity.
  PodFilter(const PodInfo& pod, const NodeTable& nodes, const std::set<std::string>& nodes_with_terms);

  NodeVerdict Check(const NodeInfo& node) const;

 private:
  struct SpreadCounts {
    const SpreadConstraint* constraint;
    std::map<std::string, int, std::less<>> by_value;
    int self = 0, least = 0;
  };

  void CountExistingAntiAffinity(const NodeTable& nodes, const std::set<std::string>& nodes_with_terms);
  void CountOwnTerms(const NodeTable& nodes);
  void CountSpread(const NodeTable& nodes);
  bool CountsForSpread(const NodeInfo& node, const SpreadConstraint& c) const;

  bool RefusedByNode(const NodeInfo& node, NodeVerdict& verdict) const;
  bool RefusedByPorts(const NodeInfo& node, NodeVerdict& verdict) const;
  bool RefusedByResources(const NodeInfo& node, NodeVerdict& verdict) const;
  bool RefusedBySpread(const NodeInfo& node, NodeVerdict& verdict) const;
  bool RefusedByPodTerms(const NodeInfo& node, NodeVerdict& verdict) const;
  bool AffinityHolds(const NodeInfo& node) const;

  const PodInfo& pod_;
  TopologyCounts existing_anti_, affinity_, anti_;
  std::vector<SpreadCounts> spread_;
};

}  // namespace gpuop::sim
