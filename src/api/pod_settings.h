#pragma once
// Settings of Pods that the API takes over from core/v1 as they are.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/field.h"

namespace gpuop::api {

/// core/v1 Toleration.
struct Toleration {
  std::string key, op, value, effect;
  std::optional<std::int64_t> seconds;

  template <class V>
  void Visit(V& v) {
    v("key", key, {.description = "Key of the taints that are tolerated; empty, with operator Exists, means all."});
    v("operator", op, {.description = "Equal (the default) compares the value too, Exists only the key."});
    v("value", value, {.description = "Value that the taint must have when the operator is Equal."});
    v("effect", effect, {.description = "NoSchedule, PreferNoSchedule or NoExecute; empty means every effect."});
    v("tolerationSeconds", seconds,
      {.description = "How long a NoExecute taint is tolerated, in seconds; for ever when left out."});
  }
  bool operator==(const Toleration&) const = default;
};

struct SeccompProfile {
  std::string type, localhost_profile;

  template <class V>
  void Visit(V& v) {
    v("type", type, {.description = "Localhost, RuntimeDefault or Unconfined.", .required = true});
    v("localhostProfile", localhost_profile, {.description = "Profile on the node, for type Localhost."});
  }
  bool operator==(const SeccompProfile&) const = default;
};

struct SeLinuxOptions {
  std::string level, role, type, user;

  template <class V>
  void Visit(V& v) {
    v("level", level, {.description = "SELinux level."});
    v("role", role, {.description = "SELinux role."});
    v("type", type, {.description = "SELinux type."});
    v("user", user, {.description = "SELinux user."});
  }
  bool operator==(const SeLinuxOptions&) const = default;
};

struct Sysctl {
  std::string name, value;

  template <class V>
  void Visit(V& v) {
    v("name", name, {.description = "Name of the kernel parameter.", .required = true});
    v("value", value, {.description = "Its value.", .required = true});
  }
  bool operator==(const Sysctl&) const = default;
};

struct WindowsOptions {
  std::string gmsa_credential_spec, gmsa_credential_spec_name, run_as_user_name;
  std::optional<bool> host_process;

  template <class V>
  void Visit(V& v) {
    v("gmsaCredentialSpec", gmsa_credential_spec, {.description = "Contents of a GMSA credential spec."});
    v("gmsaCredentialSpecName", gmsa_credential_spec_name, {.description = "Name of a GMSA credential spec."});
    v("hostProcess", host_process, {.description = "Whether the Pod runs as a host process."});
    v("runAsUserName", run_as_user_name, {.description = "User that the entry point runs as."});
  }
  bool operator==(const WindowsOptions&) const = default;
};

/// core/v1 PodSecurityContext.
struct PodSecurityContext {
  std::optional<SeccompProfile> app_armor, seccomp;
  std::optional<std::int64_t> fs_group, run_as_group, run_as_user;
  std::string fs_group_change_policy, selinux_change_policy, supplemental_groups_policy;
  std::optional<bool> run_as_non_root;
  std::optional<SeLinuxOptions> selinux;
  std::vector<std::int64_t> supplemental_groups;
  std::vector<Sysctl> sysctls;
  std::optional<WindowsOptions> windows;

  template <class V>
  void Visit(V& v) {
    v("appArmorProfile", app_armor, {.description = "AppArmor profile of the Pod's containers."});
    v("fsGroup", fs_group, {.description = "Group that owns the Pod's volumes."});
    v("fsGroupChangePolicy", fs_group_change_policy,
      {.description = "When ownership of volumes is changed: OnRootMismatch or Always."});
    v("runAsGroup", run_as_group, {.description = "Group id of the containers' first process."});
    v("runAsNonRoot", run_as_non_root, {.description = "Whether containers that would run as root are refused."});
    v("runAsUser", run_as_user, {.description = "User id of the containers' first process."});
    v("seLinuxChangePolicy", selinux_change_policy,
      {.description = "How SELinux labels of volumes are changed: MountOption or Recursive."});
    v("seLinuxOptions", selinux, {.description = "SELinux context of the Pod's containers."});
    v("seccompProfile", seccomp, {.description = "Seccomp profile of the Pod's containers."});
    v("supplementalGroups", supplemental_groups, {.description = "Further groups of the containers' first process."});
    v("supplementalGroupsPolicy", supplemental_groups_policy,
      {.description = "Whether groups of the image count too: Merge or Strict."});
    v("sysctls", sysctls, {.description = "Kernel parameters of the Pod's namespaces."});
    v("windowsOptions", windows, {.description = "Settings for Windows nodes; GPU operands never run there."});
  }
  bool operator==(const PodSecurityContext&) const = default;
};

struct RollingUpdate {
  std::string max_unavailable;

  template <class V>
  void Visit(V& v) {
    v("maxUnavailable", max_unavailable,
      {.description = "How many nodes may be without the operand during an update: a number, or a percentage."});
  }
  bool operator==(const RollingUpdate&) const = default;
};

/// What holds for the DaemonSets of all operands.
struct DaemonSets {
  std::map<std::string, std::string> labels, annotations;
  std::vector<Toleration> tolerations;
  std::string priority_class_name;
  std::string update_strategy = "RollingUpdate";
  std::optional<RollingUpdate> rolling_update;
  std::optional<PodSecurityContext> pod_security_context;

  template <class V>
  void Visit(V& v) {
    v("labels", labels, {.description = "Labels that all operands' DaemonSets and Pods get besides their own."});
    v("annotations", annotations, {.description = "Annotations that all operands' DaemonSets and Pods get."});
    v("tolerations", tolerations,
      {.description = "Taints that the operands' Pods tolerate; replaces the built-in toleration of nvidia.com/gpu."});
    v("priorityClassName", priority_class_name,
      {.description = "Priority class of the operands' Pods; system-node-critical when left out."});
    v("podSecurityContext", pod_security_context, {.description = "Security settings of the operands' Pods."});
    v("updateStrategy", update_strategy,
      {.description = "How changes reach running Pods: RollingUpdate replaces them one after another, OnDelete waits "
                      "until somebody deletes them. Driver Pods are always OnDelete.",
       .defaulted = true,
       .enumeration = {"RollingUpdate", "OnDelete"}});
    v("rollingUpdate", rolling_update, {.description = "Pace of a RollingUpdate."});
  }
  bool operator==(const DaemonSets&) const = default;
};

}  // namespace gpuop::api
