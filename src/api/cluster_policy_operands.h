#pragma once
// The operands of a ClusterPolicy but the driver: what each adds to the common fields.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/components.h"
#include "api/monitoring.h"
#include "data/field.h"

namespace gpuop::api {

struct Toolkit : DefaultOn {
  std::string install_dir = "/usr/local/nvidia";

  template <class V>
  void Visit(V& v) {
    Component::Visit(v);
    v("installDir", install_dir, {.description = "Where the toolkit is installed on the host.", .defaulted = true});
  }
  bool operator==(const Toolkit&) const = default;
};

struct DevicePluginConfig {
  std::string name, default_config;

  template <class V>
  void Visit(V& v) {
    v("name", name, {.description = "Name of a ConfigMap with one configuration per key."});
    v("default", default_config,
      {.description = "Key that nodes without the label nvidia.com/device-plugin.config use."});
  }
  bool operator==(const DevicePluginConfig&) const = default;
};

struct Mps {
  std::string root = "/run/nvidia/mps";

  template <class V>
  void Visit(V& v) {
    v("root", root, {.description = "Directory on the host for MPS pipes and logs.", .defaulted = true});
  }
  bool operator==(const Mps&) const = default;
};

struct DevicePlugin : DefaultOn {
  std::optional<DevicePluginConfig> config;
  Mps mps;

  template <class V>
  void Visit(V& v) {
    Component::Visit(v);
    v("config", config, {.description = "Sharing and other settings of the plugin, chosen per node by label."});
    v("mps", mps, {.description = "The Multi-Process Service."});
  }
  bool operator==(const DevicePlugin&) const = default;
};

struct Dcgm : DefaultOn {
  std::optional<std::int32_t> host_port;

  template <class V>
  void Visit(V& v) {
    Component::Visit(v);
    v("hostPort", host_port, {.description = "Deprecated and without effect."});
  }
  bool operator==(const Dcgm&) const = default;
};

struct ExporterService {
  std::string type, internal_traffic_policy;

  template <class V>
  void Visit(V& v) {
    v("type", type, {.description = "Type of the exporter's Service; ClusterIP when left out."});
    v("internalTrafficPolicy", internal_traffic_policy,
      {.description = "Cluster, or Local to reach only the exporter on the client's own node."});
  }
  bool operator==(const ExporterService&) const = default;
};

struct HpcJobMapping {
  std::optional<bool> enabled;
  std::string directory;

  bool IsEnabled() const { return enabled.value_or(false); }

  template <class V>
  void Visit(V& v) {
    v("enabled", enabled, {.description = "Whether metrics name the HPC job that uses a GPU."});
    v("directory", directory,
      {.description =
           "Directory on the host with the mapping files; /var/lib/dcgm-exporter/job-mapping when left out."});
  }
  bool operator==(const HpcJobMapping&) const = default;
};

struct DcgmExporter : DefaultOn {
  std::map<std::string, std::string> annotations;
  std::optional<ConfigMapName> config;
  ServiceMonitor service_monitor;
  std::optional<ExporterService> service;
  std::optional<bool> host_pid, enable_pod_labels, enable_pod_uid;
  std::optional<HpcJobMapping> hpc_job_mapping;
  std::vector<std::string> pod_label_allowlist;

  template <class V>
  void Visit(V& v) {
    Component::Visit(v);
    v("annotations", annotations, {.description = "Annotations of the exporter's Pods."});
    v("config", config, {.description = "Which metrics are exported: key dcgm-metrics.csv of a ConfigMap."});
    v("serviceMonitor", service_monitor, {.description = "ServiceMonitor of the GPU metrics."});
    v("service", service, {.description = "The Service in front of the exporters."});
    v("hostPID", host_pid, {.description = "Whether the exporter sees the host's processes."});
    v("hpcJobMapping", hpc_job_mapping, {.description = "Mapping of GPUs to HPC jobs."});
    v("enablePodLabels", enable_pod_labels, {.description = "Whether metrics carry the labels of the Pod."});
    v("enablePodUID", enable_pod_uid, {.description = "Whether metrics carry the UID of the Pod."});
    v("podLabelAllowlistRegex", pod_label_allowlist,
      {.description = "Regular expressions of the Pod labels that metrics carry; all when empty."});
  }
  bool operator==(const DcgmExporter&) const = default;
};

struct MigManagerConfig {
  std::string name, default_config = "all-disabled";

  template <class V>
  void Visit(V& v) {
    v("name", name, {.description = "Name of a ConfigMap with MIG geometries; the operator's own when left out."});
    v("default", default_config,
      {.description = "Geometry that MIG-capable nodes without the label nvidia.com/mig.config get; none when empty.",
       .defaulted = true,
       .enumeration = {"all-disabled", ""}});
  }
  bool operator==(const MigManagerConfig&) const = default;
};

struct MigManager : DefaultOn {
  std::optional<MigManagerConfig> config;
  std::optional<ConfigMapName> gpu_clients_config;

