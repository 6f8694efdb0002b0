#pragma once
// core/v1 Pods as we write them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/field.h"
#include "operands/build/container.h"
#include "operands/build/meta.h"
#include "operands/build/volume.h"

namespace gpuop::operands {

struct Toleration {
  std::string key = {}, op = {}, value = {}, effect = {};
  std::optional<std::int64_t> seconds = {};

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

struct PodSpec {
  std::vector<Container> init_containers = {}, containers = {};
  std::vector<Volume> volumes = {};
  StringMap node_selector = {};
  data::Json affinity = {};
  std::vector<Toleration> tolerations = {};
  std::string service_account = {}, priority_class = {}, runtime_class = {}, dns_policy = {};
  std::vector<LocalRef> pull_secrets = {};
  bool host_network = false, host_pid = false, host_ipc = false;
  std::optional<bool> share_processes = {}, automount_token = {};
  std::optional<std::int64_t> grace_seconds = {};
  data::Json security = {};  ///< a PodSecurityContext as the policy gives it

  template <class V>
  void Visit(V& v) {
    v("initContainers", init_containers);
    v("containers", containers);
    v("volumes", volumes);
    v("nodeSelector", node_selector);
    v("affinity", affinity);
    v("tolerations", tolerations);
    v("serviceAccountName", service_account);
    v("priorityClassName", priority_class);
    v("runtimeClassName", runtime_class);
    v("dnsPolicy", dns_policy);
    v("imagePullSecrets", pull_secrets);
    v("hostNetwork", host_network);
    v("hostPID", host_pid);
    v("hostIPC", host_ipc);
    v("shareProcessNamespace", share_processes);
    v("automountServiceAccountToken", automount_token);
    v("terminationGracePeriodSeconds", grace_seconds);
    v("securityContext", security);
  }

  /// Adds a volume unless one of that name is there.
  void AddVolume(Volume volume);
  Volume* FindVolume(std::string_view name);
};

}  // namespace gpuop::operands
