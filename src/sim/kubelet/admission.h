#pragma once
// What a kubelet asks before it runs a Pod that somebody has bound to its node.

#include <optional>
#include <string>
#include <vector>

#include "kube/types/node.h"
#include "sim/scheduler/pod_info.h"

namespace gpuop::sim {

struct Refusal {
  std::string reason, message;
};

/// nullopt: it may run. `others` are the pods that the node runs already. The first obstacle is named: affinity, host
/// ports, then resources in the order of their names ("OutOfnvidia.com/gpu").
std::optional<Refusal> Admit(const PodInfo& pod, const kube::Node& node, const std::vector<PodInfoPtr>& others);

}  // namespace gpuop::sim
