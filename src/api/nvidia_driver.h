#pragma once
// nvidia.com/v1alpha1 NVIDIADriver: one driver for the nodes that its selector names.

#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/components.h"
#include "api/driver_settings.h"
#include "api/node_affinity.h"
#include "api/pod_settings.h"
#include "api/status.h"
#include "base/result.h"
#include "data/schema.h"
#include "kube/types/meta.h"

namespace gpuop::api {

struct NvidiaDriverLicensing {
  std::string name, secret_name;
  std::optional<bool> nls_enabled;

  bool UsesNls() const { return nls_enabled.value_or(true); }

  template <class V>
  void Visit(V& v) {
    v("name", name, {.description = "Deprecated: a ConfigMap with gridd.conf; use secretName."});
    v("secretName", secret_name, {.description = "Name of a Secret with gridd.conf and the licence token."});
    v("nlsEnabled", nls_enabled, {.description = "Whether licences come from NVIDIA License System; on unless false."});
  }
  bool operator==(const NvidiaDriverLicensing&) const = default;
};

/// How NVIDIADriver sources its image differs from the operands: `image` has a default and needs no repository.
struct NvidiaDriverSpec {
  bool is_default = false;
  std::string driver_type = "gpu";
  std::optional<bool> use_precompiled, use_open_kernel_modules;
  std::string kernel_module_type = "auto";
  std::optional<ProbeTimes> startup_probe, liveness_probe, readiness_probe;
  std::optional<Rdma> rdma;
  std::optional<Sidecar> gds, gdrcopy;
  std::string repository, image = "nvcr.io/nvidia/driver", version, pull_policy;
  std::vector<std::string> pull_secrets;
  DriverManager manager;
  std::optional<Resources> resources;
  std::vector<std::string> args;
  std::vector<EnvVar> env;
  std::optional<ConfigMapName> repo_config, cert_config, kernel_module_config, virtual_topology_config;
  std::optional<NvidiaDriverLicensing> licensing_config;
  std::string secret_env;
  std::optional<UpgradePolicyOf<true>> upgrade_policy;
  std::map<std::string, std::string> node_selector, labels, annotations;
  std::optional<NodeAffinity> node_affinity;
  std::vector<Toleration> tolerations;
  std::string priority_class_name;
  std::optional<PodSecurityContext> pod_security_context;
  std::optional<bool> host_network;

  bool UsesPrecompiled() const { return use_precompiled.value_or(false); }
  bool IsVgpuHostManager() const { return driver_type == "vgpu-host-manager"; }

  template <class V>
  void Visit(V& v) {
    VisitKind(v);
    VisitImage(v);
    VisitContainer(v);
    VisitPods(v);
  }
  bool operator==(const NvidiaDriverSpec&) const = default;

