// Which node could take a Pod, and what keeps each from it: the set of nodes is narrowed step by step, and the step
// that leaves none is the cause.

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/text.h"
#include "cli/gpu/why.h"
#include "kube/placement.h"

namespace gpuop::cli::kubectl_gpu {
namespace {

using enum api::ReasonCode;
using api::ReasonCode;
using Nodes = std::vector<const NodeView*>;

constexpr std::size_t kMostNames = 5;
constexpr std::string_view kDefaultScheduler = "default-scheduler";

/// "a, b, c and 7 more"
std::string Listed(const std::vector<std::string>& names) {
  std::vector<std::string> first(names.begin(),
                                 names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostNames)));
  std::string out = Join(first, ", ");
  if (names.size() > kMostNames) out += fmt::format(" and {} more", names.size() - kMostNames);
  return out;
}
std::string Names(const Nodes& nodes) {
  std::vector<std::string> names;
  for (const NodeView* n : nodes) names.push_back(n->name());
  return Listed(names);
}

/// The question and the nodes that are left.
struct Search {
  const PodFacts& facts;
  const ClusterFacts& cluster;
  const std::vector<NodeView>& all;
  kube::Amounts wants;
  kube::Affinity affinity;
  Nodes left;
  Why why;

  const kube::Pod& pod() const { return facts.pod; }
  Diagnosis Say(ReasonCode code, std::string evidence, std::string_view node = "NODE") const {
    return {.code = code,
            .evidence = {std::move(evidence)},
            .check = api::FirstCheck(code, node, fmt::format("-n {} {}", pod().meta.ns.view(), pod().meta.name))};
  }
};

bool Offers(const NodeView& node, const kube::Amounts& wants) {
  return std::ranges::all_of(wants, [&](const auto& w) {
    const auto at = node.offers.find(w.first);
    return at != node.offers.end() && at->second.advertised > 0;
  });
}

bool Matches(const Search& s, const NodeView& node) {
  return kube::MatchesNode(s.pod().spec.node_selector, s.affinity.node, node.name(), node.node->meta.labels);
}

const kube::Taint* Repelling(const Search& s, const NodeView& node) {
  return kube::FindRepelling(node.node->spec.taints, s.pod().spec.tolerations);
}

bool LargeEnough(const NodeView& node, const kube::Amounts& wants) {
  return std::ranges::all_of(wants, [&](const auto& w) { return node.offers.at(w.first).allocatable >= w.second; });
}

bool FreeEnough(const NodeView& node, const kube::Amounts& wants) {
  return std::ranges::all_of(wants, [&](const auto& w) { return node.offers.at(w.first).free() >= w.second; });
}

/// A node among `nodes` that should offer what is wanted and is broken, or not there yet: its diagnosis.
std::optional<Diagnosis> BrokenAmong(const Search& s, const Nodes& nodes) {
  std::optional<Diagnosis> waiting;
  for (const NodeView* node : nodes) {
    if (!node->HasGpus() || Offers(*node, s.wants)) continue;
    const std::vector<Diagnosis> found = DiagnoseNode(*node, s.cluster);
    const Diagnosis* first = FirstOf(found);
    if (first == nullptr) continue;
    Diagnosis d = first->On(node->name());
    if (d.reason().severity == api::Severity::kBroken) return d;
    if (!waiting) waiting = std::move(d);
  }
  return waiting;
}

/// The values that nodes have of a label.
std::string ValuesOf(const Nodes& nodes, std::string_view key) {
  std::set<std::string> values;
  for (const NodeView* n : nodes)
    if (const std::string_view v = n->label(key); !v.empty()) values.emplace(v);
  return values.empty() ? "no such label" : Listed({values.begin(), values.end()});
}

bool AsksForMig(const kube::Amounts& wants) {
  return std::ranges::any_of(wants, [](const auto& w) { return w.first.starts_with("nvidia.com/mig-"); });
}

