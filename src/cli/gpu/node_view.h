#pragma once
// One node with all that belongs to it: what rules look at.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/chain.h"
#include "cli/gpu/facts.h"

namespace gpuop::cli::kubectl_gpu {

/// Something wrong, or on its way, with the lines that show it.
struct Diagnosis {
  api::ReasonCode code = api::ReasonCode::kProved;
  std::vector<std::string> evidence = {};
  /// The first command to run.
  std::string check = {};
  bool operator==(const Diagnosis&) const = default;

  const api::Reason& reason() const { return api::Find(code); }
  /// The first line of evidence, or the reason's words where there is none.
  std::string_view brief() const { return evidence.empty() ? reason().words : std::string_view(evidence.front()); }
  /// The same, told elsewhere than on the node's own page: each line says which node it is about.
  Diagnosis On(std::string_view node) const;
};

/// How a node, or a Pod, stands.
enum class Standing {
  kNone,      ///< it has nothing to do with GPUs
  kFit,       ///< proved
  kUnproved,  ///< nothing is wrong, and nobody proved it
  kWaiting,   ///< on its way
  kWarning,   ///< it works, worse than it should
  kBroken,
};
/// "fit", "not proved", "waiting", "degraded", "broken"; "-" for kNone.
std::string_view Word(Standing standing);

/// One resource of a node.
struct Offer {
  std::int64_t advertised = 0, allocatable = 0, used = 0;
  std::int64_t free() const { return allocatable - used; }
  bool operator==(const Offer&) const = default;
};

/// Points into the ClusterFacts it was made of.
struct NodeView {
  const kube::Node* node = nullptr;
  std::vector<const kube::Pod*> operands;
  std::vector<const Holder*> holders;
  std::vector<const Rival*> rivals;
  std::map<std::string, Offer, std::less<>> offers;

  const std::string& name() const { return node->meta.name; }
  std::string_view label(std::string_view key) const { return node->meta.labels.Get(key); }
  /// Whether it has, or had, NVIDIA GPUs as far as labels and resources tell.
  bool HasGpus() const;
  /// "amd64"
  std::string_view arch() const;
  /// "8 x NVIDIA-A100-SXM4-40GB"; "" when no label says so.
  std::string Product() const;
  /// "580.95.05"; "" when no label says so.
  std::string DriverVersion() const;
};

/// Every node of the facts, in their order.
std::vector<NodeView> ViewNodes(const ClusterFacts& facts);

/// Who installs a node's driver: "host", "operator", "NVIDIADriver NAME", or "" when it is not known.
std::string DriverOwner(const NodeView& node, const ClusterFacts& facts);
/// How GPUs get into containers: "cdi", "nri", "runtime", "host" (the host's own toolkit), or "" when it is not known.
std::string ToolkitPath(const NodeView& node, const ClusterFacts& facts);

/// "container-toolkit" for a Pod of nvidia-container-toolkit-daemonset: the operand's short name; "" for other Pods.
std::string_view OperandOf(const kube::Pod& pod);

/// Everything wrong with a node, or on its way, along the chain.
std::vector<Diagnosis> DiagnoseNode(const NodeView& node, const ClusterFacts& facts);
/// The one to tell: the first along the chain of the worst kind; null when there is none.
const Diagnosis* FirstOf(const std::vector<Diagnosis>& found);
Standing StandingOf(const NodeView& node, const std::vector<Diagnosis>& found);

}  // namespace gpuop::cli::kubectl_gpu
