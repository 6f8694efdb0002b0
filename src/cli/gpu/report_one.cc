// Reports about one node or one Pod.

#include <fmt/core.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/gpu/report.h"

namespace gpuop::cli::kubectl_gpu {
namespace {

struct Known {
  std::vector<NodeView> all;
  const NodeView* node;
  std::vector<Diagnosis> found;
  Standing standing;
};

Result<Known> Look(const ClusterFacts& facts, const std::string& name) {
  Known out{.all = ViewNodes(facts), .node = nullptr, .found = {}, .standing = Standing::kNone};
  const auto at = std::ranges::find(out.all, name, &NodeView::name);
  if (at == out.all.end()) return Fail(Code::kNotFound, fmt::format("there is no node {}", name));
  out.node = &*at;
  out.found = DiagnoseNode(*at, facts);
  out.standing = StandingOf(*at, out.found);
  return out;
}

/// Why a node is not counted as one with GPUs.
Diagnosis NoGpus(const NodeView& node, const ClusterFacts& facts) {
  const bool discovered = std::ranges::any_of(node.node->meta.labels, [](const auto& label) {
    return label.first.view().starts_with("feature.node.kubernetes.io/");
  });
  if (discovered)
    return {.code = api::ReasonCode::kNoGpu,
            .evidence = {"node feature discovery described the node and found no PCI device of NVIDIA's"},
            .check = api::FirstCheck(api::ReasonCode::kNoGpu, node.name())};
  return {.code = api::ReasonCode::kDiscoveryNotReady,
          .evidence = {"node feature discovery has not described the node: no label feature.node.kubernetes.io/…"},
          .check =
              fmt::format("kubectl -n {} get pods -l app.kubernetes.io/name=node-feature-discovery -o wide", facts.ns)};
}

std::string Headline(const NodeView& node, Standing standing, const Paint& paint) {
  return fmt::format("Node {}: {}\n", node.name(),
                     standing == Standing::kNone ? "no GPUs" : paint(standing, Word(standing)));
}

/// "strategy single, config all-1g.5gb (success)", as far as it is set.
std::string MigText(const NodeView& node) {
  std::string out;
  if (const std::string_view s = node.label("nvidia.com/mig.strategy"); !s.empty()) out = fmt::format("strategy {}", s);
  if (const std::string_view config = node.label("nvidia.com/mig.config"); !config.empty()) {
    const std::string_view state = node.label("nvidia.com/mig.config.state");
    out +=
        fmt::format("{}config {}{}", out.empty() ? "" : ", ", config, state.empty() ? "" : fmt::format(" ({})", state));
  }
  return out;
}

std::string Fields(const NodeView& node, const ClusterFacts& facts) {
  std::string out;
  const auto add = [&out](std::string_view name, std::string_view value) {
    if (!value.empty()) out += fmt::format("  {:<12} {}\n", name, value);
  };
  const kube::NodeInfo& info = node.node->status.info;
  add("arch", node.arch());
  add("gpus", node.Product());
  add("system", fmt::format("{}, kernel {}, {}", info.os_image.view(), info.kernel_version.view(),
                            info.container_runtime_version.view()));
  const std::string owner = DriverOwner(node, facts);
  const std::string version = node.DriverVersion().empty() ? "version not known" : node.DriverVersion();
  if (!owner.empty() || !node.DriverVersion().empty())
    add("driver", version + (owner.empty() ? "" : fmt::format(" (owner: {})", owner)));
  add("toolkit", ToolkitPath(node, facts));
  add("mig", MigText(node));
  if (const kube::Condition* c = kube::FindCondition(node.node->status.conditions, api::kGpuReadyCondition))
    add("proof", fmt::format("{}: {}", c->reason.view(), c->message.view()));
  return out;
}

std::string OffersText(const NodeView& node) {
  if (node.offers.empty()) return {};
  std::vector<std::vector<std::string>> cells{{"  RESOURCE", "ADVERTISED", "ALLOCATABLE", "USED"}};
  for (const auto& [name, o] : node.offers)
    cells.push_back({"  " + name, std::to_string(o.advertised), std::to_string(o.allocatable), std::to_string(o.used)});
  return "\n" + TableText(cells);
}

std::string OperandsText(const NodeView& node) {
  if (node.operands.empty()) return {};
  std::vector<std::vector<std::string>> cells{{"  OPERAND", "POD", "STATE"}};
  for (const kube::Pod* pod : node.operands) {
    const Trouble trouble = FindTrouble(*pod);
    cells.push_back(
        {fmt::format("  {}", OperandOf(*pod)), pod->meta.name, trouble.container.empty() ? "ready" : trouble.Text()});
  }
  return "\n" + TableText(cells);
}

std::string HoldersText(const NodeView& node) {
  if (node.holders.empty()) return {};
  std::vector<std::vector<std::string>> cells{{"  POD", "HOLDS"}};
  for (const Holder* h : node.holders) cells.push_back({fmt::format("  {}/{}", h->ns, h->name), TextOf(h->gpus)});
  return "\n" + TableText(cells);
}

boost::json::array ToJson(const std::vector<Diagnosis>& all) {
  boost::json::array out;
  for (const Diagnosis& d : all) out.push_back(kubectl_gpu::ToJson(d));
  return out;
}

std::string OthersText(const std::vector<Diagnosis>& others) {
  std::string out;
  for (const Diagnosis& d : others)
    out += fmt::format("  {:<12} {}: {}\n", out.empty() ? "also" : "", d.reason().name, d.brief());
  return out;
}

std::vector<Diagnosis> AllBut(const std::vector<Diagnosis>& all, const Diagnosis* one) {
  std::vector<Diagnosis> out;
  for (const Diagnosis& d : all)
    if (&d != one) out.push_back(d);
  return out;
}

/// The Pod's state in a few words.
std::string WordsOf(const kube::Pod& pod, const Why& why) {
  std::string out(Words(why.symptom));
  if (why.standing == Standing::kWaiting && why.symptom != Symptom::kPending) out = "on its way";
  if (pod.status.phase == "Succeeded") out = "it came to its end, and nothing went wrong";
  if (pod.meta.deleting()) out += "; it is being deleted";
  return out;
}

}  // namespace

Result<Report> ReportNode(const ClusterFacts& facts, const std::string& name, const Paint& paint) {
  ASSIGN(const Known known, Look(facts, name));
  const NodeView& node = *known.node;
  Report out;
  out.text = Headline(node, known.standing, paint) + Fields(node, facts) + OffersText(node) + OperandsText(node) +
             HoldersText(node);
  // What is broken is read first; what is on its way often waits for it.
  for (const api::Severity severity : {api::Severity::kBroken, api::Severity::kWarning, api::Severity::kFine})
    for (const Diagnosis& d : known.found)
      if (d.reason().severity == severity) out.text += "\n" + ExplainText(d, paint);
  boost::json::array operands, holders;
  for (const kube::Pod* pod : node.operands) {
    const Trouble trouble = FindTrouble(*pod);
    operands.push_back({{"operand", OperandOf(*pod)},
                        {"pod", pod->meta.name},
                        {"ready", trouble.container.empty()},
                        {"state", trouble.container.empty() ? "" : trouble.Text()}});
  }
  for (const Holder* h : node.holders) holders.push_back({{"namespace", h->ns}, {"pod", h->name}});
  out.json = NodeJson(node, known.standing, facts);
  out.json["kind"] = "GPUNode";
  out.json["operands"] = std::move(operands);
  out.json["holders"] = std::move(holders);
  out.json["found"] = ToJson(known.found);
  out.exit_code = ExitCodeOf(known.standing);
  return out;
}

Result<Report> ReportWhyNode(const ClusterFacts& facts, const std::string& name, const Paint& paint) {
  ASSIGN(Known known, Look(facts, name));
  const NodeView& node = *known.node;
  if (known.standing == Standing::kNone) known.found = {NoGpus(node, facts)};
  const Diagnosis* first = FirstOf(known.found);
  Report out;
  out.text = Headline(node, known.standing, paint);
  out.json = {{"kind", "GPUWhy"}, {"node", node.name()}, {"standing", Word(known.standing)}};
  if (first != nullptr) {
    const std::vector<Diagnosis> others = AllBut(known.found, first);
    out.text += ExplainText(*first, paint) + OthersText(others);
    out.json["cause"] = kubectl_gpu::ToJson(*first);
    out.json["others"] = ToJson(others);
  } else {
    out.text += fmt::format("  {}\n", known.standing == Standing::kFit ? "every link of the chain was proved"
                                                                       : "nothing is wrong that can be seen from here; "
                                                                         "no validator proved the node");
  }
  out.exit_code = known.standing == Standing::kNone ? 1 : ExitCodeOf(known.standing);
  return out;
}

Report ReportWhyPod(const PodFacts& pod, const ClusterFacts& facts, const Paint& paint) {
  const std::vector<NodeView> nodes = ViewNodes(facts);
  const Why why = WhyPod(pod, facts, nodes);
  const std::string_view node = pod.pod.spec.node_name.view();
  Report out;
  out.text =
      fmt::format("Pod {}/{}{}: {}\n", pod.pod.meta.ns.view(), pod.pod.meta.name,
                  node.empty() ? "" : fmt::format(" on node {}", node), paint(why.standing, WordsOf(pod.pod, why)));
  out.json = {{"kind", "GPUWhy"},
              {"namespace", pod.pod.meta.ns.view()},
              {"pod", pod.pod.meta.name},
              {"node", node},
              {"symptom", Name(why.symptom)},
              {"standing", Word(why.standing)},
              {"asksFor", TextOf(GpusOf(pod.pod))}};
  if (!why.cause && GpusOf(pod.pod).empty()) out.text += "  the Pod asks for no GPU\n";
  if (why.cause) {
    out.text += ExplainText(*why.cause, paint);
    out.json["cause"] = kubectl_gpu::ToJson(*why.cause);
  }
  out.text += OthersText(why.others);
  out.json["others"] = ToJson(why.others);
  boost::json::array lines;
  for (std::size_t i = 0; i < why.nodes.size(); ++i) {
    out.text += fmt::format("  {:<12} {}\n", i == 0 ? "nodes" : "", why.nodes[i]);
    lines.emplace_back(why.nodes[i]);
  }
  out.json["nodes"] = std::move(lines);
  out.text += UnseenText(facts);
  out.json["unseen"] = UnseenJson(facts);
  out.exit_code = ExitCodeOf(why.standing);
  return out;
}

}  // namespace gpuop::cli::kubectl_gpu
