#include "operands/nfd/worker/outputs.h"

#include "base/text.h"
#include "operands/nfd/worker/usage.h"

namespace gpuop::operands::nfd {
namespace {

kube::CacheOptions CacheFor(Log& log, MetricRegistry& metrics) {
  kube::CacheOptions out;
  out.log = &log;
  out.metrics = &metrics;
  out.seed = RandomSeed();
  return out;
}

Master::Options OwnNode(const WorkerProgram& program) {
  Master::Options out;
  out.ns = program.ns;
  out.parallelism = 1;
  out.only_node = program.node;
  out.seed = RandomSeed();
  return out;
}

NodeSettings OwnNodeSettings(const WorkerSettings& settings) {
  NodeSettings out;
  out.names.extra_label_ns = settings.extra_label_ns;
  return out;
}

}  // namespace

RulesInUse::RulesInUse(Executor& executor, kube::Client client, bool groups, Log& log, MetricRegistry& metrics,
                       std::function<void(bool anew)> changed)
    : client_(std::move(client)),
      groups_(groups),
      log_(log),
      rules_(executor, client_, CacheFor(log, metrics)),
      group_cache_(executor, client_, CacheFor(log, metrics)) {
  // What a first list tells is known already.
  rules_.OnChange([this, changed](const kube::Change<RuleRecord>&) {
    if (rules_.HasSynced()) changed(true);
  });
  rules_.OnSynced([changed] { changed(false); });
  group_cache_.OnChange([changed](const kube::Change<GroupRecord>& change) {
    if (!change.old || !change.now || change.old->rules.rules.size() != change.now->rules.rules.size() ||
        change.old->nodes == change.now->nodes)
      changed(true);
  });
}

Result<> RulesInUse::ReadOnce() {
  first_rules_.clear();
  first_groups_.clear();
  const auto rules = client_.List(RuleRecord::kResource, {}, [this](const data::JsonObject& object) -> Result<> {
    ASSIGN(first_rules_.emplace_back(), RuleRecord::FromJson(object));
    return {};
  });
  if (!rules && rules.error().code != Code::kForbidden) return std::unexpected(rules.error());
  may_read_ = rules.has_value();
  if (!may_read_) log_.Warn("rules may not be read, so all features are published", {{"reason", rules.error().text}});
  if (groups_ && may_read_)
    TRY(client_.List(GroupRecord::kResource, {}, [this](const data::JsonObject& object) -> Result<> {
      ASSIGN(first_groups_.emplace_back(), GroupRecord::FromJson(object));
      return {};
    }));
  read_ = true;
  return {};
}

Result<NodeFacts> RulesInUse::Reduce(const NodeFacts& facts, bool follow) {
  if (!read_) TRY(ReadOnce());
  if (!may_read_) return facts;
  if (follow && !following_) {
    following_ = true;
    rules_.Start();
    if (groups_) group_cache_.Start();
  }
  std::vector<const RuleList*> lists;
  const auto rules = rules_.List();
  const auto groups = group_cache_.List();
  const bool fresh = following_ && rules_.HasSynced() && (!groups_ || group_cache_.HasSynced());
  if (fresh) {
    first_rules_ = {};
    first_groups_ = {};
    for (const auto& rule : rules) lists.push_back(&rule->rules);
    for (const auto& group : groups) lists.push_back(&group->rules);
  } else {
    for (const RuleRecord& rule : first_rules_) lists.push_back(&rule.rules);
    for (const GroupRecord& group : first_groups_) lists.push_back(&group.rules);
  }
  return NodeFacts{UsedFeatures(facts.features, lists), facts.labels};
}

Result<> ObjectOutput::Put(const NodeFacts& facts, const WorkerSettings& settings) {
  NodeFacts published;
  if (!settings.publish_features) {
    published.labels = facts.labels;
  } else if (settings.publish_all) {
    published = facts;
  } else {
    ASSIGN(published, rules_.Reduce(facts, follow_));
  }
  for (const std::string& name : settings.unpublished) {
    published.features.flags.erase(name);
    published.features.attributes.erase(name);
    published.features.instances.erase(name);
  }
  ASSIGN(const bool wrote, publisher_.Publish(published, settings.owners));
  if (wrote) log_.Info("features published", {{"labels", std::to_string(published.labels.size())}});
  return {};
}

NodeOutput::NodeOutput(Executor& executor, const kube::Client& client, const WorkerProgram& program,
                       const WorkerSettings& settings, Log& log, MetricRegistry& metrics)
    : master_(
          executor, client,
          [&] {
            Master::Options options = OwnNode(program);
            options.own_features = [this](Features& features, TextMap& labels) {
              std::shared_ptr<const NodeFacts> facts;
              {
                Lock l(mu_);
                facts = facts_;
              }
              features = facts->features;
              labels = facts->labels;
            };
            return options;
          }(),
          OwnNodeSettings(settings), log, metrics) {}

Result<> NodeOutput::Put(const NodeFacts& facts, const WorkerSettings& settings) {
  bool is_first = false;
  {
    Lock l(mu_);
    if (facts_ && *facts_ == facts) return {};
    is_first = facts_ == nullptr;
    facts_ = std::make_shared<const NodeFacts>(facts);
  }
  if (is_first) {
    master_.Start();
    master_.Lead();
  } else {
    master_.Use(OwnNodeSettings(settings));
  }
  return {};
}

}  // namespace gpuop::operands::nfd
