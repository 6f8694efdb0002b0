#pragma once
// A container as far as a node carries it out: core/v1 Container, field by field as the API has it.

#include <optional>
#include <string>
#include <vector>

#include "kube/types/pod.h"

namespace gpuop::sim::node {

struct KeyRef {
  std::string name, key;
  bool optional = false;
  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("key", key);
    v("optional", optional);
  }
};

struct FieldRef {
  std::string path;
  template <class V>
  void Visit(V& v) {
    v("fieldPath", path);
  }
};

struct ResourceFieldRef {
  std::string container, resource, divisor;
  template <class V>
  void Visit(V& v) {
    v("containerName", container);
    v("resource", resource);
    v("divisor", divisor);
  }
};

struct EnvSource {
  std::optional<FieldRef> field;
  std::optional<ResourceFieldRef> resource;
  std::optional<KeyRef> config_map, secret;
  template <class V>
  void Visit(V& v) {
    v("fieldRef", field);
    v("resourceFieldRef", resource);
    v("configMapKeyRef", config_map);
    v("secretKeyRef", secret);
  }
};

struct EnvVar {
  std::string name, value;
  std::optional<EnvSource> from;
  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("value", value);
    v("valueFrom", from);
  }
};

struct EnvFrom {
  std::string prefix;
  std::optional<KeyRef> config_map, secret;
  template <class V>
  void Visit(V& v) {
    v("prefix", prefix);
    v("configMapRef", config_map);
    v("secretRef", secret);
  }
};

struct VolumeMount {
  std::string name, path, sub_path, sub_path_expr, propagation;
  bool read_only = false;
  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("mountPath", path);
    v("subPath", sub_path);
    v("subPathExpr", sub_path_expr);
    v("mountPropagation", propagation);
    v("readOnly", read_only);
  }
};

struct ExecAction {
  std::vector<std::string> command;
  template <class V>
  void Visit(V& v) {
    v("command", command);
  }
};

struct HttpHeader {
  std::string name, value;
  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("value", value);
  }
};

struct HttpGetAction {
  std::string path, host, scheme;
  kube::IntOrString port;
  std::vector<HttpHeader> headers;
  template <class V>
  void Visit(V& v) {
    v("path", path);
    v("host", host);
    v("scheme", scheme);
    v("port", port);
    v("httpHeaders", headers);
  }
};

struct TcpAction {
  std::string host;
  kube::IntOrString port;
  template <class V>
  void Visit(V& v) {
    v("host", host);
    v("port", port);
  }
};

struct GrpcAction {
  std::int32_t port = 0;
  std::string service;
  template <class V>
  void Visit(V& v) {
    v("port", port);
    v("service", service);
  }
};

struct SleepAction {
  std::int64_t seconds = 0;
  template <class V>
  void Visit(V& v) {
    v("seconds", seconds);
  }
};

/// What a probe or a lifecycle hook does: one of them.
struct Action {
  std::optional<ExecAction> exec;
  std::optional<HttpGetAction> http;
  std::optional<TcpAction> tcp;
  std::optional<GrpcAction> grpc;
  std::optional<SleepAction> sleep;
  template <class V>
  void Visit(V& v) {
    v("exec", exec);
    v("httpGet", http);
    v("tcpSocket", tcp);
    v("grpc", grpc);
    v("sleep", sleep);
  }
};

struct Probe {
  Action action;
  std::int32_t initial_delay = 0, timeout = 1, period = 10, success = 1, failure = 3;
  std::optional<std::int64_t> grace;
  template <class V>
  void Visit(V& v) {
    action.Visit(v);
    v("initialDelaySeconds", initial_delay);
    v("timeoutSeconds", timeout);
    v("periodSeconds", period);
    v("successThreshold", success);
    v("failureThreshold", failure);
    v("terminationGracePeriodSeconds", grace);
  }
};

struct Lifecycle {
  std::optional<Action> post_start, pre_stop;
  template <class V>
  void Visit(V& v) {
    v("postStart", post_start);
    v("preStop", pre_stop);
  }
};

struct Capabilities {
  std::vector<std::string> add, drop;
  template <class V>
  void Visit(V& v) {
    v("add", add);
    v("drop", drop);
  }
};

/// Of a container, or of the Pod (which has no capabilities and the like).
struct SecurityContext {
  std::optional<bool> privileged, read_only_root, escalation, non_root;
  std::optional<std::int64_t> user, group, fs_group;
  std::vector<std::int64_t> groups;
  Capabilities capabilities;
  template <class V>
  void Visit(V& v) {
    v("privileged", privileged);
    v("readOnlyRootFilesystem", read_only_root);
    v("allowPrivilegeEscalation", escalation);
    v("runAsNonRoot", non_root);
    v("runAsUser", user);
    v("runAsGroup", group);
    v("fsGroup", fs_group);
    v("supplementalGroups", groups);
    v("capabilities", capabilities);
  }
};

struct ContainerWish {
  std::string name, image, pull_policy, restart_policy, working_dir, termination_path, termination_policy;
  std::vector<std::string> command, args;
  std::vector<EnvVar> env;
  std::vector<EnvFrom> env_from;
  std::vector<VolumeMount> mounts;
  std::vector<kube::ContainerPort> ports;
  kube::ResourceRequirements resources;
  std::optional<Probe> startup, liveness, readiness;
  Lifecycle lifecycle;
  SecurityContext security;
  bool tty = false, stdin = false;
  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("image", image);
    v("imagePullPolicy", pull_policy);
    v("restartPolicy", restart_policy);
    v("workingDir", working_dir);
    v("terminationMessagePath", termination_path);
    v("terminationMessagePolicy", termination_policy);
    v("command", command);
    v("args", args);
    v("env", env);
    v("envFrom", env_from);
    v("volumeMounts", mounts);
    v("ports", ports);
    v("resources", resources);
    v("startupProbe", startup);
    v("livenessProbe", liveness);
    v("readinessProbe", readiness);
    v("lifecycle", lifecycle);
    v("securityContext", security);
    v("tty", tty);
    v("stdin", stdin);
  }
};

}  // namespace gpuop::sim::node
