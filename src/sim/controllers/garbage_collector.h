#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kube/cache_feed.h"
#include "kube/controller.h"
#include "sim/controllers/garbage_graph.h"
#include "sim/controllers/shared_caches.h"

namespace gpuop::sim {

/// The resources whose objects can be listed, watched and deleted, one version each.
using ResourceList = std::function<std::vector<kube::Resource>()>;

/// Deletes what nobody owns any more, and lets owners wait for what they own. Watches every resource there is.
class GarbageCollector {
 public:
  GarbageCollector(ControllerParts parts, ResourceList resources);
  ~GarbageCollector();

  void Start();
  /// Looks again, by a task, which resources there are: definitions come and go. Once for all calls until then.
  void RefreshSoon();

 private:
  class Monitor;

  void Refresh();
  void Seen(const std::shared_ptr<const kube::Resource>& resource, const kube::ObjectMeta& meta);
  void Gone(const Interned& uid);
  void LookAt(const std::vector<Interned>& uids);
  Result<GarbageAction> Plan(const std::string& uid);
  Result<kube::Next> Reconcile(const std::string& uid);
  Result<> Act(const GarbageNode& node, const GarbageAction& action);
  Result<> Delete(const GarbageNode& node, kube::Propagation propagation);
  /// Takes the owners in `uids` out of an object.
  Result<> DropOwners(const GarbageNode& node, const std::vector<Interned>& uids);
  Result<> DropFinalizer(const GarbageNode& node, std::string_view finalizer);
  Result<> Unblock(const GarbageNode& node, const Interned& owner);
  Result<bool> OwnerExists(const GarbageNode& item, const GarbageOwner& owner);

  ControllerParts parts_;
  ResourceList resources_;
  GarbageGraph graph_;
  kube::Controller controller_;
  bool refresh_soon_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
  std::map<kube::Resource, std::unique_ptr<Monitor>> monitors_;  // last: nothing calls in once they are gone
};

}  // namespace gpuop::sim
