#include "sim/scheduler/filter.h"

#include <algorithm>

namespace gpuop::sim {

namespace {

bool Refuse(NodeVerdict& verdict, Obstacle obstacle, bool resolvable, std::string reason) {
  verdict.obstacles.Add(obstacle);
  verdict.resolvable = verdict.resolvable && resolvable;
  verdict.reasons.push_back(std::move(reason));
  return true;
}

std::string ValueOf(const NodeInfo& node, std::string_view key) { return std::string(node.labels.Get(key)); }

bool Has(const TopologyCounts& counts, const NodeInfo& node, std::string_view key) {
  const auto it = counts.find({std::string(key), ValueOf(node, key)});
  return it != counts.end() && it->second > 0;
}

void Count(TopologyCounts& counts, const NodeInfo& node, std::string_view key) {
  if (node.labels.contains(key)) ++counts[{std::string(key), ValueOf(node, key)}];
}

}  // namespace

PodFilter::PodFilter(const PodInfo& pod, const NodeTable& nodes, const std::set<std::string>& nodes_with_terms)
    : pod_(pod) {
  CountExistingAntiAffinity(nodes, nodes_with_terms);
  if (pod_.HasPodTerms()) CountOwnTerms(nodes);
  for (const SpreadConstraint& c : pod_.spread)
    if (c.required()) spread_.push_back({.constraint = &c, .by_value = {}});
  if (!spread_.empty()) CountSpread(nodes);
}

void PodFilter::CountExistingAntiAffinity(const NodeTable& nodes, const std::set<std::string>& nodes_with_terms) {
  for (const std::string& name : nodes_with_terms) {
    const auto node = nodes.find(name);
    if (node == nodes.end()) continue;
    for (const auto& [key, other] : node->second.pods)
      for (const PodTerm& term : other->affinity.anti.required)
        if (Selects(*other, term, pod_)) Count(existing_anti_, node->second, term.topology_key);
  }
}

void PodFilter::CountOwnTerms(const NodeTable& nodes) {
  for (const auto& [name, node] : nodes) {
    for (const auto& [key, other] : node.pods) {
      const bool all =
          std::ranges::all_of(pod_.affinity.pods.required, [&](const PodTerm& t) { return Selects(pod_, t, *other); });
      if (all)
        for (const PodTerm& term : pod_.affinity.pods.required) Count(affinity_, node, term.topology_key);
      for (const PodTerm& term : pod_.affinity.anti.required)
        if (Selects(pod_, term, *other)) Count(anti_, node, term.topology_key);
    }
  }
}

bool PodFilter::CountsForSpread(const NodeInfo& node, const SpreadConstraint& c) const {
  const bool keyed = std::ranges::all_of(
      spread_, [&](const SpreadCounts& s) { return node.labels.contains(s.constraint->topology_key); });
  if (!keyed) return false;
  if (c.node_affinity_policy != "Ignore" && !pod_.MatchesNode(node.name, node.labels)) return false;
  return c.node_taints_policy != "Honor" || FindRepelling(node.taints, pod_.tolerations) == nullptr;
}

void PodFilter::CountSpread(const NodeTable& nodes) {
  for (SpreadCounts& s : spread_) {
    const SpreadConstraint& c = *s.constraint;
    for (const auto& [name, node] : nodes) {
      if (!node.known || !CountsForSpread(node, c)) continue;
      int& count = s.by_value[ValueOf(node, c.topology_key)];
      for (const auto& [key, other] : node.pods)
        if (other->ns == pod_.ns && !other->deleting && c.Counts(other->labels)) ++count;
    }
    s.self = c.Counts(pod_.labels) ? 1 : 0;
    const auto least = std::ranges::min_element(s.by_value, {}, [](const auto& e) { return e.second; });
    const bool enough = s.by_value.size() >= static_cast<std::size_t>(c.min_domains);
    s.least = enough && least != s.by_value.end() ? least->second : 0;
  }
}

NodeVerdict PodFilter::Check(const NodeInfo& node) const {
  NodeVerdict v;
  // In the order of the real plugins: the first that refuses is the one that is named.
  RefusedByNode(node, v) || RefusedByPorts(node, v) || RefusedByResources(node, v) || RefusedBySpread(node, v) ||
      RefusedByPodTerms(node, v);
  return v;
}

bool PodFilter::RefusedByNode(const NodeInfo& node, NodeVerdict& v) const {
  if (node.unschedulable) {
    static const kube::Taint kTaint{"node.kubernetes.io/unschedulable", "", "NoSchedule", {}};
    if (!Tolerated(kTaint, pod_.tolerations))
      return Refuse(v, Obstacle::kNodeUnschedulable, false, "node(s) were unschedulable");
  }
  if (!pod_.node.empty() && pod_.node != node.name)
    return Refuse(v, Obstacle::kNodeName, false, "node(s) didn't match the requested node name");
  if (FindRepelling(node.taints, pod_.tolerations) != nullptr)
    return Refuse(v, Obstacle::kTaint, false, "node(s) had untolerated taint(s)");
  if (!pod_.MatchesNode(node.name, node.labels))
    return Refuse(v, Obstacle::kNodeAffinity, false, "node(s) didn't match Pod's node affinity/selector");
  return false;
}

bool PodFilter::RefusedByPorts(const NodeInfo& node, NodeVerdict& v) const {
  const auto taken = [&](const HostPort& port) {
    return std::ranges::any_of(node.ports, [&](const HostPort& used) { return used.Conflicts(port); });
  };
  if (std::ranges::none_of(pod_.ports, taken)) return false;
  return Refuse(v, Obstacle::kPorts, true, "node(s) didn't have free ports for the requested pod ports");
}

bool PodFilter::RefusedByResources(const NodeInfo& node, NodeVerdict& v) const {
  if (static_cast<std::int64_t>(node.pods.size()) + 1 > AmountOf(node.allocatable, "pods"))
    Refuse(v, Obstacle::kResources, true, "Too many pods");
  for (const auto& [resource, asked] : pod_.requests) {
    const std::int64_t capacity = AmountOf(node.allocatable, resource);
    if (asked > capacity - AmountOf(node.requested, resource))
      Refuse(v, Obstacle::kResources, asked <= capacity, "Insufficient " + resource);
  }
  return !v.Fits();
}

bool PodFilter::RefusedBySpread(const NodeInfo& node, NodeVerdict& v) const {
  static const std::string kReason = "node(s) didn't match pod topology spread constraints";
  for (const SpreadCounts& s : spread_) {
    const Interned* value = node.labels.Find(s.constraint->topology_key);
    if (value == nullptr) return Refuse(v, Obstacle::kSpread, false, kReason + " (missing required label)");
    const auto it = s.by_value.find(value->view());
    const int here = it == s.by_value.end() ? 0 : it->second;
    if (here + s.self - s.least > s.constraint->max_skew) return Refuse(v, Obstacle::kSpread, true, kReason);
  }
  return false;
}

bool PodFilter::AffinityHolds(const NodeInfo& node) const {
  const auto keyed = [&](const PodTerm& t) { return node.labels.contains(t.topology_key); };
  if (!std::ranges::all_of(pod_.affinity.pods.required, keyed)) return false;
  if (std::ranges::all_of(pod_.affinity.pods.required,
                          [&](const PodTerm& t) { return Has(affinity_, node, t.topology_key); }))
    return true;
  // The first pod of a group that wants to be together would otherwise never start.
  return affinity_.empty() &&
         std::ranges::all_of(pod_.affinity.pods.required, [&](const PodTerm& t) { return Selects(pod_, t, pod_); });
}

bool PodFilter::RefusedByPodTerms(const NodeInfo& node, NodeVerdict& v) const {
  if (!AffinityHolds(node)) return Refuse(v, Obstacle::kPodAffinity, false, "node(s) didn't match pod affinity rules");
  const auto near = [&](const PodTerm& t) { return Has(anti_, node, t.topology_key); };
  if (std::ranges::any_of(pod_.affinity.anti.required, near))
    return Refuse(v, Obstacle::kPodAffinity, true, "node(s) didn't match pod anti-affinity rules");
  for (const auto& [where, count] : existing_anti_)
    if (count > 0 && node.labels.contains(where.first) && ValueOf(node, where.first) == where.second)
      return Refuse(v, Obstacle::kPodAffinity, true, "node(s) didn't satisfy existing pods anti-affinity rules");
  return false;
}

}  // namespace gpuop::sim
