#pragma once
// nvidia.com/v1alpha1 GPUCluster: GPUs by Dynamic Resource Allocation. Accepted and answered, not acted on yet.

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/cluster_policy_operands.h"
#include "api/components.h"
#include "api/pod_settings.h"
#include "api/status.h"
#include "base/result.h"
#include "data/schema.h"
#include "kube/types/meta.h"

namespace gpuop::api {

struct DraHealthcheck {
  bool enabled = true;
  std::optional<std::int32_t> port;

  template <class V>
  void Visit(V& v) {
    v("enabled", enabled, {.description = "Whether the kubelet asks after the plugin's health.", .defaulted = true});
    v("port", port, {.description = "Port of the health service.", .minimum = 1, .maximum = 65535});
  }
  bool operator==(const DraHealthcheck&) const = default;
};

/// The controller of compute domains.
struct DraController {
  std::vector<EnvVar> env;
  std::optional<Resources> resources;

  template <class V>
  void Visit(V& v) {
    v("env", env, {.description = "Environment variables of the container."});
    v("resources", resources, {.description = "Compute resources of the container."});
  }
  bool operator==(const DraController&) const = default;
};

struct DraKubeletPlugin : DraController {
  std::optional<DraHealthcheck> healthcheck;

  template <class V>
  void Visit(V& v) {
    DraController::Visit(v);
    v("healthcheck", healthcheck, {.description = "Health service of the plugin."});
  }
  bool operator==(const DraKubeletPlugin&) const = default;
};

struct DraGpus {
  std::optional<DraKubeletPlugin> kubelet_plugin;

  template <class V>
  void Visit(V& v) {
    v("kubeletPlugin", kubelet_plugin, {.description = "The plugin that prepares GPUs for Pods."});
  }
  bool operator==(const DraGpus&) const = default;
};

struct DraComputeDomains {
  bool enabled = true;
  std::optional<DraController> controller;
  std::optional<DraKubeletPlugin> kubelet_plugin;

  template <class V>
  void Visit(V& v) {
    v("enabled", enabled, {.description = "Whether compute domains are offered.", .defaulted = true});
    v("controller", controller, {.description = "The controller of compute domains."});
    v("kubeletPlugin", kubelet_plugin, {.description = "The plugin that prepares channels for Pods."});
  }
  bool operator==(const DraComputeDomains&) const = default;
};

struct DraDriver {
  std::string repository, image, version, pull_policy;
  std::vector<std::string> pull_secrets;
  std::map<std::string, bool> feature_gates;
  std::optional<DraGpus> gpus;
  std::optional<DraComputeDomains> compute_domains;

  template <class V>
  void Visit(V& v) {
    v("repository", repository, {.description = "Registry and path that the image is pulled from."});
    v("image", image, {.description = "Name of the image below the repository.", .pattern = R"(^[a-zA-Z0-9\-]+$)"});
    v("version", version, {.description = "Tag of the image, or its digest (sha256:…)."});
    v("imagePullPolicy", pull_policy,
      {.description = "When the kubelet pulls the image: Always, IfNotPresent (the default) or Never."});
    v("imagePullSecrets", pull_secrets,
      {.description = "Names of Secrets in the operator's namespace that hold registry credentials."});
    v("featureGates", feature_gates, {.description = "Features that are switched on or off by name."});
    v("gpus", gpus, {.description = "Allocation of GPUs."});
    v("computeDomains", compute_domains, {.description = "Allocation of multi-node NVLink domains."});
  }
  bool operator==(const DraDriver&) const = default;
};

struct GpuClusterHostPaths {
  std::string driver_install_dir, kubelet_root_dir = "/var/lib/kubelet";

  template <class V>
  void Visit(V& v) {
    v("driverInstallDir", driver_install_dir,
      {.description = "Where the driver container puts the driver's files on the host."});
    v("kubeletRootDir", kubelet_root_dir, {.description = "The kubelet's root directory.", .defaulted = true});
  }
  bool operator==(const GpuClusterHostPaths&) const = default;
};

struct GpuClusterSpec {
  DraDriver dra_driver;
  std::optional<Dcgm> dcgm;
  std::optional<DcgmExporter> dcgm_exporter;
  GpuClusterHostPaths host_paths;
  DaemonSets daemonsets;

  template <class V>
  void Visit(V& v) {
    v("draDriver", dra_driver, {.description = "The driver of Dynamic Resource Allocation.", .required = true});
    v("dcgm", dcgm, {.description = "A DCGM host engine on each node."});
    v("dcgmExporter", dcgm_exporter, {.description = "GPU health and usage as Prometheus metrics."});
    v("hostPaths", host_paths, {.description = "Paths on the nodes."});
    v("daemonsets", daemonsets, {.description = "What holds for the DaemonSets of all operands."});
  }
  bool operator==(const GpuClusterSpec&) const = default;
};

inline std::vector<std::string> StatesOfGpuCluster() { return {"ready", "notReady", "disabled"}; }
using GpuClusterStatus = StatusOf<StatesOfGpuCluster>;

/// A GPUCluster as the cache holds it; `unknown` and `error` as in ClusterPolicy.
struct GpuCluster {
  static inline const kube::Resource kResource{"nvidia.com", "v1alpha1", "gpuclusters", "GPUCluster", false};
  kube::ObjectMeta meta;
  GpuClusterSpec spec;
  GpuClusterStatus status;
  std::vector<std::string> unknown;
  std::string error;

  static Result<GpuCluster> FromJson(const boost::json::object& in);
  bool operator==(const GpuCluster&) const = default;
};

data::SchemaPtr GpuClusterSchema();

}  // namespace gpuop::api
