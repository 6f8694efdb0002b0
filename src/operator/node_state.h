#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/types/node.h"
#include "operands/facts.h"

namespace gpuop::op {

/// A Node as far as the operator cares. Images, addresses, conditions and most annotations are not kept: at 10,000
/// nodes they would be most of the memory.
struct NodeState {
  static inline const kube::Resource kResource = kube::Node::kResource;
  /// Of the annotations only NVIDIA's.
  kube::ObjectMeta meta;
  bool has_annotations = false;  ///< any, whosever
  /// But for those that every DaemonSet's Pods tolerate.
  std::vector<kube::Taint> taints;
  Interned kernel, runtime_version, arch;
  /// Red Hat CoreOS' version as the kubelet knows it; "" of other systems, and where it does not say.
  Interned rhcos;
  /// Why GPU work cannot run on it (api/chain.h), as its validator says; "" when it can, and while nobody knows.
  Interned unfit;
  /// Whether some resource of nvidia.com (or a MIG device) can be allocated.
  bool offers_gpus = false;

  static Result<NodeState> FromJson(const boost::json::object& in);
  bool operator==(const NodeState&) const = default;
};

/// Whether two states differ in anything but resourceVersion: what a handler asks, so that a heartbeat, or a node that
/// is not ready for a while, wakes nobody.
bool Differs(const NodeState& a, const NodeState& b);

/// What discovery says about NVIDIA devices in a node.
enum class GpuSign {
  kPresent,  ///< a PCI label says so
  kAbsent,   ///< discovery has described the node, without one; and the kubelet has none to offer
  kSilent,   ///< discovery says nothing about the node, or the two disagree: no proof of anything
};
GpuSign SignOf(const NodeState& node);

/// Whether the node is treated as a GPU node: discovery says so, or it was one and nothing proves the opposite.
bool IsGpuNode(const NodeState& node);

/// Whether MIG manager belongs on it. nullopt: GPU feature discovery has not said anything.
std::optional<bool> MigCapable(const NodeState& node);

/// Whether node feature discovery describes another kernel or system than the kubelet does: it has not looked since the
/// node was updated. What the kubelet says counts.
bool HasStaleFeatures(const NodeState& node);

/// The group that manifests see the node in. What discovery does not say (any more) is taken from our own labels.
operands::NodeGroup GroupOf(const NodeState& node);

/// The container engine of a version such as "containerd://1.7.0": "containerd", "docker" or "crio"; "" when unknown.
std::string RuntimeOf(std::string_view version);

}  // namespace gpuop::op
