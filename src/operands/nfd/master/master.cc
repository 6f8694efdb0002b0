#include "operands/nfd/master/master.h"

#include <algorithm>

#include "base/text.h"
#include "operands/nfd/master/node_writer.h"

namespace gpuop::operands::nfd {
namespace {

constexpr std::string_view kByNode = "node";
/// The key whose turn gives all nodes one; no node is called so.
constexpr std::string_view kAllNodes = "*";
/// A write that the cache does not show after this time is sent again.
constexpr Duration kEcho = std::chrono::seconds(10);

kube::CacheOptions CacheFor(const Master::Options& options, Log& log, MetricRegistry& metrics, std::uint64_t salt) {
  kube::CacheOptions out;
  out.page = options.page;
  out.seed = options.seed + salt;
  out.log = &log;
  out.metrics = &metrics;
  return out;
}

kube::CacheOptions ForNodes(const Master::Options& options, Log& log, MetricRegistry& metrics) {
  auto out = CacheFor(options, log, metrics, 1);
  if (!options.only_node.empty()) out.field_selector = "metadata.name=" + options.only_node;
  return out;
}

kube::CacheOptions ForFeatures(const Master::Options& options, Log& log, MetricRegistry& metrics) {
  auto out = CacheFor(options, log, metrics, 2);
  if (!options.only_node.empty()) out.label_selector = std::string(api::kNodeNameLabel) + "=" + options.only_node;
  return out;
}

kube::Controller::Options Turns(const Master::Options& options, std::string name, std::size_t concurrency,
                                MetricRegistry& metrics) {
  return {.name = std::move(name),
          .concurrency = concurrency,
          .back_off = {std::chrono::milliseconds(50), std::chrono::seconds(100), 0.1},
          .seed = options.seed,
          .metrics = &metrics};
}

std::uint64_t HashOf(const NodePatch& patch) {
  std::uint64_t hash = Hash64("");
  for (const auto& part : {patch.node, patch.status}) hash = Hash64(part ? data::ToJson(*part) : "-", hash);
  return hash;
}

}  // namespace

Master::Master(Executor& executor, const kube::Client& client, Options options, NodeSettings settings, Log& log,
               MetricRegistry& metrics)
    : executor_(executor),
      client_(client),
      options_(std::move(options)),
      log_(log),
      updates_(metrics.counter("nfd_node_updates_total", "Nodes written.")),
      failures_(metrics.counter("nfd_node_update_failures_total", "Writes of nodes that failed.")),
      rejected_(metrics.counter("nfd_node_names_rejected_total",
                                "Labels, annotations, resources, taints, rules and objects that do not count.")),
      settings_(std::make_shared<const NodeSettings>(std::move(settings))),
      nodes_(executor, client, ForNodes(options_, log, metrics)),
      features_(executor, client, ForFeatures(options_, log, metrics)),
      rules_(executor, client, CacheFor(options_, log, metrics, 3)),
      namespaces_(executor, client, CacheFor(options_, log, metrics, 4)),
      group_cache_(executor, client, CacheFor(options_, log, metrics, 5)),
      controller_(executor, log, Turns(options_, "nfd-nodes", options_.parallelism, metrics),
                  [this](const std::string& node) { return Reconcile(node); }),
      groups_(executor, log, Turns(options_, "nfd-groups", 1, metrics),
              [this](const std::string& key) { return ReconcileGroup(key); }) {
  Listen();
}

void Master::Listen() {
  add_node_ = controller_.Adder();
  add_group_ = groups_.Adder();
  features_.AddIndex(std::string(kByNode),
                     [](const NodeFeatureRecord& object, const std::function<void(std::string_view)>& emit) {
                       if (!object.node.empty()) emit(object.node);
                     });
  controller_.Needs(nodes_);
  controller_.Needs(features_);
  controller_.Needs(rules_);
  if (options_.namespaces) controller_.Needs(namespaces_);
  const auto all = [this](const auto&) { Refresh(); };
  nodes_.OnChange([this](const kube::Change<NodeRecord>& change) {
    if (change.old && change.now && change.old->SameAs(*change.now)) return;
    Later(change.any().meta.name, {});
  });
  features_.OnChange([this](const kube::Change<NodeFeatureRecord>& change) { OnFeature(change); });
  rules_.OnChange(all);
  namespaces_.OnChange([this](const kube::Change<NamespaceRecord>& change) {
    if (!change.old || !change.now || change.old->labels != change.now->labels) Refresh();
  });
  if (!options_.groups) return;
  groups_.Needs(features_);
  groups_.Watch<GroupRecord>(group_cache_);
}

void Master::Start() {
  nodes_.Start();
  features_.Start();
  rules_.Start();
  if (options_.namespaces) namespaces_.Start();
  if (options_.groups) group_cache_.Start();
}

/// Gathers what comes in quick succession into one turn.
void Master::Later(std::string_view node, Duration delay) {
  if (node.empty()) return;
  executor_.PostAfter(delay, [add = add_node_, key = std::string(node)] { add(key); });
}

void Master::GroupsLater() {
  if (!options_.groups) return;
  for (const auto& group : group_cache_.List())
    executor_.PostAfter(options_.settle, [add = add_group_, key = group->meta.Key()] { add(key); });
}

void Master::Refresh() {
  // Rules come one by one, and each concerns all nodes: one round for all of them.
  Later(kAllNodes, options_.settle);
}

void Master::AllNodes() {
  for (const auto& node : nodes_.List()) add_node_(node->meta.name);
  GroupsLater();
}

void Master::Use(NodeSettings settings) {
  {
    Lock l(mu_);
    settings_ = std::make_shared<const NodeSettings>(std::move(settings));
    reported_.clear();
  }
  Refresh();
}

void Master::OnFeature(const kube::Change<NodeFeatureRecord>& change) {
  const std::string key = change.Key();
  const Interned node = change.any().node;
  if (change.old && change.now && change.old->node != change.now->node) Later(change.old->node, options_.settle);
  {
    Lock l(mu_);
    lingering_.erase(key);
    if (!change.now) {
      lingering_[key] = {change.old, executor_.Now() + options_.grace};
      absent_since_.try_emplace(std::string(node.view()), executor_.Now());
    } else {
      absent_since_.erase(std::string(node.view()));
    }
  }
  if (!change.now) Later(node, options_.grace);
  Later(node, options_.settle);
  GroupsLater();
}

bool Master::Counts(const NodeFeatureRecord& object) const {
  if (!options_.namespaces || object.meta.ns == options_.ns) return true;
  const auto ns = namespaces_.Get(object.meta.ns);
  if (ns == nullptr) return false;
  return options_.namespaces->MatchesBy([&](std::string_view key) -> std::optional<std::string_view> {
    const Interned* const value = ns->labels.Find(key);
    return value == nullptr ? std::nullopt : std::optional(value->view());
  });
}

std::vector<Master::FeaturePtr> Master::ObjectsOf(const std::string& node, std::vector<std::string>& problems) {
  std::vector<FeaturePtr> objects = features_.Find(kByNode, node);
  {
    Lock l(mu_);
    std::erase_if(lingering_, [&](const auto& entry) { return entry.second.until <= executor_.Now(); });
    for (const auto& [key, gone] : lingering_)
      if (gone.object->node == node) objects.push_back(gone.object);
  }
  TextSet own;
  for (const FeaturePtr& object : objects)
    if (object->meta.ns == options_.ns) own.insert(object->meta.name);
  std::erase_if(objects, [&](const FeaturePtr& object) {
    if (object->meta.ns != options_.ns && own.contains(object->meta.name)) {
      problems.push_back("object " + object->meta.Key() + ": the one of namespace " + options_.ns + " counts instead");
      return true;
    }
    // Who knows a node's features by himself needs no object with older ones.
    const bool known = options_.own_features && object->meta.ns == options_.ns && object->meta.name == node;
    return known || !Counts(*object);
  });
  std::ranges::sort(objects, {}, [this](const FeaturePtr& object) {
    return std::tuple(object->meta.ns != options_.ns, object->meta.name, object->meta.ns.view());
  });
  return objects;
}

Result<Master::Known> Master::KnownOf(const std::string& node) {
  Known out;
  if (options_.own_features && node == options_.only_node) {
    options_.own_features(out.features, out.labels);
    ++out.objects;
  }
  for (const FeaturePtr& object : ObjectsOf(node, out.problems)) {
    ASSIGN(const Features features, object->ReadAll());
    out.features.Add(features);
    for (const auto& [key, value] : object->labels) out.labels.insert_or_assign(std::string(key.view()), value.view());
    ++out.objects;
  }
  return out;
}

void Master::ReportOnce(const std::string& node, const std::vector<std::string>& problems) {
  const std::string text = Join(problems, "; ");
  const std::uint64_t hash = Hash64(text);
  {
    Lock l(mu_);
    std::uint64_t& known = reported_[node];
    if (known == hash) return;
    known = hash;
  }
  rejected_.Add(static_cast<double>(problems.size()));
  if (!problems.empty()) log_.Warn("some of what the node should get was refused", {{"node", node}, {"what", text}});
}

std::optional<Duration> Master::StillAbsent(const std::string& node) {
  Lock l(mu_);
  const TimePoint since = absent_since_.try_emplace(node, executor_.Now()).first->second;
  const Duration passed = executor_.Now() - since;
  return passed >= options_.grace ? std::nullopt : std::optional(options_.grace - passed);
}

bool Master::WasJustSent(const std::string& node, const std::string& version, const NodePatch& patch) {
  const std::uint64_t hash = HashOf(patch);
  Lock l(mu_);
  Sent& sent = sent_[node];
  if (sent.version == version && sent.patch == hash && executor_.Now() - sent.at < kEcho) return true;
  sent = {version, hash, executor_.Now()};
  return false;
}

Result<kube::Next> Master::Reconcile(const std::string& name) {
  if (name == kAllNodes) {
    AllNodes();
    return kube::Next{};
  }
  const auto node = nodes_.Get(name);
  if (node == nullptr) {
    Lock l(mu_);
    sent_.erase(name);
    absent_since_.erase(name);
    reported_.erase(name);
    return kube::Next{};
  }
  std::shared_ptr<const NodeSettings> settings;
  {
    Lock l(mu_);
    settings = settings_;
  }
  ASSIGN(Known known, KnownOf(name));
  const NodeState state = node->State();
  NodeWish wish;
  if (known.objects != 0) {
    std::vector<const RuleList*> lists;
    const auto rules = rules_.List();
    for (const auto& rule : rules) lists.push_back(&rule->rules);
    wish = WishFor(known.features, known.labels, lists, *settings);
    known.problems.insert(known.problems.end(), wish.problems.begin(), wish.problems.end());
    ReportOnce(name, known.problems);
  } else {
    if (!HasOurs(state, *settings)) return kube::Next{};
    if (const auto rest = StillAbsent(name)) return kube::Next{.again = *rest};
  }
  NodePatch patch = PlanNode(state, wish, *settings);
  const kube::Next next{.again = options_.resync};
  if (patch.empty() || !options_.publish) {
    Lock l(mu_);
    sent_.erase(name);
    return next;
  }
  if (WasJustSent(name, state.resource_version, patch)) return kube::Next{.again = kEcho};
  const auto written = WriteNode(client_, name, std::move(patch), *settings);
  if (!written) {
    failures_.Add();
    Lock l(mu_);
    sent_.erase(name);
    if (written.error().code == Code::kNotFound) return kube::Next{};  // the cache will say so
    return std::unexpected(written.error());
  }
  updates_.Add();
  log_.Info("node written", {{"node", name}});
  return next;
}

Result<kube::Next> Master::ReconcileGroup(const std::string& key) {
  const auto group = group_cache_.Get(key);
  if (group == nullptr) return kube::Next{};
  TextSet members;
  for (const auto& node : nodes_.List()) {
    ASSIGN(Known known, KnownOf(node->meta.name));
    if (known.objects == 0) continue;
    for (const Rule& rule : group->rules.rules) {
      const auto applied = rule.Apply(known.features);
      if (!applied) continue;
      if (!*applied) continue;
      TextMap& matched = known.features.attributes[std::string(kMatchedFeature)];
      for (const auto& [name, value] : (*applied)->vars) matched.insert_or_assign(name, value);
      members.insert(node->meta.name);
    }
  }
  if (members == group->nodes || !options_.publish) return kube::Next{};
  data::JsonArray nodes;
  for (const std::string& name : members) nodes.push_back(data::JsonObject{{"name", name}});
  const auto [ns, name] = kube::SplitKey(key);
  TRY(client_.Patch({GroupRecord::kResource, std::string(ns), std::string(name), "status"}, kube::PatchType::kMerge,
                    data::JsonObject{{"status", {{"nodes", std::move(nodes)}}}}));
  return kube::Next{};
}

}  // namespace gpuop::operands::nfd
