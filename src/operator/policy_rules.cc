#include "operator/policy_rules.h"

#include <algorithm>

#include "data/names.h"
#include "operands/checks.h"
#include "operator/driver_routing.h"
#include "operator/field_checks.h"

namespace gpuop::op {
namespace {

void CheckDaemonSets(const api::DaemonSets& in, FieldChecks& out) {
  out.Labels("spec.daemonsets.labels", in.labels);
  out.Annotations("spec.daemonsets.annotations", in.annotations);
  out.Tolerations("spec.daemonsets.tolerations", in.tolerations);
  out.Name("spec.daemonsets.priorityClassName", in.priority_class_name);
  if (!in.rolling_update || in.rolling_update->max_unavailable.empty()) return;
  const std::string& text = in.rolling_update->max_unavailable;
  out.NumberOrPercent("spec.daemonsets.rollingUpdate.maxUnavailable", {text});
  if (text == "0" || text == "0%")
    out.Complain("spec.daemonsets.rollingUpdate.maxUnavailable", "must be more than 0: nothing would ever be updated");
}

void CheckPolicyDriver(const api::PolicyDriver& in, FieldChecks& out) {
  if (!in.IsEnabled()) return;
  out.Container("spec.driver", in);
  out.Manager("spec.driver.manager", in.manager);
  out.Probe("spec.driver.startupProbe", in.startup_probe, true);
  out.Probe("spec.driver.livenessProbe", in.liveness_probe, true);
  out.Probe("spec.driver.readinessProbe", in.readiness_probe, false);
  out.Upgrade("spec.driver.upgradePolicy", in.upgrade_policy);
  if (in.repo_config) out.Name("spec.driver.repoConfig.configMapName", in.repo_config->config_map_name);
  if (in.cert_config) out.Name("spec.driver.certConfig.name", in.cert_config->name);
  if (in.kernel_module_config) out.Name("spec.driver.kernelModuleConfig.name", in.kernel_module_config->name);
  if (in.virtual_topology) out.Name("spec.driver.virtualTopology.config", in.virtual_topology->config);
  if (in.licensing_config) {
    out.Name("spec.driver.licensingConfig.configMapName", in.licensing_config->config_map_name);
    out.Name("spec.driver.licensingConfig.secretName", in.licensing_config->secret_name);
  }
  out.Name("spec.driver.secretEnv", in.secret_env);
}

void CheckExporter(const api::DcgmExporter& in, FieldChecks& out) {
  if (!in.IsEnabled()) return;
  out.Container("spec.dcgmExporter", in);
  out.Annotations("spec.dcgmExporter.annotations", in.annotations);
  out.Monitor("spec.dcgmExporter.serviceMonitor", in.service_monitor);
  if (in.config) out.Name("spec.dcgmExporter.config.name", in.config->name);
  if (in.hpc_job_mapping) out.AbsolutePath("spec.dcgmExporter.hpcJobMapping.directory", in.hpc_job_mapping->directory);
  out.Regexes("spec.dcgmExporter.podLabelAllowlistRegex", in.pod_label_allowlist);
  if (!in.service) return;
  out.OneOf("spec.dcgmExporter.service.type", in.service->type, {"ClusterIP", "NodePort", "LoadBalancer"});
  out.OneOf("spec.dcgmExporter.service.internalTrafficPolicy", in.service->internal_traffic_policy,
            {"Cluster", "Local"});
}

/// What nodes with containers run besides driver and exporter.
void CheckContainers(const api::ClusterPolicySpec& in, FieldChecks& out) {
  if (in.toolkit.IsEnabled()) {
    out.Container("spec.toolkit", in.toolkit);
    out.AbsolutePath("spec.toolkit.installDir", in.toolkit.install_dir);
  }
  if (in.device_plugin.IsEnabled()) {
    out.Container("spec.devicePlugin", in.device_plugin);
    if (in.device_plugin.config) out.Name("spec.devicePlugin.config.name", in.device_plugin.config->name);
    out.AbsolutePath("spec.devicePlugin.mps.root", in.device_plugin.mps.root);
  }
  if (in.gfd.IsEnabled()) out.Container("spec.gfd", in.gfd);
  if (in.dcgm.IsEnabled()) out.Container("spec.dcgm", in.dcgm);
  if (in.node_status_exporter.IsEnabled()) out.Container("spec.nodeStatusExporter", in.node_status_exporter);
  if (in.mig_manager.IsEnabled()) {
    out.Container("spec.migManager", in.mig_manager);
    if (in.mig_manager.config) out.Name("spec.migManager.config.name", in.mig_manager.config->name);
    if (in.mig_manager.gpu_clients_config)
      out.Name("spec.migManager.gpuClientsConfig.name", in.mig_manager.gpu_clients_config->name);
  }
  if (in.gds.IsEnabled()) out.Sidecar("spec.gds", in.gds);
  if (in.gdrcopy.IsEnabled()) out.Sidecar("spec.gdrcopy", in.gdrcopy);
}

void CheckSandbox(const api::ClusterPolicySpec& in, FieldChecks& out) {
  if (!in.sandbox_workloads.IsEnabled()) return;
  if (in.vgpu_manager.IsEnabled()) {
    out.Container("spec.vgpuManager", in.vgpu_manager);
    out.Manager("spec.vgpuManager.driverManager", in.vgpu_manager.driver_manager);
  }
  if (in.vfio_manager.IsEnabled()) {
    out.Container("spec.vfioManager", in.vfio_manager);
    out.Manager("spec.vfioManager.driverManager", in.vfio_manager.driver_manager);
  }
  if (in.vgpu_device_manager.IsEnabled()) out.Container("spec.vgpuDeviceManager", in.vgpu_device_manager);
  if (in.sandbox_device_plugin.IsEnabled()) out.Container("spec.sandboxDevicePlugin", in.sandbox_device_plugin);
  if (in.kata_sandbox_device_plugin.IsEnabled())
    out.Container("spec.kataSandboxDevicePlugin", in.kata_sandbox_device_plugin);
  if (in.cc_manager.IsEnabled()) out.Container("spec.ccManager", in.cc_manager);
}

void CheckValidator(const api::Validator& in, FieldChecks& out) {
  out.Container("spec.validator", in);
  out.Env("spec.validator.plugin.env", in.plugin.env);
  out.Env("spec.validator.toolkit.env", in.toolkit.env);
  out.Env("spec.validator.driver.env", in.driver.env);
  out.Env("spec.validator.cuda.env", in.cuda.env);
  out.Env("spec.validator.vfioPCI.env", in.vfio_pci.env);
  out.Env("spec.validator.vgpuManager.env", in.vgpu_manager.env);
  out.Env("spec.validator.vgpuDevices.env", in.vgpu_devices.env);
}

}  // namespace

Problems CheckPolicy(const api::ClusterPolicySpec& spec) {
  FieldChecks checks;
  for (const std::string& message : data::CheckDnsSubdomain(spec.operator_.runtime_class))
    checks.Complain("spec.operator.runtimeClass", spec.operator_.runtime_class, message);
  checks.Monitor("spec.operator.metrics.serviceMonitor", spec.operator_.metrics.service_monitor);
  CheckDaemonSets(spec.daemonsets, checks);
  CheckPolicyDriver(spec.driver, checks);
  CheckContainers(spec, checks);
  CheckExporter(spec.dcgm_exporter, checks);
  CheckSandbox(spec, checks);
  CheckValidator(spec.validator, checks);
  checks.AbsolutePath("spec.hostPaths.rootFS", spec.host_paths.root_fs);
  checks.AbsolutePath("spec.hostPaths.driverInstallDir", spec.host_paths.driver_install_dir);
  checks.AbsolutePath("spec.hostPaths.kubeletRootDir", spec.host_paths.kubelet_root_dir);
  Problems out = std::move(checks).Take();
  std::ranges::move(operands::Check(spec), std::back_inserter(out));
  return out;
}

Problems CheckDriver(const api::NvidiaDriverSpec& spec) {
  FieldChecks checks;
  if (const std::string problem = SelectorProblem(spec); !problem.empty()) return {problem};
  checks.Labels("spec.nodeSelector", spec.node_selector);
  checks.Labels("spec.labels", spec.labels);
  checks.Annotations("spec.annotations", spec.annotations);
  checks.Tolerations("spec.tolerations", spec.tolerations);
  checks.Env("spec.env", spec.env);
  checks.Resources("spec.resources", spec.resources);
  checks.Manager("spec.manager", spec.manager);
  if (spec.gds && spec.gds->IsEnabled()) checks.Sidecar("spec.gds", *spec.gds);
  if (spec.gdrcopy && spec.gdrcopy->IsEnabled()) checks.Sidecar("spec.gdrcopy", *spec.gdrcopy);
  checks.Probe("spec.startupProbe", spec.startup_probe, true);
  checks.Probe("spec.livenessProbe", spec.liveness_probe, true);
  checks.Probe("spec.readinessProbe", spec.readiness_probe, false);
  checks.Upgrade("spec.upgradePolicy", spec.upgrade_policy);
  checks.Name("spec.priorityClassName", spec.priority_class_name);
  for (const auto& [path, block] :
       {std::pair("spec.repoConfig.name", &spec.repo_config), std::pair("spec.certConfig.name", &spec.cert_config),
        std::pair("spec.kernelModuleConfig.name", &spec.kernel_module_config),
        std::pair("spec.virtualTopologyConfig.name", &spec.virtual_topology_config)})
    if (*block) checks.Name(path, (*block)->name);
  checks.Name("spec.secretEnv", spec.secret_env);
  Problems out = std::move(checks).Take();
  std::ranges::move(operands::Check(spec), std::back_inserter(out));
  return out;
}

}  // namespace gpuop::op