  template <class V>
  void Visit(V& v) {
    Component::Visit(v);
    v("config", config, {.description = "Geometries that nodes choose from by label."});
    v("gpuClientsConfig", gpu_clients_config,
      {.description = "Programs on the host that are stopped while the geometry changes, in a ConfigMap."});
  }
  bool operator==(const MigManager&) const = default;
};

struct VgpuManager : DefaultOff {
  DriverManager driver_manager;
  std::optional<ConfigMapName> kernel_module_config;

  template <class V>
  void Visit(V& v) {
    Component::Visit(v);
    v("driverManager", driver_manager,
      {.description = "The driver manager, which prepares a node for another driver."});
    v("kernelModuleConfig", kernel_module_config, {.description = "Parameters of the kernel modules, in a ConfigMap."});
  }
  bool operator==(const VgpuManager&) const = default;
};

struct VfioManager : DefaultOff {
  DriverManager driver_manager;

  template <class V>
  void Visit(V& v) {
    Component::Visit(v);
    v("driverManager", driver_manager,
      {.description = "The driver manager, which unloads drivers before devices are bound to vfio-pci."});
  }
  bool operator==(const VfioManager&) const = default;
};

struct VgpuDeviceManagerConfig {
  std::string name, default_config = "default";

  template <class V>
  void Visit(V& v) {
    v("name", name, {.description = "Name of a ConfigMap with vGPU configurations; the operator's own when left out."});
    v("default", default_config,
      {.description = "Configuration of nodes without the label nvidia.com/vgpu.config.", .defaulted = true});
  }
  bool operator==(const VgpuDeviceManagerConfig&) const = default;
};

struct VgpuDeviceManager : DefaultOff {
  std::optional<VgpuDeviceManagerConfig> config;

  template <class V>
  void Visit(V& v) {
    Component::Visit(v);
    v("config", config, {.description = "vGPU types that nodes choose from by label."});
  }
  bool operator==(const VgpuDeviceManager&) const = default;
};

struct CcManager : DefaultOff {
  std::string default_mode;

  template <class V>
  void Visit(V& v) {
    Component::Visit(v);
    v("defaultMode", default_mode,
      {.description = "Confidential Computing mode of GPUs that no label speaks of.",
       .enumeration = {"on", "off", "devtools"}});
  }
  bool operator==(const CcManager&) const = default;
};

struct KataArtifacts {
  std::string url, pull_secret;

  template <class V>
  void Visit(V& v) {
    v("url", url, {.description = "Where the artifacts are pulled from.", .required = true});
    v("pullSecret", pull_secret, {.description = "Name of a Secret with the registry's credentials."});
  }
  bool operator==(const KataArtifacts&) const = default;
};

struct KataRuntimeClass {
  std::string name;
  std::map<std::string, std::string> node_selector;
  KataArtifacts artifacts;

  template <class V>
  void Visit(V& v) {
    v("name", name, {.description = "Name of the RuntimeClass.", .required = true});
    v("nodeSelector", node_selector, {.description = "Labels of the nodes that it can run on."});
    v("artifacts", artifacts, {.description = "Kernel and image of the virtual machine.", .required = true});
  }
  bool operator==(const KataRuntimeClass&) const = default;
};

struct KataManagerConfig {
  std::string artifacts_dir = "/opt/nvidia-gpu-operator/artifacts/runtimeclasses";
  std::vector<KataRuntimeClass> runtime_classes;

  template <class V>
  void Visit(V& v) {
    v("artifactsDir", artifacts_dir, {.description = "Where artifacts are kept on the host.", .defaulted = true});
    v("runtimeClasses", runtime_classes, {.description = "Kata runtime classes."});
  }
  bool operator==(const KataManagerConfig&) const = default;
};

/// Accepted, deprecated, never deployed.
struct KataManager : DefaultOff {
  std::optional<KataManagerConfig> config;

  template <class V>
  void Visit(V& v) {
    Component::Visit(v);
    v("config", config, {.description = "Deprecated and without effect."});
  }
  bool operator==(const KataManager&) const = default;
};

struct Validator : Container {
  EnvBlock plugin, toolkit, driver, cuda, vfio_pci, vgpu_manager, vgpu_devices;

  template <class V>
  void Visit(V& v) {
    Container::Visit(v);
    v("plugin", plugin, {.description = "Validation of the device plugin."});
    v("toolkit", toolkit, {.description = "Validation of the container toolkit."});
    v("driver", driver, {.description = "Validation of the driver."});
    v("cuda", cuda, {.description = "Validation by a CUDA program."});
    v("vfioPCI", vfio_pci, {.description = "Validation of devices bound to vfio-pci."});
    v("vgpuManager", vgpu_manager, {.description = "Validation of the vGPU manager."});
    v("vgpuDevices", vgpu_devices, {.description = "Validation of vGPU devices."});
  }
  bool operator==(const Validator&) const = default;
};

}  // namespace gpuop::api