Diagnosis NobodyOffers(const Search& s, const Nodes& before) {
  Nodes matching;
  for (const NodeView* n : before)
    if (Matches(s, *n)) matching.push_back(n);
  if (auto broken = BrokenAmong(s, matching)) return *std::move(broken);
  std::set<std::string> offered;
  for (const NodeView& node : s.all)
    for (const auto& [resource, offer] : node.offers)
      if (offer.advertised > 0) offered.insert(resource);
  Diagnosis d =
      s.Say(kNoSuchResource, fmt::format("the Pod asks for {}; nodes offer {}", TextOf(s.wants),
                                         offered.empty() ? "no GPU at all" : Listed({offered.begin(), offered.end()})));
  if (offered.empty() || !AsksForMig(s.wants)) return d;
  d.evidence.push_back(
      fmt::format("a resource of each MIG profile is offered where nvidia.com/mig.strategy is mixed; nodes have: {}",
                  ValuesOf(before, "nvidia.com/mig.strategy")));
  d.check = "kubectl get nodes -L nvidia.com/mig.config,nvidia.com/mig.config.state,nvidia.com/mig.strategy";
  return d;
}

bool SelectorLeavesOne(const Search& s, const Nodes& nodes) {
  return std::ranges::any_of(nodes, [&s](const NodeView* n) {
    return kube::MatchesNode(s.pod().spec.node_selector, {}, n->name(), n->node->meta.labels);
  });
}

/// "kubernetes.io/arch=amd64, pool=big"
std::string SelectorText(const kube::Pod& pod) {
  std::vector<std::string> pairs;
  for (const auto& [key, value] : pod.spec.node_selector)
    pairs.push_back(fmt::format("{}={}", key.view(), value.view()));
  return Join(pairs, ", ");
}

Diagnosis NobodyMatches(const Search& s, const Nodes& before) {
  // Nodes that match and do not offer the resource: what is wrong there?
  Nodes elsewhere;
  for (const NodeView& n : s.all)
    if (Matches(s, n)) elsewhere.push_back(&n);
  if (auto broken = BrokenAmong(s, elsewhere)) return *std::move(broken);
  std::vector<std::string> lines;
  ReasonCode code = kLabelMismatch;
  for (const auto& [key, value] : s.pod().spec.node_selector) {
    const bool met =
        std::ranges::any_of(before, [&](const NodeView* n) { return n->label(key.view()) == value.view(); });
    if (met) continue;
    if (key == "kubernetes.io/arch") code = kArchitectureMismatch;
    lines.push_back(fmt::format("the Pod selects {}={}; nodes{} have: {}", key.view(), value.view(),
                                s.wants.empty() ? "" : " with " + TextOf(s.wants), ValuesOf(before, key.view())));
  }
  if (lines.empty() && !SelectorLeavesOne(s, before))
    lines.push_back(fmt::format("none of {} has all of the labels that the Pod selects by: {}", Names(before),
                                SelectorText(s.pod())));
  if (!elsewhere.empty())
    lines.push_back(fmt::format("{} match and do not offer {}", Names(elsewhere), TextOf(s.wants)));
  if (lines.empty()) lines.push_back(fmt::format("nodeSelector and affinity together leave none of {}", Names(before)));
  Diagnosis d = s.Say(code, lines.front());
  d.evidence = std::move(lines);
  return d;
}

Diagnosis NobodyIsReady(const Search& s, const Nodes& before) {
  return s.Say(kNodeNotReady, fmt::format("{} not ready", Names(before)), before.front()->name());
}

Diagnosis AllAreCordoned(const Search& s, const Nodes& before) {
  return s.Say(kNodeCordoned, fmt::format("{} cordoned", Names(before)), before.front()->name());
}

Diagnosis NobodyIsTolerated(const Search& s, const Nodes& before) {
  Diagnosis d = s.Say(kTaintNotTolerated, "", before.front()->name());
  d.evidence.clear();
  for (const NodeView* node : before) {
    if (d.evidence.size() == kMostNames) break;
    const kube::Taint* taint = Repelling(s, *node);
    d.evidence.push_back(fmt::format("node {} has the taint {}{}{}:{}", node->name(), taint->key.view(),
                                     taint->value.empty() ? "" : "=", taint->value.view(), taint->effect.view()));
  }
  return d;
}

Diagnosis NobodyIsLargeEnough(const Search& s, const Nodes& before) {
  for (const NodeView* node : before) {
    const bool once =
        std::ranges::all_of(s.wants, [&](const auto& w) { return node->offers.at(w.first).advertised >= w.second; });
    if (!once) continue;
    const std::vector<Diagnosis> found = DiagnoseNode(*node, s.cluster);
    if (const Diagnosis* first = FirstOf(found)) return first->On(node->name());
  }
  const auto& [resource, amount] = *s.wants.begin();
  const NodeView* largest = *std::ranges::max_element(
      before, {}, [&resource](const NodeView* n) { return n->offers.at(resource).allocatable; });
  return s.Say(kTooFewGpusOnOneNode,
               fmt::format("the Pod asks for {} {}; the largest node, {}, has {}", amount, resource, largest->name(),
                           largest->offers.at(resource).allocatable),
               largest->name());
}

