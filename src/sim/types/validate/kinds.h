#pragma once

#include "sim/types/defaults/fill.h"
#include "sim/types/validate/findings.h"

namespace gpuop::sim::types {

/// A kind's rules. `old` is null for a create.
using KindCheck = void (*)(Findings& out, const Object& object, const Object* old);

void CheckPod(Findings& out, const Object& object, const Object* old);
void CheckPodTemplateObject(Findings& out, const Object& object, const Object* old);
void CheckDeployment(Findings& out, const Object& object, const Object* old);
void CheckDaemonSet(Findings& out, const Object& object, const Object* old);
void CheckStatefulSet(Findings& out, const Object& object, const Object* old);
void CheckReplicaSet(Findings& out, const Object& object, const Object* old);
void CheckControllerRevision(Findings& out, const Object& object, const Object* old);
void CheckJob(Findings& out, const Object& object, const Object* old);
void CheckCronJob(Findings& out, const Object& object, const Object* old);

void CheckService(Findings& out, const Object& object, const Object* old);
void CheckEndpoints(Findings& out, const Object& object, const Object* old);
void CheckEndpointSlice(Findings& out, const Object& object, const Object* old);
void CheckIngress(Findings& out, const Object& object, const Object* old);
void CheckNetworkPolicy(Findings& out, const Object& object, const Object* old);

void CheckConfigMap(Findings& out, const Object& object, const Object* old);
void CheckSecret(Findings& out, const Object& object, const Object* old);

void CheckRole(Findings& out, const Object& object, const Object* old);
void CheckClusterRole(Findings& out, const Object& object, const Object* old);
void CheckRoleBinding(Findings& out, const Object& object, const Object* old);
void CheckClusterRoleBinding(Findings& out, const Object& object, const Object* old);
void CheckWebhooks(Findings& out, const Object& object, const Object* old);

void CheckNamespace(Findings& out, const Object& object, const Object* old);
void CheckNode(Findings& out, const Object& object, const Object* old);
void CheckNodeStatus(Findings& out, const Object& object, const Object* old);
void CheckPersistentVolume(Findings& out, const Object& object, const Object* old);
void CheckPersistentVolumeClaim(Findings& out, const Object& object, const Object* old);
void CheckLimitRange(Findings& out, const Object& object, const Object* old);
void CheckResourceQuota(Findings& out, const Object& object, const Object* old);
void CheckEvent(Findings& out, const Object& object, const Object* old);

void CheckPodDisruptionBudget(Findings& out, const Object& object, const Object* old);
void CheckPriorityClass(Findings& out, const Object& object, const Object* old);
void CheckRuntimeClass(Findings& out, const Object& object, const Object* old);
void CheckStorageClass(Findings& out, const Object& object, const Object* old);
void CheckLease(Findings& out, const Object& object, const Object* old);
void CheckAutoscaler(Findings& out, const Object& object, const Object* old);

/// The member as an object; an empty one when it is absent.
const Object& SpecOf(const Object& object);

}  // namespace gpuop::sim::types
