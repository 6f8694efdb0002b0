#pragma once

#include <boost/json/object.hpp>

namespace gpuop::sim::types {

// Defaults of the kinds that hold Pod templates, each given the whole object.
void DeploymentDefaults(boost::json::object& object);
void DaemonSetDefaults(boost::json::object& object);
void StatefulSetDefaults(boost::json::object& object);
void ReplicaSetDefaults(boost::json::object& object);
void ReplicationControllerDefaults(boost::json::object& object);
void JobDefaults(boost::json::object& object);
void CronJobDefaults(boost::json::object& object);
void PodTemplateDefaults(boost::json::object& object);
/// Of a PersistentVolumeClaim, alone or as a StatefulSet's template.
void ClaimDefaults(boost::json::object& object);

}  // namespace gpuop::sim::types
