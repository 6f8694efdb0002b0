#include "sim/scheduler/node_cache.h"

#include <algorithm>

#include "sim/scheduler/score.h"

namespace gpuop::sim {

namespace {

/// "1 Insufficient cpu, 2 node(s) were unschedulable": sorted as texts, as the real one does.
std::string Histogram(const std::map<std::string, int>& counts) {
  std::vector<std::string> parts;
  for (const auto& [reason, count] : counts) parts.push_back(std::to_string(count) + " " + reason);
  std::ranges::sort(parts);
  std::string out;
  for (const std::string& part : parts) out.append(out.empty() ? "" : ", ").append(part);
  return out;
}

/// Collects the refusals of one search.
class Refusals {
 public:
  void Add(const NodeVerdict& v, int nodes = 1) {
    for (const std::string& reason : v.reasons) reasons_[reason] += nodes;
    preemption_[v.resolvable ? "No preemption victims found for incoming pod"
                             : "Preemption is not helpful for scheduling"] += nodes;
    obstacles_.Add(v.obstacles);
  }
  NoFit Finish(const PodInfo& pod, std::size_t nodes) const {
    if (nodes == 0) return {"no nodes available to schedule pods", {Obstacle::kNoNodes}};
    const std::string available = "0/" + std::to_string(nodes) + " nodes are available: ";
    const std::string preemption = pod.never_preempts ? std::string("not eligible due to preemptionPolicy=Never.")
                                                      : available + Histogram(preemption_) + ".";
    return {available + Histogram(reasons_) + ". no new claims to deallocate, preemption: " + preemption, obstacles_};
  }

 private:
  std::map<std::string, int> reasons_, preemption_;
  Obstacles obstacles_;
};

}  // namespace

void NodeCache::SetNode(NodeInfo node) {
  NodeInfo& have = nodes_[node.name];
  if (!have.known) ++known_;
  have.name = std::move(node.name);
  have.labels = std::move(node.labels);
  have.taints = std::move(node.taints);
  have.unschedulable = node.unschedulable;
  have.allocatable = std::move(node.allocatable);
  have.known = true;
}

void NodeCache::RemoveNode(const std::string& name) {
  const auto it = nodes_.find(name);
  if (it == nodes_.end() || !it->second.known) return;
  --known_;
  it->second.known = false;
  if (it->second.pods.empty()) nodes_.erase(it);
}

void NodeCache::SetPod(const PodInfoPtr& pod) {
  RemovePod(pod->Key());
  NodeInfo& node = nodes_[std::string(pod->node.view())];
  node.name = pod->node.view();
  node.Add(pod);
  if (node.with_pod_terms > 0) with_terms_.insert(node.name);
  pods_[pod->Key()] = pod;
}

void NodeCache::RemovePod(const std::string& key) {
  const auto pod = pods_.find(key);
  if (pod == pods_.end()) return;
  const auto node = nodes_.find(pod->second->node.view());
  pods_.erase(pod);
  if (node == nodes_.end()) return;
  node->second.Remove(key);
  if (node->second.with_pod_terms == 0) with_terms_.erase(node->first);
  if (!node->second.known && node->second.pods.empty()) nodes_.erase(node);
}

PodInfoPtr NodeCache::FindPod(const std::string& key) const {
  const auto it = pods_.find(key);
  return it == pods_.end() ? nullptr : it->second;
}

bool NodeCache::ForCandidates(const PodInfo& pod, const std::function<bool(const NodeInfo&)>& see) const {
  if (const auto only = OnlyNodes(pod.affinity.node)) {
    for (const std::string& name : *only)
      if (const auto it = nodes_.find(name); it != nodes_.end() && it->second.known && !see(it->second)) break;
    return true;
  }
  const auto start = nodes_.lower_bound(next_);
  const auto range = [&](NodeTable::const_iterator from, NodeTable::const_iterator to) {
    for (; from != to; ++from)
      if (from->second.known && !see(from->second)) return false;
    return true;
  };
  if (range(start, nodes_.end())) range(nodes_.begin(), start);
  return false;
}

std::expected<std::string, NoFit> NodeCache::Choose(const PodInfo& pod) {
  const PodFilter filter(pod, nodes_, with_terms_);
  Refusals refusals;
  std::size_t seen = 0;
  std::vector<const NodeInfo*> fitting;
  const bool narrowed = ForCandidates(pod, [&](const NodeInfo& node) {
    if (fitting.size() == kEnough) {
      next_ = node.name;
      return false;
    }
    ++seen;
    const NodeVerdict v = filter.Check(node);
    v.Fits() ? fitting.push_back(&node) : refusals.Add(v);
    return true;
  });
  if (!fitting.empty()) return BestNode(pod, fitting)->name;
  if (narrowed && seen < known_) {
    refusals.Add({.reasons = {"node(s) didn't satisfy plugin(s) [NodeAffinity]"},
                  .obstacles = {Obstacle::kNodeAffinity},
                  .resolvable = false},
                 static_cast<int>(known_ - seen));
  }
  return std::unexpected(refusals.Finish(pod, known_));
}

}  // namespace gpuop::sim
