#include "cli/gpu/node_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace gpuop::cli::kubectl_gpu {
namespace {

constexpr std::string_view kPresent = "nvidia.com/gpu.present";

/// Short names by the DaemonSet's `app` label.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kOperands{{
    {"nvidia-driver-daemonset", "driver"},
    {"nvidia-container-toolkit-daemonset", "container-toolkit"},
    {"nvidia-operator-validator", "operator-validator"},
    {"nvidia-device-plugin-daemonset", "device-plugin"},
    {"gpu-feature-discovery", "gpu-feature-discovery"},
    {"nvidia-mig-manager", "mig-manager"},
    {"nvidia-dcgm", "dcgm"},
    {"nvidia-dcgm-exporter", "dcgm-exporter"},
    {"nvidia-node-status-exporter", "node-status-exporter"},
}};

bool IsPciLabel(std::string_view key) {
  return key.starts_with("feature.node.kubernetes.io/pci-") && key.ends_with(".present") &&
         key.find("10de") != std::string_view::npos;
}

/// Its place along the chain.
std::size_t RankOf(const kube::Pod* pod) {
  const auto at = std::ranges::find(kOperands, OperandOf(*pod), [](const auto& o) { return o.second; });
  return static_cast<std::size_t>(at - kOperands.begin());
}

std::map<std::string, Offer, std::less<>> OffersOf(const kube::Node& node) {
  std::map<std::string, Offer, std::less<>> out;
  for (const auto& [name, amount] : kube::AmountsOf(node.status.capacity))
    if (IsGpuResource(name)) out[name].advertised = amount;
  for (const auto& [name, amount] : kube::AmountsOf(node.status.allocatable))
    if (IsGpuResource(name)) out[name].allocatable = amount;
  return out;
}

}  // namespace

Diagnosis Diagnosis::On(std::string_view node) const {
  Diagnosis out = *this;
  for (std::string& line : out.evidence) line.insert(0, fmt::format("node {}: ", node));
  return out;
}

std::string_view Word(Standing standing) {
  switch (standing) {
    case Standing::kNone: return "-";
    case Standing::kFit: return "fit";
    case Standing::kUnproved: return "not proved";
    case Standing::kWaiting: return "waiting";
    case Standing::kWarning: return "degraded";
    case Standing::kBroken: return "broken";
  }
  return "";
}

bool NodeView::HasGpus() const {
  if (label(kPresent) == "true" || !offers.empty()) return true;
  return std::ranges::any_of(node->meta.labels,
                             [](const auto& l) { return IsPciLabel(l.first.view()) && l.second == "true"; });
}

std::string_view NodeView::arch() const {
  const std::string_view said = node->status.info.architecture.view();
  return said.empty() ? label("kubernetes.io/arch") : said;
}

std::string NodeView::Product() const {
  const std::string_view product = label("nvidia.com/gpu.product"), count = label("nvidia.com/gpu.count");
  if (product.empty()) return {};
  return count.empty() ? std::string(product) : fmt::format("{} x {}", count, product);
}

std::string NodeView::DriverVersion() const {
  if (const std::string_view full = label("nvidia.com/cuda.driver-version.full"); !full.empty())
    return std::string(full);
  const std::string_view major = label("nvidia.com/cuda.driver.major"), minor = label("nvidia.com/cuda.driver.minor"),
                         rev = label("nvidia.com/cuda.driver.rev");
  if (major.empty() || minor.empty()) return {};
  return rev.empty() ? fmt::format("{}.{}", major, minor) : fmt::format("{}.{}.{}", major, minor, rev);
}

std::vector<NodeView> ViewNodes(const ClusterFacts& facts) {
  std::vector<NodeView> out;
  std::map<std::string_view, std::size_t> by_name;
  out.reserve(facts.nodes.size());
  for (const auto& node : facts.nodes) {
    by_name.emplace(node->meta.name, out.size());
    out.push_back({.node = node.get(), .operands = {}, .holders = {}, .rivals = {}, .offers = OffersOf(*node)});
  }
  for (const auto& pod : facts.operands)
    if (const auto at = by_name.find(pod->spec.node_name.view()); at != by_name.end() && !OperandOf(*pod).empty())
      out[at->second].operands.push_back(pod.get());
  for (NodeView& view : out) std::ranges::sort(view.operands, {}, RankOf);
  for (const Holder& holder : facts.holders) {
    const auto at = by_name.find(holder.node);
    if (at == by_name.end()) continue;
    NodeView& view = out[at->second];
    view.holders.push_back(&holder);
    for (const auto& [resource, amount] : holder.gpus) view.offers[resource].used += amount;
  }
  for (const Rival& rival : facts.rivals)
    if (const auto at = by_name.find(rival.node); at != by_name.end()) out[at->second].rivals.push_back(&rival);
  return out;
}

std::string DriverOwner(const NodeView& node, const ClusterFacts& facts) {
  if (!node.HasGpus()) return {};
  const std::string_view deploy = node.label("nvidia.com/gpu.deploy.driver");
  if (const std::string_view owner = node.label("nvidia.com/gpu-operator.driver.owner"); !owner.empty())
    return fmt::format("NVIDIADriver {}", owner);
  if (deploy == "pre-installed" || deploy == "false") return "host";
  if (std::ranges::any_of(node.operands, [](const kube::Pod* p) { return OperandOf(*p) == "driver"; }))
    return "operator";
  if (!facts.policy) return {};
  return facts.policy->driver ? "operator" : "host";
}

std::string ToolkitPath(const NodeView& node, const ClusterFacts& facts) {
  if (!node.HasGpus() || !facts.policy) return {};
  const std::string_view deploy = node.label("nvidia.com/gpu.deploy.container-toolkit");
  if (!facts.policy->toolkit || deploy == "false") return "host";
  if (facts.policy->nri) return "nri";
  return facts.policy->cdi ? "cdi" : "runtime";
}

std::string_view OperandOf(const kube::Pod& pod) {
  const kube::StringMap& labels = pod.meta.labels;
  if (labels.Get("app.kubernetes.io/component") == "nvidia-driver") return "driver";
  const std::string_view app = labels.Get("app");
  // A second kind of nodes has DaemonSets of its own: nvidia-container-toolkit-daemonset-crio.
  for (const auto& [name, operand] : kOperands)
    if (app == name || (app.starts_with(name) && name.ends_with("-daemonset") && app[name.size()] == '-'))
      return operand;
  return {};
}

const Diagnosis* FirstOf(const std::vector<Diagnosis>& found) {
  const Diagnosis* first = nullptr;
  for (const Diagnosis& d : found) {
    const bool worse = first == nullptr || d.reason().severity > first->reason().severity;
    const bool same = !worse && d.reason().severity == first->reason().severity;
    if (worse || (same && d.reason().link < first->reason().link)) first = &d;
  }
  return first;
}

}  // namespace gpuop::cli::kubectl_gpu
