#pragma once
// The two small loops: GPUClusters are answered, and the operator's namespace gets its labels.

#include "kube/controller.h"
#include "kube/events.h"
#include "operator/status_writer.h"
#include "operator/world.h"

namespace gpuop::op {

/// GPUs by Dynamic Resource Allocation are not offered yet: says so in the GPUCluster's status.
class ClusterReconciler {
 public:
  ClusterReconciler(Executor& executor, World& world, StatusWriter& statuses, kube::EventRecorder& events)
      : executor_(executor), world_(world), statuses_(statuses), events_(events) {}

  Result<kube::Next> Turn(const std::string& name);

 private:
  Executor& executor_;
  World& world_;
  StatusWriter& statuses_;
  kube::EventRecorder& events_;
};

/// Pod-security labels (spec.psa) and OpenShift's monitoring label; what is ours goes with the policy.
class NamespaceReconciler {
 public:
  NamespaceReconciler(World& world, const kube::Client& client, Log& log) : world_(world), client_(client), log_(log) {}

  Result<kube::Next> Turn();
  /// The body of the patch that would be sent; nullopt when nothing would.
  std::optional<boost::json::object> Preview();

 private:
  World& world_;
  const kube::Client client_;
  Log& log_;
};

}  // namespace gpuop::op
