#pragma once
// What `kubectl gpu` fetches, before anything is concluded from it.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/amounts.h"
#include "kube/types/core.h"
#include "kube/types/node.h"
#include "kube/types/pod.h"

namespace gpuop::cli::kubectl_gpu {

/// Whether a resource is one that an NVIDIA device plugin offers.
inline bool IsGpuResource(std::string_view resource) { return resource.starts_with("nvidia.com/"); }

/// A Pod that holds GPUs (scheduled, not finished), and how many of which resource.
struct Holder {
  std::string ns, name, node;
  kube::Amounts gpus;
};

/// A Pod that runs a device plugin of NVIDIA GPUs and is no operand: the cloud's, NVIDIA's own chart's, another
/// vendor's.
struct Rival {
  std::string ns, name, node, image;
};

/// The ClusterPolicy that counts: the oldest.
struct PolicyFacts {
  std::string name, state;
  std::vector<kube::Condition> conditions;
  bool driver = true, toolkit = true, device_plugin = true, gfd = true, cdi = true, nri = false;
};

/// The part of a cluster that verdicts about nodes rest on.
struct ClusterFacts {
  /// Where the operands run.
  std::string ns = "gpu-operator";
  std::optional<PolicyFacts> policy;
  std::vector<std::shared_ptr<const kube::Node>> nodes;
  /// All Pods of `ns`.
  std::vector<std::shared_ptr<const kube::Pod>> operands;
  std::vector<Holder> holders;
  std::vector<Rival> rivals;
  /// What the API server does not let this user list. What would follow from it is not said.
  bool sees_nodes = true, sees_pods = true, sees_policies = true;
};

/// One Pod to be explained.
struct PodFacts {
  kube::Pod pod;
  /// Events about it, oldest first.
  std::vector<kube::Event> events;
  /// The last lines of containers that run or ended, by container; those of the run before, where the present one has
  /// just begun.
  std::map<std::string, std::string> logs;
  /// NVIDIA_VISIBLE_DEVICES is set by hand in a container.
  bool visible_devices_by_hand = false;
};

}  // namespace gpuop::cli::kubectl_gpu
