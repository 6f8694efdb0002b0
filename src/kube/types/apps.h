#pragma once

#include "kube/types/meta.h"

namespace gpuop::kube {

/// What a workload's template says about its Pods' identity, and the whole of it as text.
struct PodTemplate {
  StringMap labels, annotations;
  RawJson whole;  ///< the PodTemplateSpec
  bool operator==(const PodTemplate&) const = default;
};
Result<> ReadField(const boost::json::value& in, PodTemplate& out);

struct RollingUpdate {
  std::optional<IntOrString> max_unavailable, max_surge;

  template <class V>
  void Visit(V& v) {
    v("maxUnavailable", max_unavailable);
    v("maxSurge", max_surge);
  }
  bool operator==(const RollingUpdate&) const = default;
};

/// A DaemonSet's updateStrategy or a Deployment's strategy.
struct UpdateStrategy {
  Interned type;  ///< RollingUpdate, OnDelete, Recreate
  RollingUpdate rolling;

  template <class V>
  void Visit(V& v) {
    v("type", type);
    v("rollingUpdate", rolling);
  }
  bool operator==(const UpdateStrategy&) const = default;
};

struct DaemonSetSpec {
  LabelSelector selector;
  PodTemplate pod_template;
  UpdateStrategy strategy;
  std::int32_t min_ready_seconds = 0, revision_history_limit = 10;

  template <class V>
  void Visit(V& v) {
    v("selector", selector);
    v("template", pod_template);
    v("updateStrategy", strategy);
    v("minReadySeconds", min_ready_seconds);
    v("revisionHistoryLimit", revision_history_limit);
  }
  bool operator==(const DaemonSetSpec&) const = default;
};

struct DaemonSetStatus {
  std::int64_t observed_generation = 0;
  std::int32_t desired = 0, current = 0, misscheduled = 0, ready = 0, updated = 0, available = 0, unavailable = 0;
  std::optional<std::int32_t> collision_count;
  std::vector<Condition> conditions;

  template <class V>
  void Visit(V& v) {
    v("observedGeneration", observed_generation);
    v("desiredNumberScheduled", desired);
    v("currentNumberScheduled", current);
    v("numberMisscheduled", misscheduled);
    v("numberReady", ready);
    v("updatedNumberScheduled", updated);
    v("numberAvailable", available);
    v("numberUnavailable", unavailable);
    v("collisionCount", collision_count);
    v("conditions", conditions);
  }
  bool operator==(const DaemonSetStatus&) const = default;
};

/// apps/v1 DaemonSet.
struct DaemonSet {
  static inline const Resource kResource{"apps", "v1", "daemonsets", "DaemonSet", true};
  ObjectMeta meta;
  DaemonSetSpec spec;
  DaemonSetStatus status;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("spec", spec);
    v("status", status);
  }
  bool operator==(const DaemonSet&) const = default;
};

struct DeploymentSpec {
  std::int32_t replicas = 1;
  LabelSelector selector;
  PodTemplate pod_template;
  UpdateStrategy strategy;
  std::int32_t min_ready_seconds = 0, revision_history_limit = 10, progress_deadline_seconds = 600;
  bool paused = false;

  template <class V>
  void Visit(V& v) {
    v("replicas", replicas);
    v("selector", selector);
    v("template", pod_template);
    v("strategy", strategy);
    v("minReadySeconds", min_ready_seconds);
    v("revisionHistoryLimit", revision_history_limit);
    v("progressDeadlineSeconds", progress_deadline_seconds);
    v("paused", paused);
  }
  bool operator==(const DeploymentSpec&) const = default;
};

struct DeploymentStatus {
  std::int64_t observed_generation = 0;
  std::int32_t replicas = 0, updated = 0, ready = 0, available = 0, unavailable = 0, terminating = 0;
  std::optional<std::int32_t> collision_count;
  std::vector<Condition> conditions;

  template <class V>
  void Visit(V& v) {
    v("observedGeneration", observed_generation);
    v("replicas", replicas);
    v("updatedReplicas", updated);
    v("readyReplicas", ready);
    v("availableReplicas", available);
    v("unavailableReplicas", unavailable);
    v("terminatingReplicas", terminating);
    v("collisionCount", collision_count);
    v("conditions", conditions);
  }
  bool operator==(const DeploymentStatus&) const = default;
};

/// apps/v1 Deployment.
struct Deployment {
  static inline const Resource kResource{"apps", "v1", "deployments", "Deployment", true};
  ObjectMeta meta;
  DeploymentSpec spec;
  DeploymentStatus status;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("spec", spec);
    v("status", status);
  }
  bool operator==(const Deployment&) const = default;
};

struct ReplicaSetSpec {
  std::int32_t replicas = 1;
  LabelSelector selector;
  PodTemplate pod_template;
  std::int32_t min_ready_seconds = 0;

  template <class V>
  void Visit(V& v) {
    v("replicas", replicas);
    v("selector", selector);
    v("template", pod_template);
    v("minReadySeconds", min_ready_seconds);
  }
  bool operator==(const ReplicaSetSpec&) const = default;
};

struct ReplicaSetStatus {
  std::int64_t observed_generation = 0;
  std::int32_t replicas = 0, fully_labeled = 0, ready = 0, available = 0, terminating = 0;
  std::vector<Condition> conditions;

  template <class V>
  void Visit(V& v) {
    v("observedGeneration", observed_generation);
    v("replicas", replicas);
    v("fullyLabeledReplicas", fully_labeled);
    v("readyReplicas", ready);
    v("availableReplicas", available);
    v("terminatingReplicas", terminating);
    v("conditions", conditions);
  }
  bool operator==(const ReplicaSetStatus&) const = default;
};

/// apps/v1 ReplicaSet.
struct ReplicaSet {
  static inline const Resource kResource{"apps", "v1", "replicasets", "ReplicaSet", true};
  ObjectMeta meta;
  ReplicaSetSpec spec;
  ReplicaSetStatus status;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("spec", spec);
    v("status", status);
  }
  bool operator==(const ReplicaSet&) const = default;
};

/// apps/v1 ControllerRevision.
struct ControllerRevision {
  static inline const Resource kResource{"apps", "v1", "controllerrevisions", "ControllerRevision", true};
  ObjectMeta meta;
  std::int64_t revision = 0;
  RawJson data;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("revision", revision);
    v("data", data);
  }
  bool operator==(const ControllerRevision&) const = default;
};

}  // namespace gpuop::kube
