#pragma once
// core/v1 containers as we write them: environment, probes, security, mounts.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operands/build/meta.h"

namespace gpuop::operands {

struct FieldRef {
  std::string path = {};

  template <class V>
  void Visit(V& v) {
    v("fieldPath", path);
  }
  bool operator==(const FieldRef&) const = default;
};

struct EnvSource {
  std::optional<FieldRef> field = {};

  template <class V>
  void Visit(V& v) {
    v("fieldRef", field);
  }
  bool operator==(const EnvSource&) const = default;
};

/// One variable: a value, or where it comes from.
struct EnvVar {
  std::string name = {}, value = {};
  std::optional<EnvSource> from = {};

  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("value", value);
    v("valueFrom", from);
  }
  bool operator==(const EnvVar&) const = default;
};

/// A container's environment, in order. A name stands once: setting it again replaces the value where it stands.
class Env {
 public:
  Env() = default;
  Env(std::initializer_list<EnvVar> vars) {
    for (const EnvVar& var : vars) Set(var);
  }

  void Set(const EnvVar& var);
  void Set(std::string name, std::string value) { Set({.name = std::move(name), .value = std::move(value)}); }
  void Set(const std::vector<EnvVar>& vars) {
    for (const EnvVar& var : vars) Set(var);
  }
  /// The value of a variable that has one, or "".
  std::string_view Get(std::string_view name) const;
  bool contains(std::string_view name) const;
  const std::vector<EnvVar>& vars() const { return vars_; }

 private:
  std::vector<EnvVar> vars_;
};

/// A variable that holds a field of the Pod.
inline EnvVar FieldVar(std::string name, std::string path) {
  return {.name = std::move(name), .from = EnvSource{.field = FieldRef{.path = std::move(path)}}};
}
inline EnvVar NodeName() { return FieldVar("NODE_NAME", "spec.nodeName"); }

struct LocalRef {
  std::string name = {};

  template <class V>
  void Visit(V& v) {
    v("name", name);
  }
  bool operator==(const LocalRef&) const = default;
};

/// envFrom[]: every key of a Secret.
struct EnvFrom {
  LocalRef secret = {};

  template <class V>
  void Visit(V& v) {
    v("secretRef", secret);
  }
};

struct ContainerPort {
  std::string name = {};
  std::int32_t container_port = 0;
  std::string protocol = "TCP";

  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("containerPort", container_port);
    v("protocol", protocol);
  }
};

struct Resources {
  StringMap limits = {}, requests = {};

  template <class V>
  void Visit(V& v) {
    v("limits", limits);
    v("requests", requests);
  }
  bool empty() const { return limits.empty() && requests.empty(); }
};

struct ExecAction {
  std::vector<std::string> command = {};

  template <class V>
  void Visit(V& v) {
    v("command", command);
  }
};

struct HttpGet {
  std::string path = {};
  std::int32_t port = 0;

  template <class V>
  void Visit(V& v) {
    v("path", path);
    v("port", port);
  }
};

struct TcpSocket {
  std::int32_t port = 0;

  template <class V>
  void Visit(V& v) {
    v("port", port);
  }
};

/// Zeros are left to the API's defaults: delay 0, timeout 1, period 10, success 1, failure 3.
struct Probe {
  std::optional<ExecAction> exec = {};
  std::optional<HttpGet> http_get = {};
  std::optional<TcpSocket> tcp_socket = {};
  std::int32_t initial_delay = 0, timeout = 0, period = 0, success = 0, failure = 0;

  template <class V>
  void Visit(V& v) {
    v("exec", exec);
    v("httpGet", http_get);
    v("tcpSocket", tcp_socket);
    v("initialDelaySeconds", initial_delay);
    v("timeoutSeconds", timeout);
    v("periodSeconds", period);
    v("successThreshold", success);
    v("failureThreshold", failure);
  }
};

struct LifecycleHandler {
  ExecAction exec = {};

  template <class V>
  void Visit(V& v) {
    v("exec", exec);
  }
};

struct Lifecycle {
  std::optional<LifecycleHandler> pre_stop = {};

  template <class V>
  void Visit(V& v) {
    v("preStop", pre_stop);
  }
};

struct SeLinux {
  std::string level = {}, type = {};

  template <class V>
  void Visit(V& v) {
    v("level", level);
    v("type", type);
  }
};

struct Capabilities {
  std::vector<std::string> add = {}, drop = {};

  template <class V>
  void Visit(V& v) {
    v("add", add);
    v("drop", drop);
  }
};

struct SeccompProfile {
  std::string type = {};

  template <class V>
  void Visit(V& v) {
    v("type", type);
  }
};

struct SecurityContext {
  std::optional<bool> privileged = {}, allow_privilege_escalation = {}, read_only_root = {}, run_as_non_root = {};
  std::optional<std::int64_t> run_as_user = {};
  std::optional<SeLinux> se_linux = {};
  std::optional<Capabilities> capabilities = {};
  std::optional<SeccompProfile> seccomp = {};

  template <class V>
  void Visit(V& v) {
    v("privileged", privileged);
    v("allowPrivilegeEscalation", allow_privilege_escalation);
    v("readOnlyRootFilesystem", read_only_root);
    v("runAsNonRoot", run_as_non_root);
    v("runAsUser", run_as_user);
    v("seLinuxOptions", se_linux);
    v("capabilities", capabilities);
    v("seccompProfile", seccomp);
  }
};

/// How mounts made on one side are seen on the other.
inline constexpr std::string_view kHostToContainer = "HostToContainer", kBidirectional = "Bidirectional";

struct Mount {
  std::string name = {}, path = {};
  bool read_only = false;
  std::string sub_path = {}, propagation = {};

  template <class V>
  void Visit(V& v) {
    v("name", name);
    v("mountPath", path);
    v("readOnly", read_only);
    v("subPath", sub_path);
    v("mountPropagation", propagation);
  }
  bool operator==(const Mount&) const = default;
};

struct Container {
  std::string name = {}, image = {}, pull_policy = {};
  std::vector<std::string> command = {}, args = {};
  std::vector<EnvFrom> env_from = {};
  Env env = {};
  std::vector<ContainerPort> ports = {};
  Resources resources = {};
  std::optional<Probe> startup_probe = {}, liveness_probe = {}, readiness_probe = {};
  std::optional<Lifecycle> lifecycle = {};
  std::optional<SecurityContext> security = {};
  std::vector<Mount> mounts = {};

  template <class V>
  void Visit(V& v) {
    std::vector<EnvVar> vars = env.vars();
    v("name", name);
    v("image", image);
    v("imagePullPolicy", pull_policy);
    v("command", command);
    v("args", args);
    v("envFrom", env_from);
    v("env", vars);
    v("ports", ports);
    v("resources", resources);
    v("startupProbe", startup_probe);
    v("livenessProbe", liveness_probe);
    v("readinessProbe", readiness_probe);
    v("lifecycle", lifecycle);
    v("securityContext", security);
    v("volumeMounts", mounts);
  }
};

}  // namespace gpuop::operands
