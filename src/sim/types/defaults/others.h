#pragma once

#include <boost/json/object.hpp>

namespace gpuop::sim::types {

// Defaults of kinds without Pods, each given the whole object.
void ServiceDefaults(boost::json::object& object);
void EndpointsDefaults(boost::json::object& object);
void EndpointSliceDefaults(boost::json::object& object);
void SecretDefaults(boost::json::object& object);
void NamespaceDefaults(boost::json::object& object);
void NodeDefaults(boost::json::object& object);
void PersistentVolumeDefaults(boost::json::object& object);
void LimitRangeDefaults(boost::json::object& object);
void PriorityClassDefaults(boost::json::object& object);
void StorageClassDefaults(boost::json::object& object);
void CsiDriverDefaults(boost::json::object& object);
void BindingDefaults(boost::json::object& object);
void WebhookDefaults(boost::json::object& object);
void MutatingWebhookDefaults(boost::json::object& object);
void AdmissionPolicyDefaults(boost::json::object& object);
void AdmissionPolicyBindingDefaults(boost::json::object& object);
void ApiServiceDefaults(boost::json::object& object);
void CrdDefaults(boost::json::object& object);
void NetworkPolicyDefaults(boost::json::object& object);
void IngressClassDefaults(boost::json::object& object);
void AutoscalerDefaults(boost::json::object& object);
void ResourceClaimDefaults(boost::json::object& object);
void ResourceClaimTemplateDefaults(boost::json::object& object);

}  // namespace gpuop::sim::types
