#pragma once
// The two ways of a worker's findings into the cluster.

#include <functional>
#include <memory>
#include <vector>

#include "kube/cache.h"
#include "operands/nfd/master/master.h"
#include "operands/nfd/master/records.h"
#include "operands/nfd/worker/publisher.h"
#include "operands/nfd/worker/worker.h"

namespace gpuop::operands::nfd {

/// The cluster's rules, for what they use.
class RulesInUse {
 public:
  /// `changed` is called when they have been read and after each change; `anew` tells a change. `groups`:
  /// NodeFeatureGroup objects use features too.
  RulesInUse(Executor& executor, kube::Client client, bool groups, Log& log, MetricRegistry& metrics,
             std::function<void(bool anew)> changed);

  /// All rules, those of `facts` that they use alone in the answer. When the worker may not read rules everything is
  /// used. The first call reads them; a failure of that is the answer. With `follow` they are watched from then on.
  Result<NodeFacts> Reduce(const NodeFacts& facts, bool follow);

 private:
  Result<> ReadOnce();

  const kube::Client client_;
  const bool groups_;
  Log& log_;
  bool may_read_ = true, read_ = false, following_ = false;
  std::vector<RuleRecord> first_rules_;
  std::vector<GroupRecord> first_groups_;
  kube::Cache<RuleRecord> rules_;
  kube::Cache<GroupRecord> group_cache_;
};

/// A NodeFeature object, for nfd-master to read.
class ObjectOutput final : public FactsOutput {
 public:
  ObjectOutput(Publisher& publisher, RulesInUse& rules, bool follow, Log& log)
      : publisher_(publisher), rules_(rules), follow_(follow), log_(log) {}
  Result<> Put(const NodeFacts& facts, const WorkerSettings& settings) override;

 private:
  Publisher& publisher_;
  RulesInUse& rules_;
  const bool follow_;
  Log& log_;
};

/// The node itself, by the worker's own hand: rules and other NodeFeature objects of this node count as with
/// nfd-master.
class NodeOutput final : public FactsOutput {
 public:
  NodeOutput(Executor& executor, const kube::Client& client, const WorkerProgram& program,
             const WorkerSettings& settings, Log& log, MetricRegistry& metrics);
  Result<> Put(const NodeFacts& facts, const WorkerSettings& settings) override;

 private:
  Mutex mu_;
  std::shared_ptr<const NodeFacts> facts_ GUARDED_BY(mu_);
  Master master_;
};

}  // namespace gpuop::operands::nfd
