#include "operator/node_state.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <utility>

#include "api/chain.h"
#include "base/text.h"
#include "operands/labels.h"
#include "operator/names.h"
#include "operator/object_shape.h"

namespace gpuop::op {
namespace {

struct Said {
  Interned type, status, reason;
  template <class V>
  void Visit(V& v) {
    v("type", type);
    v("status", status);
    v("reason", reason);
  }
};

struct Status {
  kube::StringMap allocatable;
  kube::NodeInfo info;
  std::vector<Said> conditions;
  template <class V>
  void Visit(V& v) {
    v("allocatable", allocatable);
    v("nodeInfo", info);
    v("conditions", conditions);
  }
};

/// The part of a Node that is read.
using Slim = ObjectShape<kube::NodeSpec, Status>;

bool OffersGpus(const kube::StringMap& allocatable) {
  return std::ranges::any_of(allocatable, [](const auto& entry) {
    return entry.first.view().starts_with("nvidia.com/") && entry.second != "0" && !entry.second.empty();
  });
}

/// The DaemonSet controller adds tolerations for these, whatever a manifest says.
bool EveryDaemonSetTolerates(const kube::Taint& taint) {
  static constexpr std::array kKeys = {"node.kubernetes.io/not-ready",     "node.kubernetes.io/unreachable",
                                       "node.kubernetes.io/disk-pressure", "node.kubernetes.io/memory-pressure",
                                       "node.kubernetes.io/pid-pressure",  "node.kubernetes.io/unschedulable"};
  return std::ranges::any_of(kKeys, [&](std::string_view key) { return taint.key == key; });
}

/// The version in "Red Hat Enterprise Linux CoreOS 418.94.202507161230-0 (Plow)".
std::string_view RhcosOf(std::string_view os_image) {
  static constexpr std::string_view kName = "Red Hat Enterprise Linux CoreOS ";
  if (!os_image.starts_with(kName)) return {};
  os_image.remove_prefix(kName.size());
  return os_image.substr(0, os_image.find(' '));
}

bool IsTrue(const NodeState& node, std::string_view label) { return node.meta.labels.Get(label) == "true"; }

/// The operating system and its version out of an image tag ("ubuntu22.04"). Known systems only.
std::pair<std::string, std::string> SplitOsTag(std::string_view tag) {
  static constexpr std::array kSystems = {"ubuntu", "debian",   "centos", "rhcos", "rhel",  "rocky",    "ol",
                                          "sles",   "sl-micro", "fedora", "amzn",  "talos", "archlinux"};
  for (const std::string_view id : kSystems)
    if (tag.starts_with(id)) return {std::string(id), std::string(tag.substr(id.size()))};
  return {std::string(tag), std::string()};
}

}  // namespace

Result<NodeState> NodeState::FromJson(const boost::json::object& in) {
  ASSIGN(Slim slim, kube::Decode<Slim>(in));
  NodeState out;
  out.has_annotations = !slim.meta.annotations.empty();
  kube::StringMap annotations;
  for (const auto& [key, value] : slim.meta.annotations)
    if (key.view().starts_with("nvidia.com/")) annotations.Set(key, value);
  out.meta = std::move(slim.meta);
  out.meta.annotations = std::move(annotations);
  out.meta.owners.clear();
  out.taints = std::move(slim.spec.taints);
  std::erase_if(out.taints, EveryDaemonSetTolerates);
  out.taints.shrink_to_fit();
  out.kernel = slim.status.info.kernel_version;
  out.runtime_version = slim.status.info.container_runtime_version;
  out.arch = slim.status.info.architecture;
  out.rhcos = RhcosOf(slim.status.info.os_image);
  for (const Said& c : slim.status.conditions)
    if (c.type == api::kGpuReadyCondition && c.status == "False") out.unfit = c.reason;
  out.offers_gpus = OffersGpus(slim.status.allocatable);
  return out;
}

bool Differs(const NodeState& a, const NodeState& b) {
  if (a.meta.uid != b.meta.uid || a.offers_gpus != b.offers_gpus || a.kernel != b.kernel) return true;
  if (a.runtime_version != b.runtime_version || a.arch != b.arch || a.rhcos != b.rhcos) return true;
  if (a.unfit != b.unfit) return true;
  if (a.meta.deleting() != b.meta.deleting()) return true;
  return a.meta.labels != b.meta.labels || a.meta.annotations != b.meta.annotations || a.taints != b.taints;
}

GpuSign SignOf(const NodeState& node) {
  bool described = false;
  for (const auto& [key, value] : node.meta.labels) described = described || key.view().starts_with(kFeaturePrefix);
  for (const std::string_view label : kPciLabels)
    if (IsTrue(node, label)) return GpuSign::kPresent;
  return described && !node.offers_gpus ? GpuSign::kAbsent : GpuSign::kSilent;
}

bool IsGpuNode(const NodeState& node) { return IsTrue(node, kGpuPresent) || SignOf(node) == GpuSign::kPresent; }

std::optional<bool> MigCapable(const NodeState& node) {
  const kube::StringMap& labels = node.meta.labels;
  if (!labels.Get(kVgpuHostDriver).empty()) return false;
  if (const Interned* says = labels.Find(kMigCapable)) return *says == "true";
  const std::string product = ToLower(labels.Get(kGpuProduct));
  if (product.empty()) return std::nullopt;
  return product.contains("h100") || product.contains("a100") || product.contains("a30");
}

bool HasStaleFeatures(const NodeState& node) {
  const auto disagree = [](std::string_view label, const Interned& kubelet) {
    return !label.empty() && !kubelet.empty() && kubelet != label;
  };
  return disagree(node.meta.labels.Get(kKernelVersion), node.kernel) ||
         disagree(node.meta.labels.Get(kRhcosVersion), node.rhcos);
}

operands::NodeGroup GroupOf(const NodeState& node) {
  const kube::StringMap& labels = node.meta.labels;
  operands::NodeGroup out;
  out.os_id = labels.Get(kOsId);
  out.os_version = labels.Get(kOsVersion);
  // Discovery's labels may come one by one: half of them must not send a node's Pods to another group.
  if (out.os_id.empty() || out.os_version.empty()) {
    auto [id, version] = SplitOsTag(labels.Get(operands::kOsLabel));
    if (out.os_id.empty() || out.os_id == id) {
      out.os_id = std::move(id);
      out.os_version = std::move(version);
    }
  }
  out.kernel = node.kernel.view();
  out.arch = node.arch.view();
  out.runtime = RuntimeOf(node.runtime_version);
  if (!node.rhcos.empty()) {
    out.rhcos_version = node.rhcos.view();
  } else if (!HasStaleFeatures(node)) {
    out.rhcos_version = labels.Get(kRhcosVersion);
    if (out.rhcos_version.empty()) out.rhcos_version = labels.Get(operands::kRhcosLabel);
  }
  out.nodes = 1;
  return out;
}

std::string RuntimeOf(std::string_view version) {
  const std::string_view name = version.substr(0, version.find(':'));
  if (name == "containerd" || name == "docker") return std::string(name);
  return name == "cri-o" ? "crio" : "";
}

}  // namespace gpuop::op