Diagnosis NobodyIsFree(const Search& s, const Nodes& before) {
  const auto& [resource, amount] = *s.wants.begin();
  const NodeView* best =
      *std::ranges::max_element(before, {}, [&resource](const NodeView* n) { return n->offers.at(resource).free(); });
  const Offer& offer = best->offers.at(resource);
  Diagnosis d = s.Say(kGpusInUse,
                      fmt::format("the Pod asks for {} {}; {} has most left: {} of {}", amount, resource, best->name(),
                                  std::max<std::int64_t>(offer.free(), 0), offer.allocatable),
                      best->name());
  std::vector<std::string> holders;
  for (const Holder* h : best->holders)
    if (const std::int64_t n = kube::AmountOf(h->gpus, resource); n > 0)
      holders.push_back(fmt::format("{}/{} ({})", h->ns, h->name, n));
  if (!holders.empty()) d.evidence.push_back(fmt::format("held on {} by {}", best->name(), Listed(holders)));
  return d;
}

struct Step {
  std::function<bool(const NodeView&)> keeps;
  Diagnosis (*explain)(const Search&, const Nodes& before);
};

/// What a node is stands before how it is at the moment: a node that is too small is no better for being uncordoned.
std::vector<Step> StepsOf(const Search& s) {
  return {{[&s](const NodeView& n) { return Offers(n, s.wants); }, NobodyOffers},
          {[&s](const NodeView& n) { return Matches(s, n); }, NobodyMatches},
          {[&s](const NodeView& n) { return LargeEnough(n, s.wants); }, NobodyIsLargeEnough},
          {[](const NodeView& n) { return n.node->ready(); }, NobodyIsReady},
          {[](const NodeView& n) { return !n.node->spec.unschedulable; }, AllAreCordoned},
          {[&s](const NodeView& n) { return Repelling(s, n) == nullptr; }, NobodyIsTolerated},
          {[&s](const NodeView& n) { return FreeEnough(n, s.wants); }, NobodyIsFree}};
}

/// What the Pod asks for of another device plugin's ("example.com/nic") that no node has; "" when there is no such.
std::string UnknownResource(const Search& s) {
  for (const auto& [resource, amount] : kube::PodRequests(s.pod().spec)) {
    if (resource.find('/') == std::string::npos || IsGpuResource(resource) || amount == 0) continue;
    const bool offered = std::ranges::any_of(s.all, [&](const NodeView& n) {
      const auto& capacity = n.node->status.capacity;
      return capacity.contains(resource) && capacity.Get(resource) != "0";
    });
    if (!offered) return resource;
  }
  return {};
}

/// What the scheduler misses besides GPUs: "cpu", "memory, Too many pods"; "" when it says nothing of the kind.
std::string ShortOf(const kube::Condition* scheduled) {
  if (scheduled == nullptr) return {};
  std::set<std::string> missed;
  // "0/4 nodes are available: 1 Insufficient nvidia.com/gpu, 4 Insufficient cpu. preemption: …"
  for (std::string_view part : Split(scheduled->message.view(), ',')) {
    if (part.find("Too many pods") != std::string_view::npos) missed.emplace("room for one more Pod");
    constexpr std::string_view kInsufficient = "Insufficient ";
    const std::size_t at = part.find(kInsufficient);
    if (at == std::string_view::npos) continue;
    part.remove_prefix(at + kInsufficient.size());
    const std::string_view resource = Trim(part.substr(0, part.find(". ")));
    if (!IsGpuResource(resource)) missed.emplace(resource.substr(0, resource.find_last_not_of('.') + 1));
  }
  return Join(std::vector<std::string>(missed.begin(), missed.end()), ", ");
}

