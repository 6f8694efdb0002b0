#pragma once

#include <span>

#include "sim/scheduler/pod_info.h"

namespace gpuop::sim {

/// The best of `nodes` (not empty): least allocated CPU and memory, few pods of the same controller, preferred node and
/// pod affinity, no PreferNoSchedule taint, weighed as kube-scheduler's defaults weigh them. Of equals the one with
/// fewer pods, then the one that comes first by name.
const NodeInfo* BestNode(const PodInfo& pod, std::span<const NodeInfo* const> nodes);

}  // namespace gpuop::sim
