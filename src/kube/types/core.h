#pragma once
// Small kinds of core/v1.

#include "kube/types/meta.h"

namespace gpuop::kube {

struct NamespaceSpec {
  std::vector<Interned> finalizers;

  template <class V>
  void Visit(V& v) {
    v("finalizers", finalizers);
  }
  bool operator==(const NamespaceSpec&) const = default;
};

struct NamespaceStatus {
  Interned phase;
  std::vector<Condition> conditions;

  template <class V>
  void Visit(V& v) {
    v("phase", phase);
    v("conditions", conditions);
  }
  bool operator==(const NamespaceStatus&) const = default;
};

/// core/v1 Namespace.
struct Namespace {
  static inline const Resource kResource{"", "v1", "namespaces", "Namespace", false};
  ObjectMeta meta;
  NamespaceSpec spec;
  NamespaceStatus status;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("spec", spec);
    v("status", status);
  }
  bool operator==(const Namespace&) const = default;
};

/// core/v1 ConfigMap.
struct ConfigMap {
  static inline const Resource kResource{"", "v1", "configmaps", "ConfigMap", true};
  ObjectMeta meta;
  std::vector<std::pair<std::string, std::string>> data;  ///< in the order they came
  StringMap binary_data;                                  ///< Base64
  bool immutable = false;

  /// The value, or null.
  const std::string* Find(std::string_view key) const {
    for (const auto& [name, value] : data)
      if (name == key) return &value;
    return nullptr;
  }

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("data", data);
    v("binaryData", binary_data);
    v("immutable", immutable);
  }
  bool operator==(const ConfigMap&) const = default;
};

/// core/v1 Secret. Its values are left Base64-encoded, as they came.
struct Secret {
  static inline const Resource kResource{"", "v1", "secrets", "Secret", true};
  ObjectMeta meta;
  Interned type;
  std::vector<std::pair<std::string, std::string>> data;
  bool immutable = false;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("type", type);
    v("data", data);
    v("immutable", immutable);
  }
  bool operator==(const Secret&) const = default;
};

/// core/v1 ServiceAccount.
struct ServiceAccount {
  static inline const Resource kResource{"", "v1", "serviceaccounts", "ServiceAccount", true};
  ObjectMeta meta;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
  }
  bool operator==(const ServiceAccount&) const = default;
};

struct ServicePort {
  Interned name, protocol, app_protocol;
  std::int32_t port = 0, node_port = 0;
  std::optional<IntOrString> target_port;

  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("protocol", protocol);
    v("appProtocol", app_protocol);
    v("port", port);
    v("nodePort", node_port);
    v("targetPort", target_port);
  }
  bool operator==(const ServicePort&) const = default;
};

struct ServiceSpec {
  Interned type, cluster_ip;
  StringMap selector;
  std::vector<ServicePort> ports;
  std::vector<Interned> ip_families;
  bool publish_not_ready = false;

  template <class V>
  void Visit(V& v) {
    v("type", type);
    v("clusterIP", cluster_ip);
    v("selector", selector);
    v("ports", ports);
    v("ipFamilies", ip_families);
    v("publishNotReadyAddresses", publish_not_ready);
  }
  bool operator==(const ServiceSpec&) const = default;
};

/// core/v1 Service.
struct Service {
  static inline const Resource kResource{"", "v1", "services", "Service", true};
  ObjectMeta meta;
  ServiceSpec spec;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("spec", spec);
  }
  bool operator==(const Service&) const = default;
};

struct EventSeries {
  std::int32_t count = 0;
  WallTime last_observed{};

  template <class V>
  void Visit(V& v) {
    v("count", count);
    v("lastObservedTime", last_observed);
  }
  bool operator==(const EventSeries&) const = default;
};

/// core/v1 Event.
struct Event {
  static inline const Resource kResource{"", "v1", "events", "Event", true};
  ObjectMeta meta;
  ObjectReference involved;
  Interned type, reason, reporting_component;
  std::string message;
  std::int32_t count = 0;
  WallTime first{}, last{};
  std::optional<EventSeries> series;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("involvedObject", involved);
    v("type", type);
    v("reason", reason);
    v("reportingComponent", reporting_component);
    v("message", message);
    v("count", count);
    v("firstTimestamp", first);
    v("lastTimestamp", last);
    v("series", series);
  }
  bool operator==(const Event&) const = default;
};

}  // namespace gpuop::kube
