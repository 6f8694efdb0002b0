#include "sim/types/defaults/workloads.h"

#include <string>

#include "sim/types/defaults/defaults.h"
#include "sim/types/defaults/fill.h"

namespace gpuop::sim::types {
namespace json = boost::json;

namespace {

/// The Pod template below `holder`.
void Template(Object& holder) {
  Object* pod_template = ObjectAt(holder, "template");
  if (pod_template != nullptr) SetPodSpecDefaults(ObjectMade(*pod_template, "spec"), false);
}

bool RollsOrUnsaid(Object& strategy) {
  SetIfMissing(strategy, "type", "RollingUpdate");
  return TextAt(strategy, "type") == "RollingUpdate";
}

void JobSpecDefaults(Object& spec) {
  if (Missing(spec, "completions") && Missing(spec, "parallelism")) spec["completions"] = 1;
  SetIfMissing(spec, "parallelism", 1);
  const bool per_index = !Missing(spec, "backoffLimitPerIndex");
  SetIfMissing(spec, "backoffLimit", per_index ? json::value(2147483647) : json::value(6));
  SetIfMissing(spec, "completionMode", "NonIndexed");
  SetIfMissing(spec, "suspend", false);
  SetIfMissing(spec, "manualSelector", false);
  SetIfMissing(spec, "podReplacementPolicy", spec.contains("podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
  if (Object* policy = ObjectAt(spec, "podFailurePolicy"))
    EachAt(*policy, "rules", [](Object& rule) {
      EachAt(rule, "onPodConditions", [](Object& condition) { SetIfMissing(condition, "status", "True"); });
    });
}

}  // namespace

void DeploymentDefaults(Object& object) {
  Object& spec = ObjectMade(object, "spec");
  Template(spec);
  SetIfMissing(spec, "replicas", 1);
  Object& strategy = ObjectMade(spec, "strategy");
  if (RollsOrUnsaid(strategy)) {
    Object& rolling = ObjectMade(strategy, "rollingUpdate");
    SetIfMissing(rolling, "maxUnavailable", "25%");
    SetIfMissing(rolling, "maxSurge", "25%");
  }
  SetIfMissing(spec, "revisionHistoryLimit", 10);
  SetIfMissing(spec, "progressDeadlineSeconds", 600);
}

void DaemonSetDefaults(Object& object) {
  Object& spec = ObjectMade(object, "spec");
  Template(spec);
  Object& strategy = ObjectMade(spec, "updateStrategy");
  if (RollsOrUnsaid(strategy)) {
    Object& rolling = ObjectMade(strategy, "rollingUpdate");
    SetIfMissing(rolling, "maxUnavailable", 1);
    SetIfMissing(rolling, "maxSurge", 0);
  }
  SetIfMissing(spec, "revisionHistoryLimit", 10);
  SetIfMissing(ObjectMade(ObjectMade(object, "metadata"), "annotations"), "deprecated.daemonset.template.generation",
               "1");
}

void StatefulSetDefaults(Object& object) {
  Object& spec = ObjectMade(object, "spec");
  Template(spec);
  SetIfMissing(spec, "podManagementPolicy", "OrderedReady");
  Object& strategy = ObjectMade(spec, "updateStrategy");
  if (RollsOrUnsaid(strategy)) SetIfMissing(ObjectMade(strategy, "rollingUpdate"), "partition", 0);
  Object& retention = ObjectMade(spec, "persistentVolumeClaimRetentionPolicy");
  SetIfMissing(retention, "whenDeleted", "Retain");
  SetIfMissing(retention, "whenScaled", "Retain");
  SetIfMissing(spec, "replicas", 1);
  SetIfMissing(spec, "revisionHistoryLimit", 10);
  EachAt(spec, "volumeClaimTemplates", [](Object& claim) {
    SetIfMissing(claim, "apiVersion", "v1");
    SetIfMissing(claim, "kind", "PersistentVolumeClaim");
    ClaimDefaults(claim);
  });
}

void ReplicaSetDefaults(Object& object) {
  Object& spec = ObjectMade(object, "spec");
  Template(spec);
  SetIfMissing(spec, "replicas", 1);
}

void ReplicationControllerDefaults(Object& object) {
  Object& spec = ObjectMade(object, "spec");
  Template(spec);
  SetIfMissing(spec, "replicas", 1);
  Object* pod_template = ObjectAt(spec, "template");
  Object* metadata = pod_template == nullptr ? nullptr : ObjectAt(*pod_template, "metadata");
  const Object* labels = metadata == nullptr ? nullptr : ObjectAt(*metadata, "labels");
  if (labels == nullptr) return;
  const Object copy = *labels;
  if (!spec.contains("selector") || spec["selector"].is_null()) spec["selector"] = copy;
  Object& own = ObjectMade(object, "metadata");
  if (!own.contains("labels")) own["labels"] = copy;
}

void JobDefaults(Object& object) {
  Object& spec = ObjectMade(object, "spec");
  Template(spec);
  JobSpecDefaults(spec);
  const Object* made = ObjectAt(ObjectMade(spec, "template"), "metadata");
  const Object* labels = made == nullptr ? nullptr : ObjectAt(*made, "labels");
  if (labels != nullptr && !labels->empty()) SetIfMissing(ObjectMade(object, "metadata"), "labels", Object(*labels));
}

void CronJobDefaults(Object& object) {
  Object& spec = ObjectMade(object, "spec");
  SetIfMissing(spec, "concurrencyPolicy", "Allow");
  SetIfMissing(spec, "suspend", false);
  SetIfMissing(spec, "successfulJobsHistoryLimit", 3);
  SetIfMissing(spec, "failedJobsHistoryLimit", 1);
  if (Object* job = ObjectAt(spec, "jobTemplate")) Template(ObjectMade(*job, "spec"));
}

void PodTemplateDefaults(Object& object) { Template(object); }

void ClaimDefaults(Object& object) {
  SetIfMissing(ObjectMade(object, "spec"), "volumeMode", "Filesystem");
  SetIfMissing(ObjectMade(object, "status"), "phase", "Pending");
}

}  // namespace gpuop::sim::types
