#pragma once
// The driver as a ClusterPolicy describes it.

#include <optional>
#include <string>

#include "api/components.h"
#include "api/driver_settings.h"
#include "data/field.h"

namespace gpuop::api {

struct DriverRepoConfig {
  std::string config_map_name;

  template <class V>
  void Visit(V& v) {
    v("configMapName", config_map_name, {.description = "Name of a ConfigMap with package repository files."});
  }
  bool operator==(const DriverRepoConfig&) const = default;
};

struct DriverLicensing {
  std::string config_map_name, secret_name;
  std::optional<bool> nls_enabled;

  bool UsesNls() const { return nls_enabled.value_or(false); }

  template <class V>
  void Visit(V& v) {
    v("configMapName", config_map_name, {.description = "Deprecated: a ConfigMap with gridd.conf; use secretName."});
    v("secretName", secret_name, {.description = "Name of a Secret with gridd.conf and the licence token."});
    v("nlsEnabled", nls_enabled, {.description = "Whether licences come from NVIDIA License System."});
  }
  bool operator==(const DriverLicensing&) const = default;
};

struct VirtualTopology {
  std::string config;

  template <class V>
  void Visit(V& v) {
    v("config", config, {.description = "Name of a ConfigMap with the vGPU topology daemon's configuration."});
  }
  bool operator==(const VirtualTopology&) const = default;
};

/// spec.driver of a ClusterPolicy.
struct PolicyDriver : DefaultOn {
  std::optional<bool> use_nvidia_driver_crd, use_precompiled, use_open_kernel_modules;
  std::string kernel_module_type = "auto";
  std::optional<ProbeTimes> startup_probe, liveness_probe, readiness_probe;
  std::optional<Rdma> rdma;
  std::optional<UpgradePolicyOf<false>> upgrade_policy;
  DriverManager manager;
  std::optional<DriverRepoConfig> repo_config;
  std::optional<ConfigMapName> cert_config, kernel_module_config;
  std::optional<DriverLicensing> licensing_config;
  std::optional<VirtualTopology> virtual_topology;
  std::string secret_env;

  bool UsesNvidiaDriverCrd() const { return use_nvidia_driver_crd.value_or(false); }
  bool UsesPrecompiled() const { return use_precompiled.value_or(false); }

  template <class V>
  void Visit(V& v) {
    Component::Visit(v);
    v("useNvidiaDriverCRD", use_nvidia_driver_crd,
      {.description = "Whether drivers are described by NVIDIADriver objects instead of here."});
    v("usePrecompiled", use_precompiled,
      {.description = "Whether images with modules built for each kernel are used; they exist for some kernels only."});
    v("useOpenKernelModules", use_open_kernel_modules,
      {.description = "Deprecated and without effect: see kernelModuleType."});
    v("kernelModuleType", kernel_module_type,
      {.description = "Which kernel modules are installed; auto lets the driver choose by GPU.",
       .defaulted = true,
       .enumeration = {"auto", "open", "proprietary"}});
    v("startupProbe", startup_probe, {.description = "Times of the driver container's startup probe."});
    v("livenessProbe", liveness_probe,
      {.description = "Times of a liveness probe, which asks what the startup probe asks."});
    v("readinessProbe", readiness_probe,
      {.description = "Times of a readiness probe, which asks what the startup probe asks."});
    v("rdma", rdma, {.description = "GPUDirect RDMA."});
    v("upgradePolicy", upgrade_policy, {.description = "How running drivers are replaced."});
    v("manager", manager, {.description = "The driver manager, which prepares a node for another driver."});
    v("repoConfig", repo_config, {.description = "Package repositories that the driver container uses."});
    v("certConfig", cert_config, {.description = "Certificates that the driver container trusts, in a ConfigMap."});
    v("licensingConfig", licensing_config, {.description = "Licensing of vGPU drivers."});
    v("virtualTopology", virtual_topology, {.description = "Topology of virtual GPUs."});
    v("kernelModuleConfig", kernel_module_config,
      {.description = "Parameters of the kernel modules, one file per module in a ConfigMap."});
    v("secretEnv", secret_env,
      {.description = "Name of a Secret whose entries become environment variables of the driver container."});
  }
  bool operator==(const PolicyDriver&) const = default;
};

}  // namespace gpuop::api
