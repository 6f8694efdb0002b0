#pragma once
// What the node lifecycle controller decides about one node. Pure.

#include <optional>
#include <string>
#include <vector>

#include "kube/types/node.h"
#include "kube/types/pod.h"

namespace gpuop::sim {

/// A node that is not heard of for so long is not trusted any more (node-monitor-grace-period).
inline constexpr Duration kNodeGrace = std::chrono::seconds(50);

/// The conditions that say so, if the node was last heard of `silent` ago; nullopt: nothing to change.
std::optional<std::vector<kube::Condition>> ConditionsAfterSilence(const kube::Node& node, Duration silent,
                                                                   WallTime now);

/// The taints the node should have by its conditions and spec.unschedulable, those of others kept; nullopt: it has
/// them.
std::optional<std::vector<kube::Taint>> TaintsFor(const kube::Node& node, WallTime now);

/// When a Pod must leave because of the node's NoExecute taints; nullopt: it may stay.
std::optional<WallTime> EvictionTime(const kube::Pod& pod, const std::vector<kube::Taint>& taints);

}  // namespace gpuop::sim
