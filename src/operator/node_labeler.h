#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "kube/controller.h"
#include "kube/events.h"
#include "operator/dry_run.h"
#include "operator/mark_pods.h"
#include "operator/node_plan.h"
#include "operator/node_pods.h"
#include "operator/world.h"

namespace gpuop::op {

/// The one writer of node labels: each node has its own turn, so that one that cannot be written holds up no other.
/// A change of the policy, or of any driver, gives every node a turn; most of them find nothing to do and cost nothing.
class NodeLabeler {
 public:
  struct Options {
    std::size_t concurrency = 8;
    std::uint64_t seed = 1;
    MetricRegistry* metrics = nullptr;
  };

  /// Registers with the world. `on_settled` is called when the last node that was wrong has become right.
  NodeLabeler(Executor& executor, World& world, const kube::Client& client, kube::EventRecorder& events, Log& log,
              Options options, std::function<void()> on_settled);

  /// Turns begin, for every node.
  void Start();
  void Pause() { controller_.Pause(); }

  /// Whether every node has been looked at since it last changed, and carries what it should.
  bool Settled() const;
  /// Whether the node has not got its labels yet.
  bool Waits(const std::string& node) const { return shared_->MarkOf(node) != 0; }
  const kube::WorkQueue& queue() const { return controller_.queue(); }
  std::uint64_t turns() const { return controller_.turns(); }

  /// What would be written to the node, for a dry run.
  void Preview(const NodeState& node, DryRunText& out);

 private:
  /// What decides about all nodes, made anew when a policy or a driver has changed.
  struct Policy {
    LabelRules rules;
    DriverRouting drivers;
  };
  /// Since when something has stood that becomes true only after the hold time.
  struct Held {
    std::string uid;
    std::optional<TimePoint> absent, unmet;
  };

  /// What the caches' handlers touch: they may go on a little longer than the labeler.
  struct Shared {
    World& world;
    const std::function<void()> on_settled;
    std::function<void(std::string_view)> again = {};  ///< gives a node a turn; set before anything begins
    mutable Mutex mu;
    /// What was decided of the policies and drivers as they were after `decided` changes; null: a policy decides
    /// nothing.
    std::shared_ptr<const Policy> policy GUARDED_BY(mu);
    std::uint64_t changes GUARDED_BY(mu) = 1, decided GUARDED_BY(mu) = 0;
    /// Nodes that wait for a turn, each with the number of its newest mark.
    std::map<std::string, std::uint64_t> dirty GUARDED_BY(mu);
    std::uint64_t marks GUARDED_BY(mu) = 0;

    void MarkDirty(const std::string& name);
    /// The node's newest mark; 0 when it waits for nothing.
    std::uint64_t MarkOf(const std::string& name) const;
    /// The turn that began at `mark` is done; a newer mark stays.
    void MarkClean(const std::string& name, std::uint64_t mark);
    /// A policy or a driver has changed: every node gets a turn.
    void AllNodes(const std::function<void(std::string_view)>& add);
  };

  std::shared_ptr<const Policy> CurrentPolicy();
  Result<kube::Next> Turn(const std::string& name);
  NodePlan Plan(const NodeState& node, const Policy& policy);
  void Tell(const NodeState& node, const NodePlan& plan);
  void TellOnce(const NodeState& node, const std::string& reason, const std::string& text);
  Result<> Write(const NodeState& node, const NodePatch& patch);
  Result<kube::Next> Drain(const NodeState& node);
  Result<> Sweep(const NodeState& node, const NodePlan& plan);

  Executor& executor_;
  World& world_;
  const kube::Client client_;
  kube::EventRecorder& events_;
  Log& log_;
  const std::shared_ptr<Shared> shared_;

  NodePods pods_;       ///< of nodes that change their workload
  MarkPods mark_pods_;  ///< of nodes that lose what operands marked them by
  mutable Mutex mu_;
  std::map<std::string, Held> held_ GUARDED_BY(mu_);
  std::map<std::string, std::string> told_ GUARDED_BY(mu_);  ///< the last event's text by node

  kube::Controller controller_;
};

}  // namespace gpuop::op
