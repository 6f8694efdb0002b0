#include "sim/controllers/shared_caches.h"

namespace gpuop::sim {

namespace {

kube::CacheOptions Options(const ControllerParts& parts, std::uint64_t number, std::string ns = {},
                           std::string field_selector = {}) {
  kube::CacheOptions options;
  options.ns = std::move(ns);
  options.field_selector = std::move(field_selector);
  options.seed = parts.seed * 64 + number;
  options.log = &parts.log;
  return options;
}

template <class T>
void IndexByController(kube::Cache<T>& cache) {
  cache.AddIndex(kByController, [](const T& object, const std::function<void(std::string_view)>& emit) {
    if (const auto* owner = object.meta.Controller()) emit(owner->uid);
  });
}

}  // namespace

SharedCaches::SharedCaches(const ControllerParts& p)
    : pods(p.executor, p.client, Options(p, 0)),
      nodes(p.executor, p.client, Options(p, 1)),
      daemon_sets(p.executor, p.client, Options(p, 2)),
      revisions(p.executor, p.client, Options(p, 3)),
      deployments(p.executor, p.client, Options(p, 4)),
      replica_sets(p.executor, p.client, Options(p, 5)),
      jobs(p.executor, p.client, Options(p, 6)),
      namespaces(p.executor, p.client, Options(p, 7)),
      service_accounts(p.executor, p.client, Options(p, 8)),
      root_certificates(p.executor, p.client, Options(p, 9, {}, "metadata.name=kube-root-ca.crt")),
      node_leases(p.executor, p.client, Options(p, 10, "kube-node-lease")),
      services(p.executor, p.client, Options(p, 11)) {
  IndexByController(pods);
  IndexByController(revisions);
  IndexByController(replica_sets);
  replica_sets.AddIndex(kByNamespace, [](const kube::ReplicaSet& set, const auto& emit) {
    if (set.meta.Controller() == nullptr) emit(std::string(set.meta.ns.view()) + "/orphan");
  });
  pods.AddIndex(kByNode, [](const kube::Pod& pod, const std::function<void(std::string_view)>& emit) {
    if (!pod.spec.node_name.empty()) emit(pod.spec.node_name);
  });
  pods.AddIndex(kByNamespace, [](const kube::Pod& pod, const std::function<void(std::string_view)>& emit) {
    emit(pod.meta.ns);
    if (pod.meta.Controller() == nullptr) emit(std::string(pod.meta.ns.view()) + "/orphan");
  });
}

void SharedCaches::Start() {
  pods.Start();
  nodes.Start();
  daemon_sets.Start();
  revisions.Start();
  deployments.Start();
  replica_sets.Start();
  jobs.Start();
  namespaces.Start();
  service_accounts.Start();
  root_certificates.Start();
  node_leases.Start();
  services.Start();
}

}  // namespace gpuop::sim
