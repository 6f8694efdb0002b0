#include "data/writer.h"
#include "operands/driver/manifest.h"
#include "operands/driver/pod.h"

namespace gpuop::operands::driver {
namespace {

/// Labels that tell what a Pod is: a user's do not replace them.
bool IsOwn(const std::string& key) { return key == "app" || key.starts_with("app.kubernetes.io/"); }

StringMap PoolLabels(const api::NvidiaDriverSpec& spec, const DriverPool& pool, const Facts& facts) {
  StringMap out{
      {"app", pool.name},
      {"app.kubernetes.io/component", spec.IsVgpuHostManager() ? "nvidia-vgpu-host-manager" : "nvidia-driver"},
      {"nvidia.com/node.os-version", pool.os_tag},
      {"nvidia.com/precompiled", spec.UsesPrecompiled() ? "true" : "false"}};
  if (spec.UsesPrecompiled()) out["nvidia.com/precompiled.kernel-version"] = pool.kernel_sanitized;
  if (!pool.rhcos_version.empty() && !spec.UsesPrecompiled()) {
    out["openshift.driver-toolkit"] = "true";
    out["openshift.driver-toolkit.rhcos"] = pool.rhcos_version;
    if (!facts.openshift.driver_toolkit_images.contains(pool.rhcos_version))
      out["openshift.driver-toolkit.rhcos-image-missing"] = "true";
  }
  for (const auto& [key, value] : spec.labels)
    if (!IsOwn(key)) out[key] = value;
  return out;
}

void SetPodPolicy(const api::NvidiaDriverSpec& spec, PodSpec& pod) {
  for (const api::Toleration& t : spec.tolerations) {
    const Toleration toleration{.key = t.key, .op = t.op, .value = t.value, .effect = t.effect, .seconds = t.seconds};
    if (std::ranges::find(pod.tolerations, toleration) == pod.tolerations.end()) pod.tolerations.push_back(toleration);
  }
  if (!spec.priority_class_name.empty()) pod.priority_class = spec.priority_class_name;
  if (spec.pod_security_context) pod.security = data::WriteValue(*spec.pod_security_context);
  if (spec.node_affinity) pod.affinity.as_object()["nodeAffinity"] = data::WriteValue(*spec.node_affinity);
}

}  // namespace

Result<std::vector<Object>> RenderPool(const api::NvidiaDriver& driver, const DriverPool& pool, const Facts& facts) {
  const api::NvidiaDriverSpec& spec = driver.spec;
  std::vector<Object> out;
  AddAccount(DriverAccount(pool.rbac_name), facts, out);
  AddConstraints({.account = pool.rbac_name, .host_network = true, .host_pid = true}, facts, out);
  if (facts.openshift.present && !facts.openshift.proxy.trusted_ca.empty())
    out.push_back(ToObject(ConfigMap{
        .meta = Named("gpu-operator-trusted-ca", facts, {{"config.openshift.io/inject-trusted-cabundle", "true"}})}));

  DaemonSet ds = NewDaemonSet({.name = pool.name,
                               .account = pool.rbac_name,
                               .deploy = spec.IsVgpuHostManager() ? "vgpu-manager" : "driver",
                               .scc = facts.openshift.present ? pool.rbac_name : ""},
                              facts);
  ds.meta.labels = ds.pod.meta.labels = PoolLabels(spec, pool, facts);
  for (const auto& [key, value] : spec.annotations) ds.meta.annotations[key] = ds.pod.meta.annotations[key] = value;
  for (const auto& [key, value] : pool.selector) ds.pod.spec.node_selector[key] = value;
  const NodeGroup group{.os_id = pool.os_id,
                        .os_version = pool.os_version,
                        .kernel = pool.kernel,
                        .rhcos_version = pool.rhcos_version,
                        .nodes = pool.nodes};
  ASSIGN(const Settings settings, SettingsOf(spec, facts, group, pool.host_root));
  TRY(FillPod(settings, facts, ds));
  SetPodPolicy(spec, ds.pod.spec);
  out.push_back(ToObject(ds));
  return out;
}

}  // namespace gpuop::operands::driver
