#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "kube/cache.h"
#include "operands/facts.h"
#include "operator/node_state.h"
#include "operator/rollout_state.h"

namespace gpuop::op {

/// What policies need to know of all nodes together, kept up to date node by node, so that no decision costs a walk
/// over 10,000 of them.
struct FleetSummary {
  /// Names of nodes; the number beside each is of use only while one state takes the place of another.
  using NodeNames = std::map<std::string, std::int32_t>;

  std::int64_t nodes = 0, gpu_nodes = 0;
  /// Nodes with a label of node feature discovery; GPU nodes whose operating system nobody tells.
  std::int64_t described = 0;
  std::int64_t without_os = 0, without_runtime = 0;
  /// GPU nodes that discovery describes as they were before an update.
  NodeNames stale;
  /// GPU nodes that were found not fit for GPU work, by the code of the chain's first broken link.
  std::map<std::string, NodeNames> unfit;
  /// GPU nodes whose label says a workload that nobody knows.
  NodeNames bad_workload;
  /// GPU nodes whose driver is the host's own, or is switched off by label, and that take no operands at all.
  std::int64_t host_driver = 0, no_operands = 0;
  std::map<operands::NodeGroup, std::int32_t> groups;  ///< GPU nodes; the group's own count is 0
  /// Nodes of a driver's owner whose driver upgrade is under way, by state.
  std::map<std::string, std::int64_t> upgrades;
  bool operator==(const FleetSummary&) const = default;
};

/// Thread-safe.
class Fleet {
 public:
  /// Registers with the cache: make it before the cache starts.
  explicit Fleet(kube::Cache<NodeState>& nodes);

  FleetSummary Summary() const;
  /// Changes whenever the groups do that manifests are made for; how many nodes a group has is no matter of theirs.
  std::uint64_t shape() const;
  /// Changes whenever any node does.
  std::uint64_t version() const;
  /// How many nodes the DaemonSet of that name puts Pods on: counted once, then kept up with what nodes become.
  std::int64_t NodesFor(const std::string& daemon_set, const Placement& placement);
  /// How many nodes keep Pods that would not be put there any longer (Keeps).
  std::int64_t NodesKeeping(const Placement& placement) const;
  /// Nodes that Pods are put on by the one placement and not by the other.
  std::vector<std::string> Losing(const Placement& from, const Placement& to) const;

 private:
  struct Counted {
    Placement placement;
    std::int64_t nodes = 0;
  };
  /// What the cache's handler touches: it may go on a little longer than the fleet.
  struct Shared {
    mutable Mutex mu;
    FleetSummary summary GUARDED_BY(mu);
    std::uint64_t shape GUARDED_BY(mu) = 0, version GUARDED_BY(mu) = 0;
    /// The nodes that have been counted.
    std::map<std::string, std::shared_ptr<const NodeState>> nodes GUARDED_BY(mu);
    std::map<std::string, Counted> placements GUARDED_BY(mu);

    void Heard(const kube::Change<NodeState>& change);
    void Count(const NodeState& node, std::int32_t by) REQUIRES(mu);
  };
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace gpuop::op
