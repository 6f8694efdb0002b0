#include <fmt/core.h>

#include <array>
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/gpu/report.h"

namespace gpuop::cli::kubectl_gpu {
namespace {

using Cells = std::vector<std::string>;

constexpr std::size_t kMostEvidence = 90;

constexpr std::array kWorstFirst = {Standing::kBroken, Standing::kWarning, Standing::kWaiting, Standing::kUnproved,
                                    Standing::kFit};

struct Row {
  const NodeView* node;
  std::vector<Diagnosis> found;
  Standing standing;
};

std::string OrDash(std::string text) { return text.empty() ? "-" : std::move(text); }

/// "DriverNotLoaded: the driver's kernel module is not loaded", short enough for a screen.
std::string FirstProblem(const Row& row) {
  const Diagnosis* first = FirstOf(row.found);
  if (first == nullptr) return "";
  const bool waiting = first->reason().severity == api::Severity::kFine;
  std::string words(waiting ? first->brief() : first->reason().words);
  if (!waiting) words = fmt::format("{}: {}", first->reason().name, words);
  if (words.size() > kMostEvidence) words = words.substr(0, kMostEvidence - 3) + "...";
  return words;
}

void AddRow(const Row& row, const ClusterFacts& facts, const Paint& paint, std::vector<Cells>& out) {
  const NodeView& node = *row.node;
  const auto first = node.offers.begin();
  const auto amounts = [](const Offer& o) { return fmt::format("{}/{}/{}", o.advertised, o.allocatable, o.used); };
  out.push_back({node.name(), OrDash(std::string(node.arch())), OrDash(node.Product()), OrDash(node.DriverVersion()),
                 OrDash(DriverOwner(node, facts)), OrDash(ToolkitPath(node, facts)),
                 first == node.offers.end() ? "-" : first->first,
                 first == node.offers.end() ? "-" : amounts(first->second), paint(row.standing, Word(row.standing)),
                 FirstProblem(row)});
  if (first == node.offers.end()) return;
  for (auto more = std::next(first); more != node.offers.end(); ++more)
    out.push_back({"", "", "", "", "", "", more->first, amounts(more->second), "", ""});
}

/// "cluster-policy is ready" or what it waits for.
std::string PolicyText(const ClusterFacts& facts) {
  if (!facts.sees_policies) return "ClusterPolicies may not be listed by this user";
  if (!facts.policy) return "no ClusterPolicy: nothing looks after GPU nodes here";
  std::string out = fmt::format("ClusterPolicy {}: {}", facts.policy->name,
                                facts.policy->state.empty() ? "not seen by an operator yet" : facts.policy->state);
  if (facts.policy->state == "ready") return out;
  for (const std::string_view type : {"Error", "Ready"}) {
    const kube::Condition* c = kube::FindCondition(facts.policy->conditions, type);
    const bool bad = c != nullptr && (c->is_true() == (type == "Error")) && !c->message.empty();
    if (bad) return out + fmt::format(" ({}: {})", c->reason.view(), c->message.view());
  }
  return out;
}

struct Counts {
  std::int64_t nodes = 0, fit = 0, gpus = 0, allocatable = 0, used = 0;
  std::array<std::int64_t, 6> by_standing{};
};

Counts Count(const std::vector<Row>& rows) {
  Counts out;
  for (const Row& row : rows) {
    ++out.by_standing[static_cast<std::size_t>(row.standing)];
    if (row.standing == Standing::kNone) continue;
    ++out.nodes;
    if (row.standing == Standing::kFit) ++out.fit;
    for (const auto& [resource, offer] : row.node->offers) {
      out.gpus += offer.advertised;
      out.allocatable += offer.allocatable;
      out.used += offer.used;
    }
  }
  return out;
}

/// The worst of all nodes; a cluster of fit nodes is fit.
Standing Worst(const std::vector<Row>& rows) {
  Standing worst = Standing::kFit;
  for (const Row& row : rows) worst = std::max(worst, row.standing);
  return worst;
}

}  // namespace

Report ReportStatus(const ClusterFacts& facts, const Paint& paint) {
  const std::vector<NodeView> views = ViewNodes(facts);
  std::vector<Row> rows;
  for (const NodeView& node : views) {
    std::vector<Diagnosis> found = DiagnoseNode(node, facts);
    const Standing standing = StandingOf(node, found);
    rows.push_back({&node, std::move(found), standing});
  }
  const Counts counts = Count(rows);
  Report out;
  out.text = fmt::format("{}\n{} of {} GPU nodes fit; {} GPUs advertised, {} allocatable, {} used\n\n",
                         PolicyText(facts), counts.fit, counts.nodes, counts.gpus, counts.allocatable, counts.used);
  std::vector<Cells> cells{
      {"NODE", "ARCH", "GPUS", "DRIVER", "OWNER", "TOOLKIT", "RESOURCE", "ADV/ALLOC/USED", "STATE", "FIRST PROBLEM"}};
  // What is wrong stands on top: a screen has fewer lines than a cluster has nodes.
  for (const Standing standing : kWorstFirst)
    for (const Row& row : rows)
      if (row.standing == standing) AddRow(row, facts, paint, cells);
  if (cells.size() > 1) out.text += TableText(cells);
  if (const auto others = counts.by_standing[static_cast<std::size_t>(Standing::kNone)]; others > 0)
    out.text += fmt::format("{}{} without GPUs\n", cells.size() > 1 ? "and " : "",
                            others == 1 ? "1 node" : fmt::format("{} nodes", others));
  if (!facts.sees_pods) out.text += UnseenText(facts);
  boost::json::array nodes;
  for (const Row& row : rows) {
    boost::json::object node = NodeJson(*row.node, row.standing, facts);
    if (const Diagnosis* first = FirstOf(row.found)) node["first"] = ToJson(*first);
    nodes.push_back(std::move(node));
  }
  out.json = {{"kind", "GPUStatus"},
              {"policy", facts.policy ? boost::json::value{{"name", facts.policy->name}, {"state", facts.policy->state}}
                                      : boost::json::value()},
              {"gpuNodes", counts.nodes},
              {"fitNodes", counts.fit},
              {"nodes", std::move(nodes)},
              {"unseen", UnseenJson(facts)}};
  out.exit_code = ExitCodeOf(Worst(rows));
  return out;
}

}  // namespace gpuop::cli::kubectl_gpu
