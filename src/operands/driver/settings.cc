#include "operands/driver/settings.h"

#include "operands/driver/image.h"
#include "operands/image.h"
#include "operands/labels.h"

namespace gpuop::operands::driver {
namespace {

std::string NameOf(const std::optional<api::ConfigMapName>& block) { return block ? block->name : ""; }

void SetNodes(const NodeGroup& group, const Facts& facts, Settings& out) {
  out.os_id = group.os_id;
  out.os_version = group.os_version;
  out.runtime = group.runtime;
  if (facts.openshift.present && !out.precompiled && !facts.openshift.driver_toolkit_images.empty())
    out.rhcos_version = group.rhcos_version;
}

Result<> SetSidecar(const api::Sidecar& sidecar, std::string_view env, std::string_view field, const Facts& facts,
                    const std::string& os_tag, std::optional<SidecarSettings>& target, Settings& out) {
  if (!sidecar.IsEnabled()) return {};
  ASSIGN(std::string image, ResolveImage(sidecar, env, facts, field));
  target = SidecarSettings{.image = WithOsTag(std::move(image), os_tag),
                           .pull_policy = sidecar.pull_policy,
                           .args = sidecar.args,
                           .env = EnvOf(sidecar.env)};
  out.pull_secrets.insert(out.pull_secrets.end(), sidecar.pull_secrets.begin(), sidecar.pull_secrets.end());
  return {};
}

/// Settings that both resources spell the same way.
template <class Spec>
void SetCommon(const Spec& spec, Settings& out) {
  out.kernel_module_type = spec.kernel_module_type;
  out.precompiled = spec.UsesPrecompiled();
  out.pull_policy = spec.pull_policy;
  out.pull_secrets = spec.pull_secrets;
  out.args = spec.args;
  out.env = EnvOf(spec.env);
  out.resources = ResourcesOf(spec.resources);
  out.secret_env = spec.secret_env;
  out.host_network = spec.host_network;
  out.manager = spec.manager;
  out.startup = spec.startup_probe;
  out.liveness = spec.liveness_probe;
  out.readiness = spec.readiness_probe;
  out.rdma = spec.rdma && spec.rdma->IsEnabled();
  out.host_mofed = out.rdma && spec.rdma->UsesHostMofed();
  out.cert_config = NameOf(spec.cert_config);
  out.kernel_module_config = NameOf(spec.kernel_module_config);
}

}  // namespace

Result<Settings> SettingsOf(const api::ClusterPolicySpec& policy, const Facts& facts, const NodeGroup& group) {
  const api::PolicyDriver& driver = policy.driver;
  Settings out{.field = "spec.driver"};
  SetCommon(driver, out);
  const std::string tag = OsTag(group.os_id, group.os_version);
  ASSIGN(out.image, PolicyDriverImage(driver, facts, group));
  TRY(SetSidecar(policy.gds, "GDS_IMAGE", "spec.gds", facts, tag, out.gds, out));
  TRY(SetSidecar(policy.gdrcopy, "GDRCOPY_IMAGE", "spec.gdrcopy", facts, tag, out.gdrcopy, out));
  if (driver.repo_config) out.repo_config = driver.repo_config->config_map_name;
  if (driver.virtual_topology) out.virtual_topology = driver.virtual_topology->config;
  if (driver.licensing_config) {
    out.licensing_config_map = driver.licensing_config->config_map_name;
    out.licensing_secret = driver.licensing_config->secret_name;
    out.nls = driver.licensing_config->UsesNls();
  }
  out.launcher = policy.validator;
  out.paths = PathsOf(policy.host_paths);
  SetNodes(group, facts, out);
  return out;
}

Result<Settings> SettingsOf(const api::NvidiaDriverSpec& driver, const Facts& facts, const NodeGroup& group,
                            const std::string& host_root) {
  Settings out{.field = "spec", .type = driver.driver_type, .own_resource = true};
  SetCommon(driver, out);
  const std::string tag = OsTag(group.os_id, group.os_version);
  ASSIGN(out.image, OwnDriverImage(driver, group));
  const Facts no_images;  // an NVIDIADriver names its images itself
  if (driver.gds) TRY(SetSidecar(*driver.gds, "", "spec.gds", no_images, tag, out.gds, out));
  if (driver.gdrcopy) TRY(SetSidecar(*driver.gdrcopy, "", "spec.gdrcopy", no_images, tag, out.gdrcopy, out));
  out.repo_config = NameOf(driver.repo_config);
  out.virtual_topology = NameOf(driver.virtual_topology_config);
  if (driver.licensing_config) {
    out.licensing_config_map = driver.licensing_config->name;
    out.licensing_secret = driver.licensing_config->secret_name;
    out.nls = driver.licensing_config->UsesNls();
  }
  out.paths = PathsOf({.root_fs = host_root, .driver_install_dir = {}, .kubelet_root_dir = {}});
  SetNodes(group, facts, out);
  return out;
}

}  // namespace gpuop::operands::driver
