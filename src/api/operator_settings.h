#pragma once
// Settings of a ClusterPolicy that are about the operator and the nodes, not about one operand.

#include <optional>
#include <string>

#include "api/components.h"
#include "api/monitoring.h"
#include "data/field.h"

namespace gpuop::api {

struct OperatorMetrics {
  ServiceMonitor service_monitor;

  template <class V>
  void Visit(V& v) {
    v("serviceMonitor", service_monitor, {.description = "ServiceMonitor of the operator's own metrics."});
  }
  bool operator==(const OperatorMetrics&) const = default;
};

struct OperatorSettings {
  std::string default_runtime;
  std::string runtime_class = "nvidia";
  std::optional<ImageSource> init_container;
  std::map<std::string, std::string> labels, annotations;
  OperatorMetrics metrics;
  std::optional<bool> use_ocp_driver_toolkit;

  template <class V>
  void Visit(V& v) {
    v("defaultRuntime", default_runtime,
      {.description = "Deprecated and without effect: the container engine of each node is found out."});
    v("runtimeClass", runtime_class,
      {.description = "Name of the RuntimeClass, and of its handler, that GPU operands run with.", .defaulted = true});
    v("initContainer", init_container, {.description = "Deprecated and without effect."});
    v("labels", labels, {.description = "Accepted and without effect; use daemonsets.labels."});
    v("annotations", annotations, {.description = "Accepted and without effect; use daemonsets.annotations."});
    v("metrics", metrics, {.description = "How the operator's own metrics are collected."});
    v("use_ocp_driver_toolkit", use_ocp_driver_toolkit,
      {.description = "On OpenShift, whether drivers are built in the Driver Toolkit's image; on unless false."});
  }
  bool operator==(const OperatorSettings&) const = default;
};

/// A switch and nothing else.
struct Switch {
  std::optional<bool> enabled;

  bool IsEnabled() const { return enabled.value_or(false); }

  template <class V>
  void Visit(V& v) {
    v("enabled", enabled, {.description = "Whether it is switched on; off when left out."});
  }
  bool operator==(const Switch&) const = default;
};

struct SandboxWorkloads {
  std::optional<bool> enabled;
  std::string default_workload = "container", mode = "kubevirt";

  bool IsEnabled() const { return enabled.value_or(false); }

  template <class V>
  void Visit(V& v) {
    v("enabled", enabled, {.description = "Whether nodes may be set up for virtual machines."});
    v("defaultWorkload", default_workload,
      {.description = "What nodes without the label nvidia.com/gpu.workload.config are set up for.",
       .defaulted = true,
       .enumeration = {"container", "vm-passthrough", "vm-vgpu"}});
    v("mode", mode,
      {.description = "What runs the virtual machines: KubeVirt, or Kata Containers.",
       .defaulted = true,
       .enumeration = {"kubevirt", "kata"}});
  }
  bool operator==(const SandboxWorkloads&) const = default;
};

struct Cdi {
  bool enabled = true, is_default = false, nri_plugin = false;

  template <class V>
  void Visit(V& v) {
    v("enabled", enabled,
      {.description = "Whether containers get their GPUs by the Container Device Interface.", .defaulted = true});
    v("default", is_default, {.description = "Deprecated and without effect.", .defaulted = true});
    v("nriPluginEnabled", nri_plugin,
      {.description = "Whether devices are injected by an NRI plugin, so that no RuntimeClass is needed. Needs "
                      "cdi.enabled and the toolkit.",
       .defaulted = true});
  }
  bool operator==(const Cdi&) const = default;
};

struct HostPaths {
  std::string root_fs, driver_install_dir, kubelet_root_dir = "/var/lib/kubelet";

  template <class V>
  void Visit(V& v) {
    v("rootFS", root_fs, {.description = "The host's root as seen by the kubelet; / when left out."});
    v("driverInstallDir", driver_install_dir,
      {.description = "Where the driver container puts the driver's files on the host; /run/nvidia/driver when left "
                      "out."});
    v("kubeletRootDir", kubelet_root_dir, {.description = "The kubelet's root directory.", .defaulted = true});
  }
  bool operator==(const HostPaths&) const = default;
};

struct Mig {
  std::string strategy;

  template <class V>
  void Visit(V& v) {
    v("strategy", strategy,
      {.description = "How MIG devices are offered: not at all, as nvidia.com/gpu when all are alike, or by profile.",
       .enumeration = {"none", "single", "mixed"}});
  }
  bool operator==(const Mig&) const = default;
};

}  // namespace gpuop::api
