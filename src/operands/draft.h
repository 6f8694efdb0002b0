#pragma once
// The parts that operands' manifests share: how a DaemonSet begins, what a component's settings do to it, and what the
// policy does to all of them (controller.md §3.5, §4.1).

#include <string>
#include <string_view>
#include <vector>

#include "api/cluster_policy.h"
#include "base/result.h"
#include "operands/build/kinds.h"
#include "operands/facts.h"

namespace gpuop::operands {

/// Where things are on the host, the policy's defaults filled in.
struct Paths {
  std::string host_root, driver_install_dir, kubelet_root;
};
Paths PathsOf(const api::HostPaths& policy);

inline constexpr const char* kDefaultDriverInstallDir = "/run/nvidia/driver";
inline constexpr const char* kValidations = "/run/nvidia/validations";

/// What tells one DaemonSet from another.
struct Identity {
  std::string name;
  /// Its ServiceAccount; "" when it is called as the DaemonSet.
  std::string account = {};
  /// Selector, and labels of its Pods; {app: name} when empty.
  StringMap labels = {};
  /// Which of the nodes' nvidia.com/gpu.deploy. labels selects it: "driver".
  std::string deploy = {};
  /// The SecurityContextConstraints that OpenShift is asked for; "" for none.
  std::string scc = {};
};
/// A DaemonSet of no containers yet, with the tolerations and priority that hold unless the policy says otherwise.
DaemonSet NewDaemonSet(const Identity& identity, const Facts& facts);

/// What a component's settings do: image pull policy, pull secrets, resources, arguments and environment of the main
/// container; the network of the Pod. `main` has its own environment already: the user's replaces it.
void ApplyComponent(const api::Container& component, PodSpec& pod, Container& main);
/// The parts of ApplyComponent.
void AddPullSecrets(const std::vector<std::string>& names, PodSpec& pod);
Resources ResourcesOf(const std::optional<api::Resources>& in);
std::vector<EnvVar> EnvOf(const std::vector<api::EnvVar>& in);

/// What the policy says for all DaemonSets: labels, annotations, tolerations, priority class, update strategy, Pod
/// security context, and where the host's root is; and that our own image's programs run as root on nodes (the image's
/// user is nobody). The last step. kInvalid names the field.
Result<Object> FinishDaemonSet(DaemonSet ds, const api::ClusterPolicySpec& policy, const Facts& facts);

/// Makes the Pod run with the policy's RuntimeClass, or, with the NRI plugin, asks it for all devices for container
/// `main`. Neither where CRI-O is set up by hooks, nor on Docker's nodes, whose default runtime is ours.
void UseGpuRuntime(DaemonSet& ds, std::string_view main, const api::ClusterPolicySpec& policy, const Facts& facts);
/// The RuntimeClass that UseGpuRuntime would set, or "".
std::string GpuRuntimeClass(const api::ClusterPolicySpec& policy, const Facts& facts);
/// Whether CRI-O is set up by hooks: CDI is off and no other engine needs RuntimeClasses.
bool CrioByHooks(const api::ClusterPolicySpec& policy, const Facts& facts);

inline SecurityContext Privileged() { return {.privileged = true}; }
inline SecurityContext PrivilegedRoot() { return {.privileged = true, .run_as_user = 0}; }
inline SecurityContext PrivilegedS0() { return {.privileged = true, .se_linux = SeLinux{.level = "s0"}}; }

/// MIG_STRATEGY and NVIDIA_MIG_MONITOR_DEVICES as the policy's strategy wants them.
void SetMigEnv(const api::ClusterPolicySpec& policy, Env& env);

/// Volumes that many Pods have.
Volume HostRoot(const Paths& paths);
Volume DriverInstallDir(const Paths& paths);
Volume Validations();
inline Mount HostRootMount() {
  return {.name = "host-root", .path = "/host", .read_only = true, .propagation = std::string(kHostToContainer)};
}
inline Mount ValidationsMount(std::string_view propagation = {}) {
  return {.name = "run-nvidia-validations", .path = kValidations, .propagation = std::string(propagation)};
}

/// One operand's service account and what it may do. Nothing is made for an empty list of rules.
struct Account {
  std::string name;
  std::vector<Rule> cluster_rules = {}, rules = {};
  /// Labels of the ServiceAccount, Role and RoleBinding.
  StringMap labels = {};
  /// Whether it asks for OpenShift's version, where there is one.
  bool reads_openshift_version = false;
};
/// ServiceAccount, Role, ClusterRole and bindings. On OpenShift the Role also allows the privileged constraints.
void AddAccount(const Account& account, const Facts& facts, std::vector<Object>& out);

/// The SecurityContextConstraints of an account; only on OpenShift.
void AddConstraints(SecurityConstraints constraints, const Facts& facts, std::vector<Object>& out);

/// A ServiceMonitor of Service `name`, where the cluster has the kind.
void AddServiceMonitor(const std::string& name, const std::string& port, const std::string& job_label,
                       const api::ServiceMonitor& settings, const Facts& facts, std::vector<Object>& out);

inline Meta Named(const std::string& name, const Facts& facts, StringMap labels = {}) {
  return {.name = name, .ns = facts.ns, .labels = std::move(labels)};
}

}  // namespace gpuop::operands
