#pragma once

#include "kube/types/meta.h"

namespace gpuop::kube {

struct Toleration {
  Interned key, op, value, effect;  ///< op: "" (Equal), Equal, Exists
  std::optional<std::int64_t> seconds;

  template <class V>
  void Visit(V& v) {
    v("key", key);
    v("operator", op);
    v("value", value);
    v("effect", effect);
    v("tolerationSeconds", seconds);
  }
  bool operator==(const Toleration&) const = default;
};

struct ResourceRequirements {
  StringMap requests, limits;

  template <class V>
  void Visit(V& v) {
    v("requests", requests);
    v("limits", limits);
  }
  bool operator==(const ResourceRequirements&) const = default;
};

struct ContainerPort {
  Interned name, protocol, host_ip;
  std::int32_t container_port = 0, host_port = 0;

  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("protocol", protocol);
    v("hostIP", host_ip);
    v("containerPort", container_port);
    v("hostPort", host_port);
  }
  bool operator==(const ContainerPort&) const = default;
};

struct Container {
  Interned name, image, restart_policy;
  ResourceRequirements resources;
  std::vector<ContainerPort> ports;

  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("image", image);
    v("restartPolicy", restart_policy);
    v("resources", resources);
    v("ports", ports);
  }
  bool operator==(const Container&) const = default;
};

struct SchedulingGate {
  Interned name;

  template <class V>
  void Visit(V& v) {
    v("name", name);
  }
  bool operator==(const SchedulingGate&) const = default;
};

struct PodSpec {
  Interned node_name, scheduler_name, priority_class, service_account, restart_policy, runtime_class, hostname;
  std::vector<Container> init_containers, containers;
  StringMap node_selector, overhead;
  std::vector<Toleration> tolerations;
  std::vector<SchedulingGate> scheduling_gates;
  RawJson affinity;
  RawJson spread;  ///< topologySpreadConstraints
  Interned preemption_policy;
  bool host_network = false;
  std::int32_t priority = 0;
  std::optional<std::int64_t> grace_seconds, active_deadline_seconds;

  template <class V>
  void Visit(V& v) {
    v("nodeName", node_name);
    v("schedulerName", scheduler_name);
    v("priorityClassName", priority_class);
    v("serviceAccountName", service_account);
    v("restartPolicy", restart_policy);
    v("runtimeClassName", runtime_class);
    v("hostname", hostname);
    v("initContainers", init_containers);
    v("containers", containers);
    v("nodeSelector", node_selector);
    v("overhead", overhead);
    v("tolerations", tolerations);
    v("schedulingGates", scheduling_gates);
    v("affinity", affinity);
    v("topologySpreadConstraints", spread);
    v("preemptionPolicy", preemption_policy);
    v("hostNetwork", host_network);
    v("priority", priority);
    v("terminationGracePeriodSeconds", grace_seconds);
    v("activeDeadlineSeconds", active_deadline_seconds);
  }
  bool operator==(const PodSpec&) const = default;
};

struct ContainerStateWaiting {
  Interned reason, message;

  template <class V>
  void Visit(V& v) {
    v("reason", reason);
    v("message", message);
  }
  bool operator==(const ContainerStateWaiting&) const = default;
};

struct ContainerStateRunning {
  WallTime started{};

  template <class V>
  void Visit(V& v) {
    v("startedAt", started);
  }
  bool operator==(const ContainerStateRunning&) const = default;
};

struct ContainerStateTerminated {
  std::int32_t exit_code = 0, signal = 0;
  Interned reason, message;
  WallTime started{}, finished{};

  template <class V>
  void Visit(V& v) {
    v("exitCode", exit_code);
    v("signal", signal);
    v("reason", reason);
    v("message", message);
    v("startedAt", started);
    v("finishedAt", finished);
  }
  bool operator==(const ContainerStateTerminated&) const = default;
};

/// At most one is there.
struct ContainerState {
  std::optional<ContainerStateWaiting> waiting;
  std::optional<ContainerStateRunning> running;
  std::optional<ContainerStateTerminated> terminated;

  template <class V>
  void Visit(V& v) {
    v("waiting", waiting);
    v("running", running);
    v("terminated", terminated);
  }
  bool operator==(const ContainerState&) const = default;
};

struct ContainerStatus {
  Interned name, image;
  bool ready = false;
  std::optional<bool> started;
  std::int32_t restart_count = 0;
  ContainerState state, last_state;

  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("image", image);
    v("ready", ready);
    v("started", started);
    v("restartCount", restart_count);
    v("state", state);
    v("lastState", last_state);
  }
  bool operator==(const ContainerStatus&) const = default;
};

struct PodStatus {
  Interned phase, reason, message;
  std::vector<Condition> conditions;
  std::vector<ContainerStatus> init_containers, containers;
  std::string pod_ip;
  Interned host_ip, nominated_node;
  std::optional<WallTime> started;

  template <class V>
  void Visit(V& v) {
    v("phase", phase);
    v("reason", reason);
    v("message", message);
    v("conditions", conditions);
    v("initContainerStatuses", init_containers);
    v("containerStatuses", containers);
    v("podIP", pod_ip);
    v("hostIP", host_ip);
    v("nominatedNodeName", nominated_node);
    v("startTime", started);
  }
  bool operator==(const PodStatus&) const = default;
};

/// core/v1 Pod.
struct Pod {
  static inline const Resource kResource{"", "v1", "pods", "Pod", true};
  ObjectMeta meta;
  PodSpec spec;
  PodStatus status;

  bool ready() const {
    const Condition* c = FindCondition(status.conditions, "Ready");
    return c != nullptr && c->is_true();
  }
  /// Succeeded or Failed: it holds no resources any more.
  bool finished() const { return status.phase == "Succeeded" || status.phase == "Failed"; }

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("spec", spec);
    v("status", status);
  }
  bool operator==(const Pod&) const = default;
};

}  // namespace gpuop::kube
