#pragma once
// Kinds of the smaller API groups: leases, runtime classes, disruption budgets, priority classes, definitions.

#include "kube/types/meta.h"

namespace gpuop::kube {

struct LeaseSpec {
  std::string holder;
  std::int32_t duration_seconds = 0, transitions = 0;
  WallTime acquired{}, renewed{};

  template <class V>
  void Visit(V& v) {
    v("holderIdentity", holder);
    v("leaseDurationSeconds", duration_seconds);
    v("leaseTransitions", transitions);
    v("acquireTime", acquired);
    v("renewTime", renewed);
  }
  bool operator==(const LeaseSpec&) const = default;
};

/// coordination.k8s.io/v1 Lease.
struct Lease {
  static inline const Resource kResource{"coordination.k8s.io", "v1", "leases", "Lease", true};
  ObjectMeta meta;
  LeaseSpec spec;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("spec", spec);
  }
  bool operator==(const Lease&) const = default;
};

struct RuntimeClassScheduling {
  StringMap node_selector;

  template <class V>
  void Visit(V& v) {
    v("nodeSelector", node_selector);
  }
  bool operator==(const RuntimeClassScheduling&) const = default;
};

/// node.k8s.io/v1 RuntimeClass.
struct RuntimeClass {
  static inline const Resource kResource{"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", false};
  ObjectMeta meta;
  Interned handler;
  RuntimeClassScheduling scheduling;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("handler", handler);
    v("scheduling", scheduling);
  }
  bool operator==(const RuntimeClass&) const = default;
};

struct PodDisruptionBudgetSpec {
  std::optional<IntOrString> min_available, max_unavailable;
  /// Absent selects nothing, empty selects every Pod of the namespace.
  std::optional<LabelSelector> selector;
  Interned unhealthy_pod_eviction_policy;

  template <class V>
  void Visit(V& v) {
    v("minAvailable", min_available);
    v("maxUnavailable", max_unavailable);
    v("selector", selector);
    v("unhealthyPodEvictionPolicy", unhealthy_pod_eviction_policy);
  }
  bool operator==(const PodDisruptionBudgetSpec&) const = default;
};

struct PodDisruptionBudgetStatus {
  std::int64_t observed_generation = 0;
  std::int32_t disruptions_allowed = 0, current_healthy = 0, desired_healthy = 0, expected_pods = 0;
  StringMap disrupted_pods;
  std::vector<Condition> conditions;

  template <class V>
  void Visit(V& v) {
    v("observedGeneration", observed_generation);
    v("disruptionsAllowed", disruptions_allowed);
    v("currentHealthy", current_healthy);
    v("desiredHealthy", desired_healthy);
    v("expectedPods", expected_pods);
    v("disruptedPods", disrupted_pods);
    v("conditions", conditions);
  }
  bool operator==(const PodDisruptionBudgetStatus&) const = default;
};

/// policy/v1 PodDisruptionBudget.
struct PodDisruptionBudget {
  static inline const Resource kResource{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true};
  ObjectMeta meta;
  PodDisruptionBudgetSpec spec;
  PodDisruptionBudgetStatus status;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("spec", spec);
    v("status", status);
  }
  bool operator==(const PodDisruptionBudget&) const = default;
};

/// scheduling.k8s.io/v1 PriorityClass.
struct PriorityClass {
  static inline const Resource kResource{"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", false};
  ObjectMeta meta;
  std::int32_t value = 0;
  bool global_default = false;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("value", value);
    v("globalDefault", global_default);
  }
  bool operator==(const PriorityClass&) const = default;
};

struct DefinitionNames {
  Interned plural, kind;

  template <class V>
  void Visit(V& v) {
    v("plural", plural);
    v("kind", kind);
  }
  bool operator==(const DefinitionNames&) const = default;
};

struct DefinitionVersion {
  Interned name;
  bool served = false, storage = false;

  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("served", served);
    v("storage", storage);
  }
  bool operator==(const DefinitionVersion&) const = default;
};

struct DefinitionSpec {
  Interned group, scope;
  DefinitionNames names;
  std::vector<DefinitionVersion> versions;

  template <class V>
  void Visit(V& v) {
    v("group", group);
    v("scope", scope);
    v("names", names);
    v("versions", versions);
  }
  bool operator==(const DefinitionSpec&) const = default;
};

struct DefinitionStatus {
  std::vector<Condition> conditions;
  std::vector<Interned> stored_versions;

  template <class V>
  void Visit(V& v) {
    v("conditions", conditions);
    v("storedVersions", stored_versions);
  }
  bool operator==(const DefinitionStatus&) const = default;
};

/// apiextensions.k8s.io/v1 CustomResourceDefinition, without its schemas.
struct CustomResourceDefinition {
  static inline const Resource kResource{"apiextensions.k8s.io", "v1", "customresourcedefinitions",
                                         "CustomResourceDefinition", false};
  ObjectMeta meta;
  DefinitionSpec spec;
  DefinitionStatus status;

  bool established() const {
    const Condition* c = FindCondition(status.conditions, "Established");
    return c != nullptr && c->is_true();
  }

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("spec", spec);
    v("status", status);
  }
  bool operator==(const CustomResourceDefinition&) const = default;
};

}  // namespace gpuop::kube