Diagnosis Narrow(Search& s, const kube::Condition* scheduled) {
  for (const Step& step : StepsOf(s)) {
    Nodes kept;
    std::ranges::copy_if(s.left, std::back_inserter(kept), [&step](const NodeView* n) { return step.keeps(*n); });
    if (kept.empty() && !s.left.empty()) return step.explain(s, s.left);
    s.left = std::move(kept);
  }
  if (!s.cluster.sees_nodes) return s.Say(kUnschedulable, "the Pod asks for " + TextOf(s.wants));
  if (s.left.empty()) return s.Say(kUnschedulable, "the cluster has no node");
  if (const std::string resource = UnknownResource(s); !resource.empty())
    return s.Say(kNoSuchResource, fmt::format("the Pod asks for {}, which no node offers", resource));
  if (const std::string missed = ShortOf(scheduled); !missed.empty())
    return s.Say(
        kOtherResourcesShort,
        fmt::format("as far as GPUs, labels and taints go, {} could take it; missing is: {}", Names(s.left), missed));
  return s.Say(kUnschedulable, fmt::format("as far as GPUs, labels and taints go, {} could take it", Names(s.left)));
}

/// A Pod that could be bound and that no scheduler has looked at.
std::string NotAnswered(const Search& s) {
  std::string_view scheduler = s.pod().spec.scheduler_name.view();
  if (scheduler.empty()) scheduler = kDefaultScheduler;
  return fmt::format("{} could take it, and the scheduler has not answered yet{}", Names(s.left),
                     scheduler == kDefaultScheduler ? "" : fmt::format(": the Pod's is called {}", scheduler));
}

/// One line for each node with GPUs: what is left there.
std::vector<std::string> Describe(const Search& s) {
  std::vector<std::string> out;
  for (const NodeView& node : s.all) {
    if (!node.HasGpus() || out.size() == 20) continue;
    std::vector<std::string> parts;
    for (const auto& [resource, offer] : node.offers)
      parts.push_back(
          fmt::format("{} of {} {} free", std::max<std::int64_t>(offer.free(), 0), offer.allocatable, resource));
    if (!Matches(s, node)) parts.emplace_back("not selected");
    if (!node.node->ready()) parts.emplace_back("not ready");
    if (node.node->spec.unschedulable) parts.emplace_back("cordoned");
    // Taints that Kubernetes sets itself say the same again.
    if (const kube::Taint* taint = Repelling(s, node);
        taint != nullptr && !taint->key.view().starts_with("node.kubernetes.io/"))
      parts.push_back(fmt::format("taint {} not tolerated", taint->key.view()));
    out.push_back(fmt::format("{}: {}", node.name(), parts.empty() ? "offers nothing" : Join(parts, ", ")));
  }
  return out;
}

}  // namespace

kube::Amounts GpusOf(const kube::Pod& pod) {
  kube::Amounts out = kube::PodRequests(pod.spec);
  std::erase_if(out, [](const auto& entry) { return !IsGpuResource(entry.first); });
  return out;
}

std::string TextOf(const kube::Amounts& gpus) {
  std::vector<std::string> parts;
  for (const auto& [resource, amount] : gpus) parts.push_back(fmt::format("{} {}", amount, resource));
  return parts.empty() ? "no GPU" : Join(parts, ", ");
}

Why WhyPending(const PodFacts& pod, const ClusterFacts& facts, const std::vector<NodeView>& nodes) {
  Search s{
      .facts = pod, .cluster = facts, .all = nodes, .wants = GpusOf(pod.pod), .affinity = {}, .left = {}, .why = {}};
  s.why.symptom = Symptom::kPending;
  s.why.standing = Standing::kBroken;
  const kube::Condition* scheduled = kube::FindCondition(pod.pod.status.conditions, "PodScheduled");
  if (!pod.pod.spec.scheduling_gates.empty()) {
    s.why.cause = s.Say(kUnschedulable, fmt::format("it waits for its scheduling gate {}",
                                                    pod.pod.spec.scheduling_gates.front().name.view()));
    return std::move(s.why);
  }
  if (auto affinity = kube::ParseAffinity(pod.pod.spec.affinity)) s.affinity = *std::move(affinity);
  for (const NodeView& node : nodes) s.left.push_back(&node);
  s.why.cause = Narrow(s, scheduled);
  s.why.nodes = Describe(s);
  if (scheduled != nullptr && !scheduled->message.empty())
    s.why.cause->evidence.push_back(fmt::format("scheduler: {}", scheduled->message.view()));
  else if (s.why.cause->code == kUnschedulable && !s.left.empty())
    s.why.cause = s.Say(kSchedulerSilent, NotAnswered(s));
  if (s.why.cause->reason().severity == api::Severity::kFine) s.why.standing = Standing::kWaiting;
  return std::move(s.why);
}

}  // namespace gpuop::cli::kubectl_gpu
