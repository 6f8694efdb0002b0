#pragma once
// What the manifests must know of the cluster besides the policy. Plain data, gathered from caches by the operator.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "operands/build/meta.h"

namespace gpuop::operands {

/// Container engines as the toolkit names them: the values of its RUNTIME variable and of the label
/// `nvidia.com/gpu-operator.runtime`.
inline constexpr std::string_view kContainerd = "containerd", kDocker = "docker", kCrio = "crio";

/// GPU nodes that are alike in all that manifests depend on. What a node does not tell stays empty.
struct NodeGroup {
  /// From /etc/os-release: ID and VERSION_ID ("ubuntu", "24.04").
  std::string os_id = {}, os_version = {};
  /// `uname -r`.
  std::string kernel = {};
  /// As Kubernetes spells it: amd64, arm64.
  std::string arch = {};
  /// kContainerd, kDocker or kCrio.
  std::string runtime = {};
  /// RHCOS' OSTREE_VERSION; only on OpenShift.
  std::string rhcos_version = {};
  std::int32_t nodes = 0;

  auto operator<=>(const NodeGroup&) const = default;
};

/// OpenShift's cluster-wide proxy.
struct Proxy {
  std::string http = {}, https = {}, no_proxy = {};
  /// Name of the ConfigMap with the trusted certificates; "" when there is none.
  std::string trusted_ca = {};
  bool operator==(const Proxy&) const = default;
};

/// OpenShift, where the cluster is one.
struct OpenShift {
  bool present = false;
  /// "4.19"
  std::string version = {};
  Proxy proxy = {};
  /// The Driver Toolkit's images by RHCOS version; empty when it cannot be used.
  StringMap driver_toolkit_images = {};
  /// Its ImageStream has a tag without a name.
  bool driver_toolkit_broken = false;
  bool operator==(const OpenShift&) const = default;
};

struct Facts {
  /// The operator's namespace: operands live there.
  std::string ns = {};
  /// The object that what we make belongs to.
  OwnerRef owner = {};

  /// Images from the operator's environment by variable ("DRIVER_IMAGE"): they hold where the policy names none.
  StringMap image_env = {};
  /// The image that the operator itself runs. Its program does the waiting in operands' Pods, whosever images those
  /// use. The validator's image serves when this is empty.
  std::string operator_image = {};
  /// Secrets that the operator's image is pulled with.
  std::vector<std::string> operator_pull_secrets = {};

  /// GPU nodes, grouped. Empty: no DaemonSet is made.
  std::vector<NodeGroup> groups = {};
  /// The group that the DaemonSet of NVIDIA's plain name serves when there are several: the value of the live
  /// DaemonSet's label kOsLabel or kRuntimeLabel. Empty, or served by no node any more: the largest group.
  std::string primary_os = {}, primary_runtime = {};
  /// The engine of the nodes that a DaemonSet is made for; empty: of whichever.
  std::string engine = {};

  OpenShift openshift = {};
  /// Whether the Prometheus Operator's kinds are served.
  bool service_monitors = false, prometheus_rules = false;

  /// Keys of the ConfigMaps in `ns` that the policy names, by ConfigMap (see ReferencesOf). One that is not here does
  /// not exist.
  std::map<std::string, std::vector<std::string>> config_maps = {};
  /// Secrets in `ns` that the policy names and that exist.
  std::set<std::string> secrets = {};
};

}  // namespace gpuop::operands
