#pragma once

#include "kube/controller.h"
#include "sim/controllers/event_writer.h"
#include "sim/controllers/shared_caches.h"

namespace gpuop::sim {

/// Watches over nodes: one that falls silent becomes Unknown and is tainted; taints follow conditions and cordons; Pods
/// that do not tolerate a NoExecute taint are evicted in their time; Pods of nodes that are gone are removed.
class NodeLifecycle {
 public:
  NodeLifecycle(ControllerParts parts, SharedCaches& caches, EventWriter& events);
  void Start() { controller_.Start(); }

  /// A Pod keeps its place for so long after its node is gone.
  static constexpr Duration kQuarantine = std::chrono::seconds(40);

 private:
  void Watch();
  Result<kube::Next> Reconcile(const std::string& name);
  Result<kube::Next> Tend(const kube::Node& node);
  /// How long the node has been silent by its lease as it is now: what the watch has told may be late when the
  /// executor is.
  Result<Duration> AskLease(const std::string& node, Duration otherwise);
  Result<kube::Next> CleanUp(const std::string& name);
  Result<> MarkPodsNotReady(const kube::Node& node);
  Result<> WriteTaints(const kube::Node& node, const std::vector<kube::Taint>& taints);
  Result<std::optional<WallTime>> EvictPods(const kube::Node& node, const std::vector<kube::Taint>& taints);
  Result<> Disrupt(const kube::Pod& pod, std::string_view reason, std::string_view message, bool fail);
  Result<> Delete(const kube::Pod& pod, std::optional<std::int64_t> grace);

  ControllerParts parts_;
  SharedCaches& caches_;
  EventWriter& events_;
  std::map<std::string, TimePoint> heard_;  ///< by node
  std::map<std::string, TimePoint> gone_;   ///< nodes that are no longer there
  kube::Controller controller_;
};

}  // namespace gpuop::sim
