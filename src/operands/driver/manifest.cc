#include "operands/driver/manifest.h"

#include <map>
#include <set>

#include "operands/driver/image.h"
#include "operands/driver/pod.h"
#include "operands/groups.h"

namespace gpuop::operands::driver {
namespace {

constexpr const char* kName = "nvidia-driver-daemonset";
constexpr const char* kAccount = "nvidia-driver";
constexpr const char* kPrecompiled = "nvidia.com/precompiled";

bool HasImage(const api::ClusterPolicySpec& policy, const Facts& facts, const NodeGroup& group) {
  if (group.os_id.empty()) return false;
  if (policy.driver.UsesPrecompiled() && group.kernel.empty()) return false;
  return HasImages(group.os_id) || !IsNvidiasImage(policy.driver, facts);
}

DaemonSet Begin(const api::ClusterPolicySpec& policy, const Facts& facts) {
  DaemonSet ds = NewDaemonSet({.name = kName, .account = kAccount, .deploy = "driver", .scc = kAccount}, facts);
  for (StringMap* labels : {&ds.meta.labels, &ds.pod.meta.labels}) {
    (*labels)["app.kubernetes.io/component"] = "nvidia-driver";
    (*labels)[kPrecompiled] = policy.driver.UsesPrecompiled() ? "true" : "false";
  }
  return ds;
}

Result<Object> Finish(DaemonSet ds, const NodeGroup& group, const api::ClusterPolicySpec& policy, const Facts& facts) {
  ASSIGN(const Settings settings, SettingsOf(policy, facts, group));
  TRY(FillPod(settings, facts, ds));
  return FinishDaemonSet(std::move(ds), policy, facts);
}

/// One DaemonSet for each OS.
Result<> RenderByOs(const api::ClusterPolicySpec& policy, const Facts& facts, std::vector<Object>& out) {
  for (const Part& part : PartsByOs(facts, [&](const NodeGroup& g) { return HasImage(policy, facts, g); })) {
    DaemonSet ds = Begin(policy, facts);
    Narrow(part, kOsLabel, ds);
    ASSIGN(Object object, Finish(std::move(ds), part.group, policy, facts));
    out.push_back(std::move(object));
  }
  return {};
}

/// One for each kernel. Kernels that differ only in architecture would have one name: it tells them apart.
Result<> RenderByKernel(const api::ClusterPolicySpec& policy, const Facts& facts, std::vector<Object>& out) {
  std::map<std::string, NodeGroup> by_kernel;
  std::map<std::string, std::set<std::string>> names;
  for (const NodeGroup& group : facts.groups) {
    if (!HasImage(policy, facts, group)) continue;
    by_kernel.emplace(group.kernel + " " + group.os_id + group.os_version, group);
    names[SanitizedKernel(group.kernel) + group.os_id + group.os_version].insert(group.kernel);
  }
  for (const auto& [key, group] : by_kernel) {
    DaemonSet ds = Begin(policy, facts);
    const std::string kernel = SanitizedKernel(group.kernel);
    ds.meta.name += "-" + kernel + "-" + group.os_id + group.os_version;
    if (names[kernel + group.os_id + group.os_version].size() > 1 && group.arch != "amd64")
      ds.meta.name += "-" + group.arch;
    ds.pod.spec.node_selector.merge(
        GroupLabels({.os_id = group.os_id, .os_version = group.os_version, .kernel = group.kernel}));
    ASSIGN(Object object, Finish(std::move(ds), group, policy, facts));
    out.push_back(std::move(object));
  }
  return {};
}

/// One for each RHCOS version, as the Driver Toolkit's image belongs to one.
Result<> RenderByRhcos(const api::ClusterPolicySpec& policy, const Facts& facts, std::vector<Object>& out) {
  std::map<std::string, NodeGroup> by_version;
  for (const NodeGroup& group : facts.groups)
    if (HasImage(policy, facts, group) && !group.rhcos_version.empty()) by_version.emplace(group.rhcos_version, group);
  for (const auto& [version, group] : by_version) {
    DaemonSet ds = Begin(policy, facts);
    ds.meta.name += "-" + version;
    ds.selector.match_labels["app"] = ds.meta.name;
    for (StringMap* labels : {&ds.meta.labels, &ds.pod.meta.labels}) {
      (*labels)["app"] = ds.meta.name;
      (*labels)["openshift.driver-toolkit"] = "true";
      (*labels)["openshift.driver-toolkit.rhcos"] = version;
      if (!facts.openshift.driver_toolkit_images.contains(version))
        (*labels)["openshift.driver-toolkit.rhcos-image-missing"] = "true";
    }
    ds.pod.spec.node_selector.merge(GroupLabels({.rhcos_version = version}));
    ASSIGN(Object object, Finish(std::move(ds), group, policy, facts));
    out.push_back(std::move(object));
  }
  return {};
}

}  // namespace

bool Enabled(const api::ClusterPolicySpec& policy, const Facts&) {
  return policy.driver.IsEnabled() && !policy.driver.UsesNvidiaDriverCrd();
}

std::vector<NodeGroup> GroupsWithoutImage(const api::ClusterPolicySpec& policy, const Facts& facts) {
  std::vector<NodeGroup> out;
  if (!Enabled(policy, facts)) return out;
  for (const NodeGroup& group : facts.groups)
    if (!HasImage(policy, facts, group)) out.push_back(group);
  return out;
}

Result<std::vector<Object>> Render(const api::ClusterPolicySpec& policy, const Facts& facts) {
  if (policy.driver.UsesPrecompiled() && (policy.gds.IsEnabled() || policy.gdrcopy.IsEnabled()))
    return Fail(Code::kInvalid,
                "spec.driver.usePrecompiled: GPUDirect Storage and GDRCopy (spec.gds, spec.gdrcopy) need "
                "drivers that are built on the node");
  std::vector<Object> out;
  AddAccount(DriverAccount(kAccount), facts, out);
  AddConstraints({.account = kAccount, .host_network = true, .host_pid = true}, facts, out);
  if (facts.openshift.present && !facts.openshift.proxy.trusted_ca.empty())
    out.push_back(ToObject(ConfigMap{
        .meta = Named("gpu-operator-trusted-ca", facts, {{"config.openshift.io/inject-trusted-cabundle", "true"}})}));
  const bool toolkit = facts.openshift.present && !facts.openshift.driver_toolkit_images.empty() &&
                       policy.operator_.use_ocp_driver_toolkit.value_or(true);
  if (policy.driver.UsesPrecompiled()) {
    TRY(RenderByKernel(policy, facts, out));
  } else if (toolkit) {
    TRY(RenderByRhcos(policy, facts, out));
  } else {
    Facts plain = facts;  // nothing of the Driver Toolkit
    plain.openshift.driver_toolkit_images.clear();
    TRY(RenderByOs(policy, plain, out));
  }
  return out;
}

}  // namespace gpuop::operands::driver
