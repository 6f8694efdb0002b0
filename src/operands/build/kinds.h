#pragma once
// The kinds that we create, as far as we write them, and their way into JSON.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/field.h"
#include "operands/build/meta.h"
#include "operands/build/pod.h"

namespace gpuop::operands {

struct PodTemplate {
  Meta meta = {};
  PodSpec spec = {};

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("spec", spec);
  }
};

struct Selector {
  StringMap match_labels = {};

  template <class V>
  void Visit(V& v) {
    v("matchLabels", match_labels);
  }
};

struct RollingUpdate {
  std::optional<data::IntOrString> max_unavailable = {};

  template <class V>
  void Visit(V& v) {
    v("maxUnavailable", max_unavailable);
  }
};

struct UpdateStrategy {
  std::string type = {};
  std::optional<RollingUpdate> rolling = {};

  template <class V>
  void Visit(V& v) {
    v("type", type);
    v("rollingUpdate", rolling);
  }
};

/// apps/v1 DaemonSet.
struct DaemonSet {
  Meta meta = {};
  Selector selector = {};
  PodTemplate pod = {};
  UpdateStrategy strategy = {};
};

/// apps/v1 Deployment.
struct Deployment {
  Meta meta = {};
  std::int32_t replicas = 1;
  Selector selector = {};
  PodTemplate pod = {};
};

/// core/v1 ServiceAccount.
struct ServiceAccount {
  Meta meta = {};
};

/// core/v1 ConfigMap.
struct ConfigMap {
  Meta meta = {};
  StringMap data = {};
};

/// rbac.authorization.k8s.io/v1 PolicyRule.
struct Rule {
  std::vector<std::string> groups = {}, resources = {}, verbs = {}, names = {};

  template <class V>
  void Visit(V& v) {
    v("apiGroups", groups);
    v("resources", resources);
    v("resourceNames", names);
    v("verbs", verbs);
  }
};

/// Role, or ClusterRole when `meta.ns` is empty.
struct Role {
  Meta meta = {};
  std::vector<Rule> rules = {};
};

/// RoleBinding or, when `meta.ns` is empty, ClusterRoleBinding of the role of the same name to one service account.
struct Binding {
  Meta meta = {};
  std::string account = {}, account_ns = {};
};

struct ServicePort {
  std::string name = {};
  std::int32_t port = 0;
  std::string protocol = "TCP";

  template <class V>
  void Visit(V& v) {
    std::int32_t target = port;
    v("name", name);
    v("port", port);
    v("targetPort", target);
    v("protocol", protocol);
  }
};

/// core/v1 Service.
struct Service {
  Meta meta = {};
  std::string type = "ClusterIP";
  StringMap selector = {};
  std::vector<ServicePort> ports = {};
  std::string internal_traffic = {};
};

/// node.k8s.io/v1 RuntimeClass.
struct RuntimeClass {
  Meta meta = {};
  std::string handler = {};
};

/// monitoring.coreos.com/v1 Endpoint.
struct Endpoint {
  std::string port = {}, path = {}, interval = {}, scrape_timeout = {};
  std::optional<bool> honor_labels = {};
  data::Json relabelings = {};

  template <class V>
  void Visit(V& v) {
    v("port", port);
    v("path", path);
    v("interval", interval);
    v("scrapeTimeout", scrape_timeout);
    v("honorLabels", honor_labels);
    v("relabelings", relabelings);
  }
};

/// monitoring.coreos.com/v1 ServiceMonitor of the services in its namespace whose label `app` is its name.
struct ServiceMonitor {
  Meta meta = {};
  std::string job_label = {}, app = {};
  Endpoint endpoint = {};
};

/// One rule of a group: an alert with labels and annotations, or a recorded series.
struct PrometheusRuleItem {
  std::string alert = {}, record = {}, expr = {}, duration = {};
  StringMap labels = {}, annotations = {};

  template <class V>
  void Visit(V& v) {
    v("alert", alert);
    v("record", record);
    v("expr", expr);
    v("for", duration);
    v("labels", labels);
    v("annotations", annotations);
  }
};

/// monitoring.coreos.com/v1 PrometheusRule of one group.
struct PrometheusRule {
  Meta meta = {};
  std::string group = {};
  std::vector<PrometheusRuleItem> rules = {};
};

/// security.openshift.io/v1 SecurityContextConstraints for one service account, privileged in all.
struct SecurityConstraints {
  Meta meta = {};
  std::string account = {}, account_ns = {};
  bool host_network = false, host_pid = false, host_ipc = false, host_ports = false;
};

Object ToObject(const DaemonSet& in);
Object ToObject(const Deployment& in);
Object ToObject(const ServiceAccount& in);
Object ToObject(const ConfigMap& in);
Object ToObject(const Role& in);
Object ToObject(const Binding& in);
Object ToObject(const Service& in);
Object ToObject(const RuntimeClass& in);
Object ToObject(const ServiceMonitor& in);
Object ToObject(const PrometheusRule& in);
Object ToObject(const SecurityConstraints& in);

}  // namespace gpuop::operands
