// The rules about one node, each a function of what was fetched.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "cli/gpu/node_view.h"
#include "cli/gpu/pod_trouble.h"

namespace gpuop::cli::kubectl_gpu {
namespace {

using enum api::ReasonCode;
using api::ReasonCode;
using Found = std::vector<Diagnosis>;

constexpr std::string_view kNotReadyTaint = "gpu-operator.dev/not-ready";
constexpr std::string_view kDeployPlugin = "nvidia.com/gpu.deploy.device-plugin";
constexpr std::string_view kAdvertised = "gpu-operator.dev/GPUAdvertised";

/// Which link an operand's Pod holds.
constexpr std::array<std::pair<std::string_view, ReasonCode>, 9> kCodes{
    {{"driver", kDriverNotReady},
     {"container-toolkit", kToolkitNotReady},
     {"operator-validator", kCudaPodFailed},
     {"device-plugin", kPluginNotReady},
     {"gpu-feature-discovery", kDiscoveryNotReady},
     {"mig-manager", kMigProfileWrong},
     {"dcgm", kMonitoringNotReady},
     {"dcgm-exporter", kMonitoringNotReady},
     {"node-status-exporter", kMonitoringNotReady}}};

/// What the validator's Pod waits at, by its init container.
constexpr std::array<std::pair<std::string_view, ReasonCode>, 4> kSteps{{{"driver-validation", kDriverNotReady},
                                                                         {"toolkit-validation", kToolkitNotReady},
                                                                         {"cuda-validation", kCudaPodFailed},
                                                                         {"plugin-validation", kPluginNotReady}}};

template <std::size_t N>
std::optional<ReasonCode> Lookup(const std::array<std::pair<std::string_view, ReasonCode>, N>& table,
                                 std::string_view name) {
  for (const auto& [key, code] : table)
    if (key == name) return code;
  return std::nullopt;
}

Diagnosis Say(const NodeView& node, ReasonCode code, std::string evidence) {
  return {.code = code, .evidence = {std::move(evidence)}, .check = api::FirstCheck(code, node.name())};
}

/// A condition's message without the first check at its end, which has a line of its own.
std::string WithoutCheck(std::string_view message) {
  const auto check = api::FirstCheckIn(message);
  if (!check) return std::string(message);
  const std::string_view words = message.substr(0, message.size() - check->size());
  return std::string(words.substr(0, words.rfind(';')));
}

void ReadinessRule(const NodeView& node, Found& out) {
  const kube::Condition* c = kube::FindCondition(node.node->status.conditions, api::kGpuReadyCondition);
  if (c == nullptr) return;
  const api::Reason* reason = api::FindReason(c->reason.view());
  if (c->is_true() && (reason == nullptr || reason->severity == api::Severity::kFine)) return;
  std::string words = WithoutCheck(c->message.view());
  if (c->status == "Unknown") return out.push_back(Say(node, kValidating, std::move(words)));
  // A newer validator may know reasons that this program does not.
  if (reason == nullptr) words.insert(0, fmt::format("{}: ", c->reason.view()));
  Diagnosis d = Say(node, reason == nullptr ? kCudaFailed : reason->code, std::move(words));
  if (const auto check = api::FirstCheckIn(c->message.view())) d.check = *check;
  out.push_back(std::move(d));
}

ReasonCode CodeOf(std::string_view operand, const Trouble& trouble) {
  if (operand == "operator-validator" && trouble.init)
    if (const auto step = Lookup(kSteps, trouble.container)) return *step;
  return Lookup(kCodes, operand).value_or(kMonitoringNotReady);
}

void OperandRule(const NodeView& node, const ClusterFacts& facts, Found& out) {
  for (const kube::Pod* pod : node.operands) {
    const Trouble trouble = FindTrouble(*pod);
    if (trouble.container.empty() || pod->meta.deleting()) continue;
    const std::string_view operand = OperandOf(*pod);
    const bool failing = trouble.failing || pod->status.phase == "Failed";
    std::string words = fmt::format("Pod {}: {}", pod->meta.name, trouble.Text());
    if (pod->status.phase == "Failed" && !pod->status.reason.empty())
      words = fmt::format("Pod {}: {}: {}", pod->meta.name, pod->status.reason.view(), pod->status.message.view());
    Diagnosis d = Say(node, failing ? CodeOf(operand, trouble) : kValidating, std::move(words));
    d.check = failing && trouble.ended
                  ? fmt::format("kubectl -n {} logs {} -c {}", facts.ns, pod->meta.name, trouble.container)
                  : fmt::format("kubectl -n {} describe pod {}", facts.ns, pod->meta.name);
    out.push_back(std::move(d));
  }
}

bool PluginIsUp(const NodeView& node) {
  return std::ranges::any_of(node.operands,
                             [](const kube::Pod* p) { return OperandOf(*p) == "device-plugin" && p->ready(); });
}

/// Whether the validator has not come to its end: then what is missing may still come.
bool BeingProved(const NodeView& node) {
  const kube::Condition* c = kube::FindCondition(node.node->status.conditions, api::kGpuReadyCondition);
  return c != nullptr && c->status == "Unknown";
}

void ResourceRule(const NodeView& node, const ClusterFacts& facts, Found& out) {
  std::int64_t advertised = 0;
  for (const auto& [resource, offer] : node.offers) {
    advertised += offer.advertised;
    if (offer.allocatable < offer.advertised)
      out.push_back(Say(node, kDeviceUnhealthy,
                        fmt::format("{} of {} {} allocatable", offer.allocatable, offer.advertised, resource)));
    else if (offer.used > offer.allocatable)
      out.push_back(
          Say(node, kResourceCountWrong,
              fmt::format("Pods hold {} {}, of which {} are allocatable", offer.used, resource, offer.allocatable)));
  }
  if (advertised > 0) return;
  const bool plugin_wanted = facts.policy && facts.policy->device_plugin && node.label(kDeployPlugin) != "false";
  if (PluginIsUp(node))
    out.push_back(Say(node, BeingProved(node) ? kValidating : kResourceMissing,
                      "the device plugin runs, and the node's Capacity has no nvidia.com/…"));
  else if (!plugin_wanted && facts.policy)
    out.push_back(Say(node, kResourceMissing, "the device plugin is switched off for this node"));
  else if (facts.policy && facts.sees_pods && node.operands.empty())
    out.push_back(Say(node, kValidating, "no operand runs on the node yet"));
}

/// What discovery counts against what the plugin offers: nvidia.com/X.count times its replicas.
void CountRule(const NodeView& node, Found& out) {
  const bool mixed = node.label("nvidia.com/mig.strategy") == "mixed";
  for (const auto& [key, value] : node.node->meta.labels) {
    const std::string_view name = key.view();
    if (!name.starts_with("nvidia.com/") || !name.ends_with(".count")) continue;
    const std::string resource(name.substr(0, name.size() - std::string_view(".count").size()));
    const bool mig = resource.starts_with("nvidia.com/mig-");
    // With the mixed strategy gpu.count also counts GPUs that are offered in parts.
    if ((resource != "nvidia.com/gpu" && !mig) || (mixed && !mig)) continue;
    const std::int64_t count = ParseInt(value.view()).value_or(0);
    const std::int64_t replicas = ParseInt(node.label(resource + ".replicas")).value_or(1);
    const auto plain = node.offers.find(resource), shared = node.offers.find(resource + ".shared");
    std::int64_t offered = 0;
    for (const auto& at : {plain, shared})
      if (at != node.offers.end()) offered += at->second.advertised;
    if (offered == 0 || offered == count * std::max<std::int64_t>(replicas, 1)) continue;
    out.push_back(Say(
        node, kResourceCountWrong,
        fmt::format("{} {} advertised, and its labels count {} with {} replicas", offered, resource, count, replicas)));
  }
}

/// Two plugins that offer one resource: the kubelet drops the earlier registration when the later comes. Wrong counts
/// are told with it.
void RivalRule(const NodeView& node, Found& out) {
  const auto own = std::ranges::count(node.operands, "device-plugin", [](const kube::Pod* p) { return OperandOf(*p); });
  if (node.rivals.empty() || (own == 0 && node.rivals.size() < 2)) return;
  Diagnosis d = Say(node, kTwoDevicePlugins, "");
  d.evidence.clear();
  for (const Rival* rival : node.rivals)
    d.evidence.push_back(
        fmt::format("Pod {}/{} ({}) is a device plugin too, and none of this operator's: take one of "
                    "them off the node (the operator's: label {}=false)",
                    rival->ns, rival->name, rival->image, kDeployPlugin));
  for (Diagnosis& wrong : out)
    if (wrong.code == kResourceCountWrong || wrong.code == kDeviceUnhealthy || wrong.code == kResourceMissing)
      std::ranges::copy(d.evidence, std::back_inserter(wrong.evidence));
  out.push_back(std::move(d));
}

void MigRule(const NodeView& node, Found& out) {
  const std::string_view state = node.label("nvidia.com/mig.config.state");
  const std::string_view wish = node.label("nvidia.com/mig.config");
  if (state == "failed")
    out.push_back(Say(node, kMigProfileWrong, fmt::format("mig.config={} could not be applied (state failed)", wish)));
  else if (state == "pending" || state == "rebooting")
    out.push_back(Say(node, kValidating, fmt::format("mig.config={} is being applied (state {})", wish, state)));
}

void UpgradeRule(const NodeView& node, Found& out) {
  const std::string_view state = node.label("nvidia.com/gpu-driver-upgrade-state");
  if (state.empty() || state == "upgrade-done") return;
  const bool failed = state == "upgrade-failed";
  out.push_back(Say(node, failed ? kDriverNotReady : kValidating, fmt::format("driver upgrade: {}", state)));
}

void GateRule(const NodeView& node, Found& out) {
  for (const kube::Taint& taint : node.node->spec.taints)
    if (taint.key == kNotReadyTaint)
      out.push_back(Say(node, kValidating,
                        fmt::format("the taint {} keeps GPU Pods away until GPUs are offered", kNotReadyTaint)));
  const kube::Condition* c = kube::FindCondition(node.node->status.conditions, kAdvertised);
  if (c != nullptr && c->status == "False")
    out.push_back(Say(node, kResourceMissing, fmt::format("{}: {}", c->reason.view(), c->message.view())));
  if (node.node->spec.unschedulable) out.push_back(Say(node, kNodeCordoned, "spec.unschedulable is true"));
}

void DiscoveryRule(const NodeView& node, const ClusterFacts& facts, Found& out) {
  const bool discovered = std::ranges::any_of(
      node.operands, [](const kube::Pod* p) { return OperandOf(*p) == "gpu-feature-discovery" && p->ready(); });
  if (!discovered || !facts.policy || !facts.policy->gfd || !node.label("nvidia.com/gpu.product").empty()) return;
  Diagnosis d = Say(node, BeingProved(node) ? kValidating : kDiscoveryNotReady, "no label nvidia.com/gpu.product");
  d.check = fmt::format("kubectl -n {} get pods -l app.kubernetes.io/name=node-feature-discovery -o wide", facts.ns);
  out.push_back(std::move(d));
}

/// GPUs that are not allocatable because of what the validator says of their health are told with that cause.
void FoldEffect(Found& out) {
  const auto cause = std::ranges::find_if(out, api::TakesGpuOut, &Diagnosis::code);
  const auto effect = std::ranges::find(out, kDeviceUnhealthy, &Diagnosis::code);
  if (cause == out.end() || effect == out.end()) return;
  std::ranges::copy(effect->evidence, std::back_inserter(cause->evidence));
  out.erase(effect);
}

Found AlongTheChain(Found found) {
  Found out;
  for (auto link = api::Link::kHostDriver; link <= api::Link::kHealth;
       link = static_cast<api::Link>(static_cast<int>(link) + 1))
    for (Diagnosis& d : found)
      if (d.reason().link == link) out.push_back(std::move(d));
  return out;
}

}  // namespace

std::vector<Diagnosis> DiagnoseNode(const NodeView& node, const ClusterFacts& facts) {
  if (!node.HasGpus()) return {};
  // A node whose kubelet says nothing makes everything else that is known of it old.
  if (!node.node->ready()) {
    const kube::Condition* c = kube::FindCondition(node.node->status.conditions, "Ready");
    return {Say(node, kNodeNotReady,
                c == nullptr ? "its kubelet has not reported yet"
                             : fmt::format("Ready is {}: {}", c->status.view(), c->message.view()))};
  }
  if (!facts.policy && facts.sees_policies && node.operands.empty() && node.offers.empty())
    return {Say(node, kNoPolicy, "no ClusterPolicy in the cluster, and the node offers no GPU")};
  Found out;
  ReadinessRule(node, out);
  OperandRule(node, facts, out);
  ResourceRule(node, facts, out);
  CountRule(node, out);
  RivalRule(node, out);
  MigRule(node, out);
  UpgradeRule(node, out);
  GateRule(node, out);
  DiscoveryRule(node, facts, out);
  FoldEffect(out);
  return AlongTheChain(std::move(out));
}

Standing StandingOf(const NodeView& node, const std::vector<Diagnosis>& found) {
  if (!node.HasGpus()) return Standing::kNone;
  if (const Diagnosis* first = FirstOf(found)) {
    switch (first->reason().severity) {
      case api::Severity::kBroken: return Standing::kBroken;
      case api::Severity::kWarning: return Standing::kWarning;
      case api::Severity::kFine: return Standing::kWaiting;
    }
  }
  const kube::Condition* c = kube::FindCondition(node.node->status.conditions, api::kGpuReadyCondition);
  const bool validated = std::ranges::any_of(
      node.operands, [](const kube::Pod* p) { return OperandOf(*p) == "operator-validator" && p->ready(); });
  return (c != nullptr && c->is_true()) || validated ? Standing::kFit : Standing::kUnproved;
}

}  // namespace gpuop::cli::kubectl_gpu
