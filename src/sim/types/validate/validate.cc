#include "sim/types/validate/validate.h"

#include <map>
#include <utility>

#include "sim/types/validate/kinds.h"

namespace gpuop::sim::types {

namespace {

using Table = std::map<std::pair<std::string_view, std::string_view>, KindCheck>;

const Table& Checks() {
  static const Table& table = *new Table{
      {{"", "Pod"}, CheckPod},
      {{"", "PodTemplate"}, CheckPodTemplateObject},
      {{"", "Service"}, CheckService},
      {{"", "Endpoints"}, CheckEndpoints},
      {{"", "ConfigMap"}, CheckConfigMap},
      {{"", "Secret"}, CheckSecret},
      {{"", "Namespace"}, CheckNamespace},
      {{"", "Node"}, CheckNode},
      {{"", "PersistentVolume"}, CheckPersistentVolume},
      {{"", "PersistentVolumeClaim"}, CheckPersistentVolumeClaim},
      {{"", "LimitRange"}, CheckLimitRange},
      {{"", "ResourceQuota"}, CheckResourceQuota},
      {{"", "Event"}, CheckEvent},
      {{"apps", "Deployment"}, CheckDeployment},
      {{"apps", "DaemonSet"}, CheckDaemonSet},
      {{"apps", "StatefulSet"}, CheckStatefulSet},
      {{"apps", "ReplicaSet"}, CheckReplicaSet},
      {{"apps", "ControllerRevision"}, CheckControllerRevision},
      {{"batch", "Job"}, CheckJob},
      {{"batch", "CronJob"}, CheckCronJob},
      {{"discovery.k8s.io", "EndpointSlice"}, CheckEndpointSlice},
      {{"networking.k8s.io", "Ingress"}, CheckIngress},
      {{"networking.k8s.io", "NetworkPolicy"}, CheckNetworkPolicy},
      {{"rbac.authorization.k8s.io", "Role"}, CheckRole},
      {{"rbac.authorization.k8s.io", "ClusterRole"}, CheckClusterRole},
      {{"rbac.authorization.k8s.io", "RoleBinding"}, CheckRoleBinding},
      {{"rbac.authorization.k8s.io", "ClusterRoleBinding"}, CheckClusterRoleBinding},
      {{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"}, CheckWebhooks},
      {{"admissionregistration.k8s.io", "MutatingWebhookConfiguration"}, CheckWebhooks},
      {{"policy", "PodDisruptionBudget"}, CheckPodDisruptionBudget},
      {{"scheduling.k8s.io", "PriorityClass"}, CheckPriorityClass},
      {{"node.k8s.io", "RuntimeClass"}, CheckRuntimeClass},
      {{"storage.k8s.io", "StorageClass"}, CheckStorageClass},
      {{"coordination.k8s.io", "Lease"}, CheckLease},
      {{"autoscaling", "HorizontalPodAutoscaler"}, CheckAutoscaler},
  };
  return table;
}

}  // namespace

std::vector<FieldError> ValidateObject(const ValidatedKind& kind, const Object& object, const Object* old) {
  Findings out;
  if (kind.subresource == "status" && kind.group.empty() && kind.kind == "Node") CheckNodeStatus(out, object, old);
  if (!kind.subresource.empty()) return std::move(out.errors);
  const auto it = Checks().find(std::pair(kind.group, kind.kind));
  if (it == Checks().end()) return {};
  it->second(out, object, old);
  return std::move(out.errors);
}

const Object& SpecOf(const Object& object) {
  static const Object& none = *new Object;
  const Object* spec = ObjectAt(object, "spec");
  return spec == nullptr ? none : *spec;
}

}  // namespace gpuop::sim::types
