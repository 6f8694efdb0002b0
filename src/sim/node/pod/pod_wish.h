#pragma once
// A Pod as far as a node carries it out: core/v1 PodSpec, field by field as the API has it.

#include <optional>
#include <string>
#include <vector>

#include "kube/types/pod.h"
#include "sim/node/pod/volume_wish.h"

namespace gpuop::sim::node {

using TextMap = std::vector<std::pair<std::string, std::string>>;

struct HostAlias {
  std::string ip;
  std::vector<std::string> names;
  template <class V>
  void Visit(V& v) {
    v("ip", ip);
    v("hostnames", names);
  }
};

struct PodWishSpec {
  std::vector<ContainerWish> init_containers, containers;
  std::vector<Volume> volumes;
  SecurityContext security;
  std::string restart_policy, runtime_class, hostname, subdomain, service_account, node_name;
  bool host_network = false, host_pid = false, host_ipc = false, shared_pid = false;
  std::int64_t grace_seconds = 30;
  std::optional<std::int64_t> active_deadline_seconds;
  std::vector<HostAlias> host_aliases;
  template <class V>
  void Visit(V& v) {
    v("initContainers", init_containers);
    v("containers", containers);
    v("volumes", volumes);
    v("securityContext", security);
    v("restartPolicy", restart_policy);
    v("runtimeClassName", runtime_class);
    v("hostname", hostname);
    v("subdomain", subdomain);
    v("serviceAccountName", service_account);
    v("nodeName", node_name);
    v("hostNetwork", host_network);
    v("hostPID", host_pid);
    v("hostIPC", host_ipc);
    v("shareProcessNamespace", shared_pid);
    v("terminationGracePeriodSeconds", grace_seconds);
    v("activeDeadlineSeconds", active_deadline_seconds);
    v("hostAliases", host_aliases);
  }
};

struct PodWish {
  kube::ObjectMeta meta;
  PodWishSpec spec;

  /// "Always" unless the Pod says otherwise.
  std::string_view RestartPolicy() const {
    return spec.restart_policy.empty() ? std::string_view("Always") : std::string_view(spec.restart_policy);
  }
  const ContainerWish* Find(std::string_view container) const;

  template <class V>
  void Visit(V& v) {
    v("metadata", meta);
    v("spec", spec);
  }
};

}  // namespace gpuop::sim::node
