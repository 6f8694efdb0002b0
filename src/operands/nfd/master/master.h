#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "data/label_selector.h"
#include "kube/cache.h"
#include "kube/controller.h"
#include "operands/nfd/master/node_plan.h"
#include "operands/nfd/master/records.h"

namespace gpuop::operands::nfd {

/// Keeps nodes as NodeFeature and NodeFeatureRule objects say. It works from caches that are complete before anything
/// is done, writes what differs and nothing else, and takes away only what its notes on the node list. A NodeFeature
/// object that goes counts for `grace` longer: what comes back in that time was never away.
///
/// Set up, then Start. The executor's tasks may block.
class Master {
 public:
  struct Options {
    /// Its own namespace: an object there counts instead of one of the same name elsewhere.
    std::string ns;
    bool publish = true;
    /// Fill in the status of NodeFeatureGroup objects.
    bool groups = false;
    std::size_t parallelism = 10;
    int page = 200;
    /// Which namespaces' NodeFeature objects count; all without it.
    std::optional<data::LabelSelector> namespaces;
    /// Only this node, its NodeFeature objects too; for a worker that labels its own node.
    std::string only_node;
    /// Features that are known by other ways, of `only_node`.
    std::function<void(Features&, TextMap& labels)> own_features;
    Duration settle = std::chrono::milliseconds(100);
    Duration grace = std::chrono::seconds(15);
    Duration resync = std::chrono::hours(1);
    std::uint64_t seed = 1;
  };

  Master(Executor& executor, const kube::Client& client, Options options, NodeSettings settings, Log& log,
         MetricRegistry& metrics);

  /// Caches begin to fill; turns begin when they are complete and Lead was called.
  void Start();
  void Lead() { controller_.Start(), groups_.Start(); }
  /// No write begins until the next Lead.
  void Rest() { controller_.Pause(), groups_.Pause(); }
  /// Other settings from now on, for all nodes.
  void Use(NodeSettings settings);
  /// Everything is looked at again.
  void Refresh();
  /// Thread-safe.
  bool Ready() const { return nodes_.HasSynced() && features_.HasSynced() && rules_.HasSynced(); }
  bool Idle() const { return controller_.Idle() && groups_.Idle(); }

 private:
  using FeaturePtr = std::shared_ptr<const NodeFeatureRecord>;
  struct Lingering {
    FeaturePtr object;
    TimePoint until;
  };
  /// What was sent last for a node, until its cache shows another version.
  struct Sent {
    std::string version;
    std::uint64_t patch = 0;
    TimePoint at;
  };

  void Listen();
  void OnFeature(const kube::Change<NodeFeatureRecord>& change);
  void Later(std::string_view node, Duration delay);
  void GroupsLater();
  Result<kube::Next> Reconcile(const std::string& node);
  /// A turn for each node.
  void AllNodes();
  Result<kube::Next> ReconcileGroup(const std::string& key);
  /// What is known of a node.
  struct Known {
    Features features;
    TextMap labels;
    std::size_t objects = 0;
    std::vector<std::string> problems;
  };
  /// The node's objects in the order in which they count, the last one most.
  std::vector<FeaturePtr> ObjectsOf(const std::string& node, std::vector<std::string>& problems);
  bool Counts(const NodeFeatureRecord& object) const;
  void ReportOnce(const std::string& node, const std::vector<std::string>& problems);
  Result<Known> KnownOf(const std::string& node);
  /// Whether the node's silence has lasted: nothing tells of it any more.
  std::optional<Duration> StillAbsent(const std::string& node);
  bool WasJustSent(const std::string& node, const std::string& version, const NodePatch& patch);

  Executor& executor_;
  const kube::Client client_;
  const Options options_;
  Log& log_;
  Counter &updates_, &failures_, &rejected_;

  mutable Mutex mu_;
  std::shared_ptr<const NodeSettings> settings_ GUARDED_BY(mu_);
  std::map<std::string, Lingering> lingering_ GUARDED_BY(mu_);
  std::map<std::string, TimePoint> absent_since_ GUARDED_BY(mu_);
  std::map<std::string, Sent> sent_ GUARDED_BY(mu_);
  std::map<std::string, std::uint64_t> reported_ GUARDED_BY(mu_);

  /// Give a key a turn. Handlers of caches call them, which go on a little longer than the controllers.
  std::function<void(std::string_view)> add_node_, add_group_;
  kube::Cache<NodeRecord> nodes_;
  kube::Cache<NodeFeatureRecord> features_;
  kube::Cache<RuleRecord> rules_;
  kube::Cache<NamespaceRecord> namespaces_;
  kube::Cache<GroupRecord> group_cache_;
  kube::Controller controller_, groups_;
};

}  // namespace gpuop::operands::nfd
