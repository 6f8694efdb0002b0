#pragma once
// What the controllers watch together: one cache per kind, indexed as they ask.

#include "base/executor.h"
#include "base/log.h"
#include "kube/cache.h"
#include "kube/client.h"
#include "kube/types/apps.h"
#include "kube/types/batch.h"
#include "kube/types/cluster.h"
#include "kube/types/core.h"
#include "kube/types/node.h"
#include "kube/types/pod.h"

namespace gpuop::sim {

/// What every controller stands on. The executor runs one task at a time.
struct ControllerParts {
  Executor& executor;
  kube::Client client;
  Log& log;
  std::uint64_t seed = 1;
};

/// Handlers are added while controllers are made; Start comes after.
struct SharedCaches {
  explicit SharedCaches(const ControllerParts& parts);
  void Start();

  kube::Cache<kube::Pod> pods;
  kube::Cache<kube::Node> nodes;
  kube::Cache<kube::DaemonSet> daemon_sets;
  kube::Cache<kube::ControllerRevision> revisions;
  kube::Cache<kube::Deployment> deployments;
  kube::Cache<kube::ReplicaSet> replica_sets;
  kube::Cache<kube::Job> jobs;
  kube::Cache<kube::Namespace> namespaces;
  kube::Cache<kube::ServiceAccount> service_accounts;
  kube::Cache<kube::ConfigMap> root_certificates;  ///< only those named kube-root-ca.crt
  kube::Cache<kube::Lease> node_leases;            ///< of kube-node-lease
  kube::Cache<kube::Service> services;
};

/// Index of pods, revisions and ReplicaSets by the UID of their controller.
inline constexpr const char* kByController = "controller";
/// Index of pods by node.
inline constexpr const char* kByNode = "node";
/// Index of pods by namespace; those without a controller also as "namespace/orphan".
inline constexpr const char* kByNamespace = "namespace";

}  // namespace gpuop::sim
