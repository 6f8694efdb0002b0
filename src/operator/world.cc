#include "operator/world.h"

#include <algorithm>
#include <array>

#include "operands/build/rbac_kinds.h"

namespace gpuop::op {
namespace {

constexpr const char* kMonitoring = "monitoring.coreos.com";

}  // namespace

std::span<const kube::Resource> KindsAlways() {
  static const std::array kKinds = {
      kube::Resource{"", "v1", "serviceaccounts", "ServiceAccount", true},
      kube::Resource{"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", false},
      kube::Resource{"", "v1", "configmaps", "ConfigMap", true},
      operands::RoleKind(false),
      operands::RoleKind(true),
      operands::BindingKind(false),
      operands::BindingKind(true),
      kube::Resource{"", "v1", "services", "Service", true},
      kube::Resource{"apps", "v1", "daemonsets", "DaemonSet", true},
  };
  return kKinds;
}

std::span<const kube::Resource> KindsMaybe() {
  static const std::array kKinds = {
      kube::Resource{"security.openshift.io", "v1", "securitycontextconstraints", "SecurityContextConstraints", false},
      kube::Resource{kMonitoring, "v1", "servicemonitors", "ServiceMonitor", true},
      kube::Resource{kMonitoring, "v1", "prometheusrules", "PrometheusRule", true},
  };
  return kKinds;
}

kube::CacheOptions World::Base(bool namespaced) const {
  kube::CacheOptions out;
  if (namespaced) out.ns = options_.ns;
  out.seed = options_.seed;
  out.log = options_.log;
  out.metrics = options_.metrics;
  return out;
}

template <class T>
std::unique_ptr<kube::Cache<T>> World::Make(const kube::Resource& resource, kube::CacheOptions options,
                                            std::string crd) {
  auto cache = std::make_unique<kube::Cache<T>>(executor_, client_, resource, std::move(options));
  Lock l(mu_);
  tracked_.push_back({cache.get(), std::move(crd), [c = cache.get()] { c->Start(); }, false});
  return cache;
}

World::World(Executor& executor, const kube::Client& client, Options options)
    : executor_(executor), client_(client), options_(std::move(options)) {
  for (const kube::Resource& r : KindsAlways()) objects_[r] = Make<OwnObject>(r, Base(r.namespaced), {});
  for (const kube::Resource& r : KindsMaybe()) objects_[r] = Make<OwnObject>(r, Base(r.namespaced), r.GroupPlural());
  secrets_ = Make<OwnObject>({"", "v1", "secrets", "Secret", true}, Base(true), {});
  kube::CacheOptions own_namespace = Base(false);
  own_namespace.field_selector = "metadata.name=" + options_.ns;
  namespaces_ = Make<OwnObject>({"", "v1", "namespaces", "Namespace", false}, std::move(own_namespace), {});
  nodes_ = Make<NodeState>(NodeState::kResource, Base(false), {});
  kube::CacheOptions driver_pods = Base(true);
  driver_pods.label_selector = "app.kubernetes.io/component=nvidia-driver";
  driver_pods_ = Make<DriverPod>(DriverPod::kResource, std::move(driver_pods), {});
  const auto custom = [](const kube::Resource& r) { return r.GroupPlural(); };
  policies_ =
      Make<api::ClusterPolicy>(api::ClusterPolicy::kResource, Base(false), custom(api::ClusterPolicy::kResource));
  drivers_ = Make<api::NvidiaDriver>(api::NvidiaDriver::kResource, Base(false), custom(api::NvidiaDriver::kResource));
  clusters_ = Make<api::GpuCluster>(api::GpuCluster::kResource, Base(false), custom(api::GpuCluster::kResource));
  const std::string openshift(kClusterVersions);
  cluster_versions_ = Make<kube::AnyObject>({"config.openshift.io", "v1", "clusterversions", "ClusterVersion", false},
                                            Base(false), openshift);
  proxies_ = Make<kube::AnyObject>({"config.openshift.io", "v1", "proxies", "Proxy", false}, Base(false), openshift);
  kube::CacheOptions toolkit = Base(false);
  toolkit.ns = "openshift";
  toolkit.field_selector = "metadata.name=driver-toolkit";
  image_streams_ = Make<kube::AnyObject>({"image.openshift.io", "v1", "imagestreams", "ImageStream", true},
                                         std::move(toolkit), openshift);
  crds_ = Make<ServedCrd>(ServedCrd::kResource, Base(false), {});
  crds_->OnChange([this](const kube::Change<ServedCrd>&) { StartServed(); });
  CountVersions();
}

/// Which changes make manifests worth rendering again.
void World::CountVersions() {
  const auto count = [this](const auto&) { version_.fetch_add(1, std::memory_order_relaxed); };
  secrets_->OnChange([count](const kube::Change<OwnObject>& c) {
    if (!c.old || !c.now) count(c);
  });
  crds_->OnChange([count](const kube::Change<ServedCrd>& c) {
    if (!c.old || !c.now || c.old->established != c.now->established) count(c);
  });
  cluster_versions_->OnChange(count);
  proxies_->OnChange(count);
  image_streams_->OnChange(count);
  for (auto& [resource, cache] : objects_) {
    if (resource.kind == "ConfigMap")
      cache->OnChange([count](const kube::Change<OwnObject>& c) {
        if (!c.old || !c.now || c.old->keys != c.now->keys) count(c);
      });
    // The groups that the driver's and the toolkit's DaemonSets serve.
    if (resource.kind == "DaemonSet")
      cache->OnChange([count](const kube::Change<OwnObject>& c) {
        if (!c.old || !c.now || c.old->meta.labels != c.now->meta.labels) count(c);
      });
  }
}

World::~World() {
  // From here on no cache asks after the others.
  Lock l(mu_);
  ending_ = true;
}

void World::Start() {
  std::vector<std::pair<kube::CacheBase*, std::function<void()>>> now;
  {
    Lock l(mu_);
    for (Tracked& t : tracked_) {
      if (!t.crd.empty()) continue;
      t.started = true;
      now.emplace_back(t.cache, t.start);
    }
  }
  for (const auto& [cache, start] : now) {
    start();
    cache->OnSynced([this] { Synced(); });
  }
}

bool World::Serves(std::string_view crd) const {
  const auto served = crds_->Get(crd);
  return served != nullptr && served->established;
}

/// Begins to follow what has come to be served since.
void World::StartServed() {
  std::vector<std::pair<kube::CacheBase*, std::function<void()>>> now;
  {
    Lock l(mu_);
    for (Tracked& t : tracked_) {
      if (ending_ || t.started || t.crd.empty() || !Serves(t.crd)) continue;
      t.started = true;
      ready_ = false;
      now.emplace_back(t.cache, t.start);
    }
  }
  for (const auto& [cache, start] : now) {
    start();
    cache->OnSynced([this] { Synced(); });
  }
}

void World::Synced() {
  {
    Lock l(mu_);
    if (ending_) return;
    const bool all = std::ranges::all_of(tracked_, [](const Tracked& t) { return !t.started || t.cache->HasSynced(); });
    if (ready_ || !all) return;
    ready_ = true;
  }
  for (const auto& done : on_ready_) done();
}

bool World::Ready() const {
  Lock l(mu_);
  return ready_;
}

TimePoint World::LastHeard() const {
  TimePoint out = TimePoint::max();
  Lock l(mu_);
  for (const Tracked& t : tracked_)
    if (t.started) out = std::min(out, t.cache->LastHeard());
  return out;
}

kube::Cache<OwnObject>* World::Objects(const kube::Resource& resource) const {
  const auto it = objects_.find(resource);
  if (it == objects_.end()) return nullptr;
  const auto maybe = KindsMaybe();
  if (std::ranges::find(maybe, resource) != maybe.end() && !Serves(resource.GroupPlural())) return nullptr;
  return it->second.get();
}

std::vector<std::pair<kube::Resource, kube::Cache<OwnObject>*>> World::AllObjects() const {
  std::vector<std::pair<kube::Resource, kube::Cache<OwnObject>*>> out;
  for (const auto kinds : {KindsAlways(), KindsMaybe()})
    for (const kube::Resource& r : kinds)
      if (auto* cache = Objects(r)) out.emplace_back(r, cache);
  return out;
}

void World::OnObject(const std::function<void(const kube::Resource&, const kube::Change<OwnObject>&)>& handler) {
  for (auto& [resource, cache] : objects_)
    cache->OnChange([handler, r = resource](const kube::Change<OwnObject>& c) { handler(r, c); });
}

}  // namespace gpuop::op
