#include "sim/auth/default_policy.h"

namespace gpuop::sim {

// One line per role or rule; the form is described at ParsePolicy.
const char* const kDefaultControllerRoles = R"(
role system:controller:attachdetach-controller
  list,watch core persistentvolumeclaims,persistentvolumes
  get,list,watch core nodes
  patch,update core nodes/status
  list,watch core pods
  create,patch,update core,events.k8s.io events
  create,delete,get,list,watch storage.k8s.io volumeattachments
  get,list,watch storage.k8s.io csidrivers
  get,list,watch storage.k8s.io csinodes
role system:controller:certificate-controller
  delete,get,list,watch certificates.k8s.io certificatesigningrequests
  update certificates.k8s.io certificatesigningrequests/approval,certificatesigningrequests/status
  approve certificates.k8s.io signers kubernetes.io/kube-apiserver-client-kubelet
  sign certificates.k8s.io signers kubernetes.io/kube-apiserver-client,kubernetes.io/kube-apiserver-client-kubelet,kubernetes.io/kubelet-serving,kubernetes.io/legacy-unknown
  create authorization.k8s.io subjectaccessreviews
  create,patch,update core,events.k8s.io events
role system:controller:clusterrole-aggregation-controller
  escalate,get,list,patch,update,watch rbac.authorization.k8s.io clusterroles
role system:controller:cronjob-controller
  get,list,update,watch batch cronjobs
  create,delete,get,list,patch,update,watch batch jobs
  update batch cronjobs/status
  update batch cronjobs/finalizers
  delete,list,watch core pods
  create,patch,update core,events.k8s.io events
role system:controller:daemon-set-controller
  get,list,watch apps,extensions daemonsets
  update apps,extensions daemonsets/status
  update apps,extensions daemonsets/finalizers
  list,watch core nodes
  create,delete,list,patch,watch core pods
  create core pods/binding
  create,delete,get,list,patch,update,watch apps controllerrevisions
  create,patch,update core,events.k8s.io events
role system:controller:deployment-controller
  get,list,update,watch apps,extensions deployments
  update apps,extensions deployments/status
  update apps,extensions deployments/finalizers
  create,delete,get,list,patch,update,watch apps,extensions replicasets
  get,list,update,watch core pods
  create,patch,update core,events.k8s.io events
role system:controller:device-taint-eviction-controller
  delete,get,list,watch core pods
  patch,update core pods/status
  get,list,watch resource.k8s.io resourceclaims
  get,list,watch resource.k8s.io resourceslices
  get,list,watch resource.k8s.io deviceclasses
  create,patch,update core,events.k8s.io events
role system:controller:disruption-controller
  get,list,watch apps,extensions deployments
  get,list,watch apps,extensions replicasets
  get,list,watch core replicationcontrollers
  get,list,watch policy poddisruptionbudgets
  get,list,watch apps statefulsets
  update policy poddisruptionbudgets/status
  patch,update core pods/status
  get * */scale
  create,patch,update core,events.k8s.io events
role system:controller:endpoint-controller
  get,list,watch core pods,services
  create,delete,get,list,update,watch core endpoints
  create core endpoints/restricted
  create,patch,update core,events.k8s.io events
role system:controller:endpointslice-controller
  get,list,watch core nodes,pods,services
  update core services/finalizers
  create,delete,get,list,update,watch discovery.k8s.io endpointslices
  create,patch,update core,events.k8s.io events
role system:controller:endpointslicemirroring-controller
  get,list,watch core endpoints,services
  update core services/finalizers
  update core endpoints/finalizers
  create,delete,get,list,update,watch discovery.k8s.io endpointslices
  create,patch,update core,events.k8s.io events
role system:controller:ephemeral-volume-controller
  get,list,watch core pods
  update core pods/finalizers
  create,get,list,watch core persistentvolumeclaims
  create,patch,update core,events.k8s.io events
role system:controller:expand-controller
  get,list,patch,update,watch core persistentvolumes
  patch,update core persistentvolumeclaims/status
  get,list,watch core persistentvolumeclaims
  create,patch,update core,events.k8s.io events
role system:controller:generic-garbage-collector
  delete,get,list,patch,update,watch * *
  create,patch,update core,events.k8s.io events
role system:controller:horizontal-pod-autoscaler
  get,list,watch autoscaling horizontalpodautoscalers
  update autoscaling horizontalpodautoscalers/status
  get,update * */scale
  list,watch core pods
  list,watch metrics.k8s.io pods
  get,list,watch custom.metrics.k8s.io *
  get,list,watch external.metrics.k8s.io *
  create,patch,update core,events.k8s.io events
role system:controller:job-controller
  get,list,patch,update,watch batch jobs
  update batch jobs/status
  update batch jobs/finalizers
  create,delete,list,patch,watch core pods
  create,patch,update core,events.k8s.io events
role system:controller:legacy-service-account-token-cleaner
  get core configmaps kube-apiserver-legacy-service-account-token-tracking
  delete,patch core secrets
role system:controller:namespace-controller
  delete,get,list,watch core namespaces
  update core namespaces/finalize,namespaces/status
  delete,deletecollection,get,list,watch * *
role system:controller:node-controller
  delete,get,list,patch,update,watch core nodes
  patch,update core nodes/status
  patch,update core pods/status
  delete,get,list,watch core pods
  create,patch,update core,events.k8s.io events
role system:controller:persistent-volume-binder
  create,delete,get,list,update,watch core persistentvolumes
  update core persistentvolumes/status
  get,list,update,watch core persistentvolumeclaims
  update core persistentvolumeclaims/status
  create,delete,get,list,watch core pods
  get,list,watch storage.k8s.io storageclasses
  list,watch core nodes
  create,patch,update core,events.k8s.io events
  watch core events
role system:controller:pod-garbage-collector
  delete,list,watch core pods
  get,list,watch core nodes
  patch core pods/status
role system:controller:pv-protection-controller
  get,list,update,watch core persistentvolumes
  create,patch,update core,events.k8s.io events
role system:controller:pvc-protection-controller
  get,list,update,watch core persistentvolumeclaims
  update core persistentvolumeclaims/status
  get,list,watch core pods
  create,patch,update core,events.k8s.io events
role system:controller:replicaset-controller
  get,list,update,watch apps,extensions replicasets
  update apps,extensions replicasets/status
  update apps,extensions replicasets/finalizers
  create,delete,list,patch,watch core pods
  create,patch,update core,events.k8s.io events
role system:controller:replication-controller
  get,list,update,watch core replicationcontrollers
  update core replicationcontrollers/status
  update core replicationcontrollers/finalizers
  create,delete,list,patch,watch core pods
  create,patch,update core,events.k8s.io events
role system:controller:resource-claim-controller
  get,list,watch core pods
  update core pods/finalizers
  create,delete,get,list,watch resource.k8s.io resourceclaims
  patch,update resource.k8s.io resourceclaims,resourceclaims/status
  patch,update core pods/status
  create,patch,update core,events.k8s.io events
  patch,update resource.k8s.io resourceclaims/binding
role system:controller:resourcequota-controller
  list,watch * *
  update core resourcequotas/status
  create,patch,update core,events.k8s.io events
role system:controller:root-ca-cert-publisher
  create,update core configmaps
  create,patch,update core,events.k8s.io events
role system:controller:route-controller
  list,watch core nodes
  patch core nodes/status
  create,patch,update core,events.k8s.io events
role system:controller:selinux-warning-controller
  create,patch,update core,events.k8s.io events
  get,list,watch core persistentvolumes
  get,list,watch core persistentvolumeclaims
  get,list,watch core pods
  get,list,watch storage.k8s.io csidrivers
role system:controller:service-account-controller
  create core serviceaccounts
  create,patch,update core,events.k8s.io events
role system:controller:service-cidrs-controller
  get,list,patch,update,watch networking.k8s.io servicecidrs
  patch,update networking.k8s.io servicecidrs/finalizers
  patch,update networking.k8s.io servicecidrs/status
  get,list,watch networking.k8s.io ipaddresses
  create,patch,update core,events.k8s.io events
role system:controller:service-controller
  get,list,watch core services
  patch,update core services/status
  list,watch core nodes
  create,patch,update core,events.k8s.io events
role system:controller:statefulset-controller
  list,watch core pods
  get,list,watch apps statefulsets
  update apps statefulsets/status
  update apps statefulsets/finalizers
  create,delete,get,patch,update core pods
  create,delete,get,list,patch,update,watch apps controllerrevisions
  create,get,list,watch core persistentvolumeclaims
  delete,update core persistentvolumeclaims
  update core pods/finalizers
  create,patch,update core,events.k8s.io events
role system:controller:ttl-after-finished-controller
  delete,get,list,watch batch jobs
  create,patch,update core,events.k8s.io events
role system:controller:ttl-controller
  list,patch,update,watch core nodes
  create,patch,update core,events.k8s.io events
role system:controller:validatingadmissionpolicy-status-controller
  get,list,watch admissionregistration.k8s.io validatingadmissionpolicies
  get,patch,update admissionregistration.k8s.io validatingadmissionpolicies/status
  create,patch,update core,events.k8s.io events
role system:controller:volumeattributesclass-protection-controller
  get,list,watch core persistentvolumeclaims
  get,list,watch core persistentvolumes
  get,list,update,watch storage.k8s.io volumeattributesclasses
  create,patch,update core,events.k8s.io events
)";

}  // namespace gpuop::sim
