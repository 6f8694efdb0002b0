#include "operands/references.h"

namespace gpuop::operands {
namespace {

std::unexpected<Error> Missing(const char* kind, const std::string& name, const std::string& field,
                               const Facts& facts) {
  return Fail(Code::kNotFound, field + ": " + kind + " " + name + " does not exist in namespace " + facts.ns);
}

void Add(const std::string& name, std::set<std::string>& names) {
  if (!name.empty()) names.insert(name);
}

}  // namespace

Result<std::vector<std::string>> KeysOf(const std::string& config_map, const std::string& field, const Facts& facts) {
  const auto it = facts.config_maps.find(config_map);
  if (it == facts.config_maps.end()) return Missing("ConfigMap", config_map, field, facts);
  return it->second;
}

Result<> RequireSecret(const std::string& secret, const std::string& field, const Facts& facts) {
  if (!facts.secrets.contains(secret)) return Missing("Secret", secret, field, facts);
  return {};
}

References ReferencesOf(const api::ClusterPolicySpec& policy) {
  References out;
  const api::PolicyDriver& driver = policy.driver;
  const auto map = [&out](const auto& block) {
    if (block) Add(block->name, out.config_maps);
  };
  if (driver.IsEnabled() && !driver.UsesNvidiaDriverCrd()) {
    if (driver.repo_config) Add(driver.repo_config->config_map_name, out.config_maps);
    map(driver.cert_config);
    map(driver.kernel_module_config);
    if (driver.licensing_config) {
      Add(driver.licensing_config->config_map_name, out.config_maps);
      Add(driver.licensing_config->secret_name, out.secrets);
    }
    if (driver.virtual_topology) Add(driver.virtual_topology->config, out.config_maps);
    Add(driver.secret_env, out.secrets);
  }
  if (policy.device_plugin.IsEnabled() || policy.gfd.IsEnabled()) map(policy.device_plugin.config);
  if (policy.dcgm_exporter.IsEnabled()) map(policy.dcgm_exporter.config);
  if (policy.mig_manager.IsEnabled()) {
    map(policy.mig_manager.config);
    map(policy.mig_manager.gpu_clients_config);
  }
  if (policy.sandbox_workloads.IsEnabled()) {
    if (policy.vgpu_manager.IsEnabled()) map(policy.vgpu_manager.kernel_module_config);
    if (policy.vgpu_device_manager.IsEnabled()) map(policy.vgpu_device_manager.config);
  }
  return out;
}

References ReferencesOf(const api::NvidiaDriverSpec& driver) {
  References out;
  for (const auto* block :
       {&driver.repo_config, &driver.cert_config, &driver.kernel_module_config, &driver.virtual_topology_config})
    if (*block) Add((*block)->name, out.config_maps);
  if (driver.licensing_config) {
    Add(driver.licensing_config->name, out.config_maps);
    Add(driver.licensing_config->secret_name, out.secrets);
  }
  Add(driver.secret_env, out.secrets);
  return out;
}

}  // namespace gpuop::operands