 private:
  template <class V>
  void VisitKind(V& v) {
    v("default", is_default,
      {.description = "Whether nodes that no other NVIDIADriver selects get this driver. There may be one default, and "
                      "it has no nodeSelector.",
       .required = true,
       .defaulted = true});
    v("driverType", driver_type,
      {.description = "A driver for the GPUs of the node, for vGPUs given to it, or the host side of vGPUs.",
       .required = true,
       .defaulted = true,
       .enumeration = {"gpu", "vgpu", "vgpu-host-manager"},
       .rules = {data::Rule("self == oldSelf", "driverType cannot be changed; make another NVIDIADriver")}});
    v("usePrecompiled", use_precompiled,
      {.description = "Whether images with modules built for each kernel are used; they exist for some kernels only.",
       .rules = {data::Rule("self == oldSelf", "usePrecompiled cannot be changed; make another NVIDIADriver")}});
    v("useOpenKernelModules", use_open_kernel_modules,
      {.description = "Deprecated and without effect: see kernelModuleType."});
    v("kernelModuleType", kernel_module_type,
      {.description = "Which kernel modules are installed; auto lets the driver choose by GPU.",
       .defaulted = true,
       .enumeration = {"auto", "open", "proprietary"}});
    v("rdma", rdma, {.description = "GPUDirect RDMA."});
    v("gds", gds, {.description = "GPUDirect Storage: the nvidia-fs kernel module."});
    v("gdrcopy", gdrcopy, {.description = "The GDRCopy kernel module."});
    v("upgradePolicy", upgrade_policy, {.description = "How running drivers are replaced."});
  }
  template <class V>
  void VisitImage(V& v) {
    v("repository", repository, {.description = "Registry and path that the driver image is pulled from."});
    v("image", image,
      {.description = "The driver image: a name below the repository, or a whole reference.",
       .required = true,
       .defaulted = true});
    v("version", version, {.description = "Version of the driver, or the image's digest (sha256:…)."});
    v("imagePullPolicy", pull_policy,
      {.description = "When the kubelet pulls the image: Always, IfNotPresent (the default) or Never."});
    v("imagePullSecrets", pull_secrets,
      {.description = "Names of Secrets in the operator's namespace that hold registry credentials."});
    v("manager", manager, {.description = "The driver manager, which prepares a node for another driver."});
  }
  template <class V>
  void VisitContainer(V& v) {
    v("startupProbe", startup_probe, {.description = "Times of the driver container's startup probe."});
    v("livenessProbe", liveness_probe,
      {.description = "Times of a liveness probe, which asks what the startup probe asks."});
    v("readinessProbe", readiness_probe,
      {.description = "Times of a readiness probe, which asks what the startup probe asks."});
    v("resources", resources, {.description = "Compute resources of the driver container."});
    v("args", args, {.description = "Arguments that replace those of the driver container."});
    v("env", env, {.description = "Environment variables of the driver container."});
    v("secretEnv", secret_env,
      {.description = "Name of a Secret whose entries become environment variables of the driver container."});
    v("repoConfig", repo_config, {.description = "Package repositories that the driver container uses."});
    v("certConfig", cert_config, {.description = "Certificates that the driver container trusts."});
    v("kernelModuleConfig", kernel_module_config,
      {.description = "Parameters of the kernel modules, one file per module."});
    v("virtualTopologyConfig", virtual_topology_config, {.description = "Topology of virtual GPUs."});
    v("licensingConfig", licensing_config, {.description = "Licensing of vGPU drivers."});
  }
  template <class V>
  void VisitPods(V& v) {
    v("nodeSelector", node_selector,
      {.description = "Labels of the nodes that get this driver; all GPU nodes when left out."});
    v("nodeAffinity", node_affinity, {.description = "A finer choice among the selected nodes."});
    v("tolerations", tolerations, {.description = "Taints that the driver's Pods tolerate besides nvidia.com/gpu."});
    v("labels", labels, {.description = "Labels that the driver's DaemonSets and Pods get besides their own."});
    v("annotations", annotations, {.description = "Annotations that the driver's DaemonSets and Pods get."});
    v("priorityClassName", priority_class_name,
      {.description = "Priority class of the driver's Pods; system-node-critical when left out."});
    v("podSecurityContext", pod_security_context, {.description = "Security settings of the driver's Pods."});
    v("hostNetwork", host_network, {.description = "Whether the driver's Pods share the node's network."});
  }
};

inline std::vector<std::string> StatesWithDisabled() { return {"ignored", "ready", "notReady", "disabled"}; }
using NvidiaDriverStatus = StatusOf<StatesWithDisabled>;

/// An NVIDIADriver as the cache holds it; `unknown` and `error` as in ClusterPolicy.
struct NvidiaDriver {
  static inline const kube::Resource kResource{"nvidia.com", "v1alpha1", "nvidiadrivers", "NVIDIADriver", false};
  kube::ObjectMeta meta;
  NvidiaDriverSpec spec;
  NvidiaDriverStatus status;
  std::vector<std::string> unknown;
  std::string error;

  static Result<NvidiaDriver> FromJson(const boost::json::object& in);
  bool operator==(const NvidiaDriver&) const = default;
};

data::SchemaPtr NvidiaDriverSchema();

}  // namespace gpuop::api
