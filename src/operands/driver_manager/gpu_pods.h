#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/json.h"
#include "operands/driver_manager/options.h"

namespace gpuop::operands::driver_manager {

/// What matters of a Pod that may have to go.
struct PodOnNode {
  std::string ns = {}, name = {}, uid = {};
  bool of_daemon_set = false, has_controller = false, has_empty_dir = false;
  std::string Called() const { return ns + "/" + name; }
  bool operator==(const PodOnNode&) const = default;
};

/// The Pod as a user of GPUs: one of its containers, those that run first included, asks for nvidia.com/gpu… or
/// nvidia.com/mig-…. nullopt for others and for Pods that have ended.
std::optional<PodOnNode> AsGpuPod(const data::JsonObject& pod);

/// Any Pod, for a drain; nullopt for those that have ended and for the kubelet's own (static) ones, which no eviction
/// ends.
std::optional<PodOnNode> AsPod(const data::JsonObject& pod);

/// What is to be done about a node's Pods before the driver can go.
struct EvictionPlan {
  std::vector<PodOnNode> evict;
  /// Why nothing may be evicted at all; empty when all can. Names the Pods and the setting that allows it.
  std::string refusal;
};
/// Pods of DaemonSets come back wherever they are evicted from: they are left to their labels. `allowed` is false while
/// the upgrade controller, or nobody, does evictions.
EvictionPlan PlanEviction(std::span<const PodOnNode> pods, bool allowed, const Options& options);

}  // namespace gpuop::operands::driver_manager
