#include "sim/kubelet/admission.h"

#include <fmt/core.h>

#include "sim/scheduler/read.h"

namespace gpuop::sim {

namespace {

Refusal OutOf(std::string_view resource, std::int64_t asked, std::int64_t used, std::int64_t capacity) {
  return {fmt::format("OutOf{}", resource),
          fmt::format("Pod was rejected: Node didn't have enough resource: {}, requested: {}, used: {}, capacity: {}",
                      resource, asked, used, capacity)};
}

}  // namespace

std::optional<Refusal> Admit(const PodInfo& pod, const kube::Node& node, const std::vector<PodInfoPtr>& others) {
  if (!pod.MatchesNode(node.meta.name, node.meta.labels))
    return Refusal{
        "NodeAffinity",
        "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"};
  NodeInfo info = ReadNode(node);
  for (const PodInfoPtr& other : others) info.Add(other);
  const auto used_pods = static_cast<std::int64_t>(info.pods.size());
  if (const std::int64_t most = AmountOf(info.allocatable, "pods"); used_pods + 1 > most)
    return OutOf("pods", 1, used_pods, most);
  for (const auto& [resource, asked] : pod.requests) {
    const std::int64_t capacity = AmountOf(info.allocatable, resource), used = AmountOf(info.requested, resource);
    if (asked > capacity - used) return OutOf(resource, asked, used, capacity);
  }
  for (const HostPort& port : pod.ports)
    for (const HostPort& taken : info.ports)
      if (taken.Conflicts(port))
        return Refusal{
            "NodePorts",
            "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"};
  return std::nullopt;
}

}  // namespace gpuop::sim
