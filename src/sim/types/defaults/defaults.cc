#include "sim/types/defaults/defaults.h"

#include <map>
#include <utility>

#include "sim/types/defaults/fill.h"
#include "sim/types/defaults/others.h"
#include "sim/types/defaults/workloads.h"

namespace gpuop::sim::types {

namespace {

using Step = void (*)(Object&);
using Table = std::map<std::pair<std::string_view, std::string_view>, Step>;

void PodDefaults(Object& object) { SetPodSpecDefaults(ObjectMade(object, "spec"), true); }

const Table& Defaults() {
  static const Table& table = *new Table{
      {{"", "Pod"}, PodDefaults},
      {{"", "PodTemplate"}, PodTemplateDefaults},
      {{"", "ReplicationController"}, ReplicationControllerDefaults},
      {{"", "Service"}, ServiceDefaults},
      {{"", "Endpoints"}, EndpointsDefaults},
      {{"", "Secret"}, SecretDefaults},
      {{"", "Namespace"}, NamespaceDefaults},
      {{"", "Node"}, NodeDefaults},
      {{"", "PersistentVolume"}, PersistentVolumeDefaults},
      {{"", "PersistentVolumeClaim"}, ClaimDefaults},
      {{"", "LimitRange"}, LimitRangeDefaults},
      {{"apps", "Deployment"}, DeploymentDefaults},
      {{"apps", "DaemonSet"}, DaemonSetDefaults},
      {{"apps", "StatefulSet"}, StatefulSetDefaults},
      {{"apps", "ReplicaSet"}, ReplicaSetDefaults},
      {{"batch", "Job"}, JobDefaults},
      {{"batch", "CronJob"}, CronJobDefaults},
      {{"discovery.k8s.io", "EndpointSlice"}, EndpointSliceDefaults},
      {{"scheduling.k8s.io", "PriorityClass"}, PriorityClassDefaults},
      {{"storage.k8s.io", "StorageClass"}, StorageClassDefaults},
      {{"storage.k8s.io", "CSIDriver"}, CsiDriverDefaults},
      {{"rbac.authorization.k8s.io", "RoleBinding"}, BindingDefaults},
      {{"rbac.authorization.k8s.io", "ClusterRoleBinding"}, BindingDefaults},
      {{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"}, WebhookDefaults},
      {{"admissionregistration.k8s.io", "MutatingWebhookConfiguration"}, MutatingWebhookDefaults},
      {{"admissionregistration.k8s.io", "ValidatingAdmissionPolicy"}, AdmissionPolicyDefaults},
      {{"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"}, AdmissionPolicyBindingDefaults},
      {{"apiregistration.k8s.io", "APIService"}, ApiServiceDefaults},
      {{"apiextensions.k8s.io", "CustomResourceDefinition"}, CrdDefaults},
      {{"networking.k8s.io", "NetworkPolicy"}, NetworkPolicyDefaults},
      {{"networking.k8s.io", "IngressClass"}, IngressClassDefaults},
      {{"autoscaling", "HorizontalPodAutoscaler"}, AutoscalerDefaults},
      {{"resource.k8s.io", "ResourceClaim"}, ResourceClaimDefaults},
      {{"resource.k8s.io", "ResourceClaimTemplate"}, ResourceClaimTemplateDefaults},
  };
  return table;
}

}  // namespace

void SetDefaults(std::string_view group, std::string_view kind, Object& object) {
  const auto it = Defaults().find(std::pair(group, kind));
  if (it != Defaults().end()) it->second(object);
}

}  // namespace gpuop::sim::types
