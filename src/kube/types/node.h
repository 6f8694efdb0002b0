#pragma once

#include "kube/types/meta.h"

namespace gpuop::kube {

struct Taint {
  Interned key, value, effect;
  std::optional<WallTime> time_added;

  template <class V>
  void Visit(V& v) {
    v("key", key);
    v("value", value);
    v("effect", effect);
    v("timeAdded", time_added);
  }
  bool operator==(const Taint&) const = default;
};

struct NodeSpec {
  bool unschedulable = false;
  std::vector<Taint> taints;
  Interned provider_id;

  template <class V>
  void Visit(V& v) {
    v("unschedulable", unschedulable);
    v("taints", taints);
    v("providerID", provider_id);
  }
  bool operator==(const NodeSpec&) const = default;
};

struct NodeAddress {
  Interned type;
  std::string address;

  template <class V>
  void Visit(V& v) {
    v("type", type);
    v("address", address);
  }
  bool operator==(const NodeAddress&) const = default;
};

struct NodeInfo {
  Interned kernel_version, os_image, container_runtime_version, kubelet_version, architecture, operating_system;
  std::string boot_id;

  template <class V>
  void Visit(V& v) {
    v("kernelVersion", kernel_version);
    v("osImage", os_image);
    v("containerRuntimeVersion", container_runtime_version);
    v("kubeletVersion", kubelet_version);
    v("architecture", architecture);
    v("operatingSystem", operating_system);
    v("bootID", boot_id);
  }
  bool operator==(const NodeInfo&) const = default;
};

/// Images and volumes are left out.
struct NodeStatus {
  StringMap capacity, allocatable;
  std::vector<Condition> conditions;
  std::vector<NodeAddress> addresses;
  NodeInfo info;

  template <class V>
  void Visit(V& v) {
    v("capacity", capacity);
    v("allocatable", allocatable);
    v("conditions", conditions);
    v("addresses", addresses);
    v("nodeInfo", info);
  }
  bool operator==(const NodeStatus&) const = default;
};

/// core/v1 Node.
struct Node {
  static inline const Resource kResource{"", "v1", "nodes", "Node", false};
  ObjectMeta meta;
  NodeSpec spec;
  NodeStatus status;

  bool ready() const {
    const Condition* c = FindCondition(status.conditions, "Ready");
    return c != nullptr && c->is_true();
  }

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("spec", spec);
    v("status", status);
  }
  bool operator==(const Node&) const = default;
};

/// Whether two states of a Node differ in more than heartbeat times and resourceVersion: what a handler asks so that
/// a kubelet's sign of life wakes nobody.
bool DiffersBeyondHeartbeat(const Node& a, const Node& b);

}  // namespace gpuop::kube
