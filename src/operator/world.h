#pragma once
// Everything that the operator knows of the cluster: caches, and nothing else. Whoever decides reads only here.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/cluster_policy.h"
#include "api/gpu_cluster.h"
#include "api/nvidia_driver.h"
#include "base/executor.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "kube/cache.h"
#include "operator/driver_pod.h"
#include "operator/node_state.h"
#include "operator/own_object.h"
#include "operator/served_crd.h"

namespace gpuop::op {

/// Kinds that exist on every cluster and that the operator writes, in the order in which they are best written:
/// what others need first.
std::span<const kube::Resource> KindsAlways();
/// Kinds that exist where somebody has defined them.
std::span<const kube::Resource> KindsMaybe();

/// The caches. Set up (the On… calls), then Start. What a definition brings (policies, drivers, monitors) is followed
/// from the moment that it is there. Reading is thread-safe.
class World {
 public:
  /// The definition that only OpenShift has.
  static constexpr std::string_view kClusterVersions = "clusterversions.config.openshift.io";

  struct Options {
    std::string ns = {};  ///< the operator's namespace
    std::uint64_t seed = 1;
    Log* log = nullptr;
    MetricRegistry* metrics = nullptr;
  };

  World(Executor& executor, const kube::Client& client, Options options);
  ~World();

  void Start();
  /// Whether all that exists is known. Decisions wait for it: an empty cache is no empty cluster.
  bool Ready() const;
  /// Calls `done` whenever Ready has become true (again, after another definition came). Before Start.
  void OnReady(std::function<void()> done) { on_ready_.push_back(std::move(done)); }
  /// Changes whenever something but nodes and driver Pods has changed that manifests rest on.
  std::uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  /// The earliest moment at which some cache last heard of its server.
  TimePoint LastHeard() const;

  const std::string& ns() const { return options_.ns; }
  /// Whether the custom resource with that name ("servicemonitors.monitoring.coreos.com") is served.
  bool Serves(std::string_view crd) const;

  /// The objects of one of the kinds above; null when the kind is not served.
  kube::Cache<OwnObject>* Objects(const kube::Resource& resource) const;
  /// All of them that are followed, in the order of the kinds.
  std::vector<std::pair<kube::Resource, kube::Cache<OwnObject>*>> AllObjects() const;
  /// Calls `handler` with the kind, and each of its changes. Before Start.
  void OnObject(const std::function<void(const kube::Resource&, const kube::Change<OwnObject>&)>& handler);

  kube::Cache<NodeState>& nodes() { return *nodes_; }
  kube::Cache<ServedCrd>& crds() { return *crds_; }
  kube::Cache<DriverPod>& driver_pods() { return *driver_pods_; }
  kube::Cache<OwnObject>& secrets() { return *secrets_; }
  kube::Cache<OwnObject>& namespaces() { return *namespaces_; }
  kube::Cache<api::ClusterPolicy>& policies() { return *policies_; }
  kube::Cache<api::NvidiaDriver>& drivers() { return *drivers_; }
  kube::Cache<api::GpuCluster>& clusters() { return *clusters_; }
  bool IsOpenShift() const { return Serves(kClusterVersions); }
  // Of OpenShift alone; empty elsewhere.
  kube::Cache<kube::AnyObject>& cluster_versions() { return *cluster_versions_; }
  kube::Cache<kube::AnyObject>& proxies() { return *proxies_; }
  kube::Cache<kube::AnyObject>& image_streams() { return *image_streams_; }

 private:
  struct Tracked {
    kube::CacheBase* cache;
    std::string crd;  ///< started when this is served; empty: at once
    std::function<void()> start;
    bool started = false;
  };
  template <class T>
  std::unique_ptr<kube::Cache<T>> Make(const kube::Resource& resource, kube::CacheOptions options, std::string crd);
  kube::CacheOptions Base(bool namespaced) const;
  void CountVersions();
  void StartServed();
  void Synced();

  Executor& executor_;
  const kube::Client client_;
  const Options options_;
  std::vector<std::function<void()>> on_ready_;

  std::atomic<std::uint64_t> version_ = 0;
  mutable Mutex mu_;
  std::vector<Tracked> tracked_ GUARDED_BY(mu_);
  bool ready_ GUARDED_BY(mu_) = false;
  bool ending_ GUARDED_BY(mu_) = false;

  std::map<kube::Resource, std::unique_ptr<kube::Cache<OwnObject>>> objects_;
  std::unique_ptr<kube::Cache<NodeState>> nodes_;
  std::unique_ptr<kube::Cache<DriverPod>> driver_pods_;
  std::unique_ptr<kube::Cache<OwnObject>> secrets_, namespaces_;
  std::unique_ptr<kube::Cache<api::ClusterPolicy>> policies_;
  std::unique_ptr<kube::Cache<api::NvidiaDriver>> drivers_;
  std::unique_ptr<kube::Cache<api::GpuCluster>> clusters_;
  std::unique_ptr<kube::Cache<kube::AnyObject>> cluster_versions_, proxies_, image_streams_;
  std::unique_ptr<kube::Cache<ServedCrd>> crds_;  // last: its handler starts the others
};

}  // namespace gpuop::op
