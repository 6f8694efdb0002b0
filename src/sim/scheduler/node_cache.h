#pragma once
// The cluster as the scheduler sees it, kept up to date object by object, and the choice of a node.

#include <optional>
#include <string>
#include <unordered_map>

#include "sim/scheduler/filter.h"

namespace gpuop::sim {

/// Why a pod found no node.
struct NoFit {
  /// "0/3 nodes are available: …" as in the condition and the event.
  std::string message;
  Obstacles obstacles;
};

/// Not thread-safe. Pods and nodes may become known in any order.
class NodeCache {
 public:
  /// Enters or replaces a node's own data; its pods stay.
  void SetNode(NodeInfo node);
  void RemoveNode(const std::string& name);
  /// Enters or replaces a pod that is bound (pod.node) and not terminal.
  void SetPod(const PodInfoPtr& pod);
  void RemovePod(const std::string& key);
  /// The pod as it is counted, or null.
  PodInfoPtr FindPod(const std::string& key) const;

  const NodeTable& nodes() const { return nodes_; }

  /// The node for `pod`. At least `kEnough` fitting nodes are compared (all, in a small cluster), beginning where the
  /// last search ended; the best score wins, then fewer pods, then the name: the same state gives the same answer.
  std::expected<std::string, NoFit> Choose(const PodInfo& pod);

  static constexpr std::size_t kEnough = 100;

 private:
  /// Calls `see` with the nodes that `pod` may try, in turn, until it returns false. True: its affinity names its
  /// nodes, the others were left out.
  bool ForCandidates(const PodInfo& pod, const std::function<bool(const NodeInfo&)>& see) const;

  NodeTable nodes_;
  std::set<std::string> with_terms_;
  std::unordered_map<std::string, PodInfoPtr> pods_;
  std::size_t known_ = 0;
  std::string next_;
};

}  // namespace gpuop::sim
