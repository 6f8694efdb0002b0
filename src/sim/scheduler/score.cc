#include "sim/scheduler/score.h"

#include <algorithm>
#include <tuple>

namespace gpuop::sim {

namespace {

constexpr std::int64_t kMax = 100;

std::int64_t FreeShare(std::int64_t capacity, std::int64_t used) {
  return capacity <= 0 || used > capacity ? 0 : (capacity - used) * kMax / capacity;
}

std::int64_t LeastAllocated(const PodInfo& pod, const NodeInfo& node) {
  const std::int64_t cpu = node.non_zero_cpu + AmountOf(pod.requests, "cpu");
  const std::int64_t memory = node.non_zero_memory + AmountOf(pod.requests, "memory");
  return (FreeShare(AmountOf(node.allocatable, "cpu"), cpu) + FreeShare(AmountOf(node.allocatable, "memory"), memory)) /
         2;
}

std::int64_t Unwanted(const PodInfo& pod, const NodeInfo& node) {
  return std::ranges::count_if(node.taints, [&](const kube::Taint& taint) {
    return taint.effect == "PreferNoSchedule" && !Tolerated(taint, pod.tolerations);
  });
}

std::int64_t PreferredNode(const PodInfo& pod, const NodeInfo& node) {
  std::int64_t sum = 0;
  for (const PreferredNodeTerm& p : pod.affinity.node.preferred)
    if (p.term.Matches(node.name, node.labels)) sum += p.weight;
  return sum;
}

std::int64_t Siblings(const PodInfo& pod, const NodeInfo& node) {
  if (pod.controller_uid.empty()) return 0;
  return std::ranges::count_if(node.pods,
                               [&](const auto& e) { return e.second->controller_uid == pod.controller_uid; });
}

/// Pods near by that the pod would like to have, less those that it would not. A domain is looked at as far as this
/// node alone: enough for kubernetes.io/hostname, which DaemonSets and Deployments prefer to spread over.
std::int64_t PreferredPods(const PodInfo& pod, const NodeInfo& node) {
  std::int64_t sum = 0;
  for (const auto& [key, other] : node.pods) {
    for (const WeightedPodTerm& t : pod.affinity.pods.preferred) sum += Selects(pod, t.term, *other) ? t.weight : 0;
    for (const WeightedPodTerm& t : pod.affinity.anti.preferred) sum -= Selects(pod, t.term, *other) ? t.weight : 0;
  }
  return sum;
}

using Measure = std::int64_t (*)(const PodInfo&, const NodeInfo&);

/// Adds `weight` times the measure, stretched over 0 … 100 between the smallest and the greatest.
void AddNormalised(std::vector<std::int64_t>& scores, const PodInfo& pod, std::span<const NodeInfo* const> nodes,
                   Measure measure, std::int64_t weight, bool less_is_better) {
  std::vector<std::int64_t> values;
  values.reserve(nodes.size());
  for (const NodeInfo* node : nodes) values.push_back(measure(pod, *node));
  const auto [least, most] = std::ranges::minmax(values);
  if (least == most) return;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::int64_t share = (values[i] - least) * kMax / (most - least);
    scores[i] += weight * (less_is_better ? kMax - share : share);
  }
}

}  // namespace

const NodeInfo* BestNode(const PodInfo& pod, std::span<const NodeInfo* const> nodes) {
  std::vector<std::int64_t> scores;
  scores.reserve(nodes.size());
  for (const NodeInfo* node : nodes) scores.push_back(LeastAllocated(pod, *node));
  AddNormalised(scores, pod, nodes, &Unwanted, 3, true);
  AddNormalised(scores, pod, nodes, &PreferredNode, 2, false);
  AddNormalised(scores, pod, nodes, &Siblings, 2, true);
  AddNormalised(scores, pod, nodes, &PreferredPods, 2, false);
  std::size_t best = 0;
  const auto rank = [&](std::size_t i) {
    return std::tuple(-scores[i], nodes[i]->pods.size(), std::string_view(nodes[i]->name));
  };
  for (std::size_t i = 1; i < nodes.size(); ++i)
    if (rank(i) < rank(best)) best = i;
  return nodes[best];
}

}  // namespace gpuop::sim
