#pragma once
// nvidia.com/v1 ClusterPolicy: the wished state of a cluster's GPU nodes.

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "api/cluster_policy_driver.h"
#include "api/cluster_policy_operands.h"
#include "api/operator_settings.h"
#include "api/pod_settings.h"
#include "api/status.h"
#include "base/result.h"
#include "data/schema.h"
#include "kube/types/meta.h"

namespace gpuop::api {

struct ClusterPolicySpec {
  OperatorSettings operator_;
  DaemonSets daemonsets;
  PolicyDriver driver;
  Toolkit toolkit;
  DevicePlugin device_plugin;
  Dcgm dcgm;
  DcgmExporter dcgm_exporter;
  DefaultOff node_status_exporter;
  DefaultOn gfd;
  Mig mig;
  MigManager mig_manager;
  Switch psp, psa;
  Validator validator;
  Sidecar gds, gdrcopy;
  SandboxWorkloads sandbox_workloads;
  VfioManager vfio_manager;
  DefaultOff sandbox_device_plugin, kata_sandbox_device_plugin;
  VgpuManager vgpu_manager;
  VgpuDeviceManager vgpu_device_manager;
  Cdi cdi;
  KataManager kata_manager;
  CcManager cc_manager;
  HostPaths host_paths;

  template <class V>
  void Visit(V& v) {
    v("operator", operator_, {.description = "Settings of the operator itself.", .required = true});
    v("daemonsets", daemonsets, {.description = "What holds for the DaemonSets of all operands.", .required = true});
    v("driver", driver, {.description = "The GPU driver, when the operator installs it.", .required = true});
    v("toolkit", toolkit,
      {.description = "The container toolkit, which lets the container engine hand out GPUs.", .required = true});
    v("devicePlugin", device_plugin,
      {.description = "The device plugin, which offers GPUs to the kubelet as nvidia.com/gpu.", .required = true});
    v("dcgm", dcgm, {.description = "A DCGM host engine on each node.", .required = true});
    v("dcgmExporter", dcgm_exporter, {.description = "GPU health and usage as Prometheus metrics.", .required = true});
    v("nodeStatusExporter", node_status_exporter,
      {.description = "The state of each node's GPU software as Prometheus metrics.", .required = true});
    v("gfd", gfd, {.description = "GPU feature discovery: labels that say what a node's GPUs are.", .required = true});
    v("mig", mig, {.description = "Multi-Instance GPU."});
    v("migManager", mig_manager, {.description = "The MIG manager, which partitions GPUs as a node's label asks."});
    v("psp", psp, {.description = "Deprecated and without effect: Pod security policies no longer exist."});
    v("psa", psa, {.description = "Whether the operator's namespace is labelled for privileged Pods."});
    v("validator", validator,
      {.description = "The validator, which proves driver, toolkit, plugin and CUDA on a node."});
    v("gds", gds, {.description = "GPUDirect Storage: the nvidia-fs kernel module."});
    v("gdrcopy", gdrcopy, {.description = "The GDRCopy kernel module."});
    v("sandboxWorkloads", sandbox_workloads, {.description = "GPUs for virtual machines."});
    v("vfioManager", vfio_manager, {.description = "Binds GPUs to vfio-pci for passthrough."});
    v("sandboxDevicePlugin", sandbox_device_plugin, {.description = "Offers GPUs and vGPUs to KubeVirt."});
    v("kataSandboxDevicePlugin", kata_sandbox_device_plugin, {.description = "Offers GPUs to Kata Containers."});
    v("vgpuManager", vgpu_manager, {.description = "The vGPU manager: NVIDIA's driver on the virtual machines' host."});
    v("vgpuDeviceManager", vgpu_device_manager, {.description = "Creates vGPU devices as a node's label asks."});
    v("cdi", cdi, {.description = "The Container Device Interface."});
    v("kataManager", kata_manager, {.description = "Deprecated and without effect."});
    v("ccManager", cc_manager, {.description = "Sets the Confidential Computing mode of GPUs."});
    v("hostPaths", host_paths, {.description = "Paths on the nodes."});
  }
  bool operator==(const ClusterPolicySpec&) const = default;
};

using ClusterPolicyStatus = StatusOf<StatesWithIgnored>;

/// A ClusterPolicy as the cache holds it. One that cannot be read is kept with the reason in `error` instead of being
/// passed over, so that its owner can be told.
struct ClusterPolicy {
  static inline const kube::Resource kResource{"nvidia.com", "v1", "clusterpolicies", "ClusterPolicy", false};
  kube::ObjectMeta meta;
  ClusterPolicySpec spec;
  ClusterPolicyStatus status;
  /// Paths of fields that we do not know ("spec.driver.verison").
  std::vector<std::string> unknown;
  /// What is wrong with the first ill-typed field ("spec.driver.env[0].name: required"); empty when it could be read.
  std::string error;

  static Result<ClusterPolicy> FromJson(const boost::json::object& in);
  bool operator==(const ClusterPolicy&) const = default;
};

data::SchemaPtr ClusterPolicySchema();

}  // namespace gpuop::api
