#pragma once
// Label keys that manifests and the operator agree on.

#include <string>
#include <string_view>

#include "operands/facts.h"

namespace gpuop::operands {

/// On every object that we make: the state it belongs to. What carries it and is wanted no longer is deleted.
inline constexpr const char* kStateLabel = "nvidia.com/gpu-operator.state";

/// On GPU nodes, and in the selectors of DaemonSets that depend on it; on such a DaemonSet the group it serves. Ours,
/// not node feature discovery's: a discovery label that is away for a moment must not remove a driver.
inline constexpr const char* kOsLabel = "nvidia.com/gpu-operator.os";            ///< OS tag: ubuntu24.04, rhel9
inline constexpr const char* kRuntimeLabel = "nvidia.com/gpu-operator.runtime";  ///< containerd, docker, crio
inline constexpr const char* kKernelLabel = "nvidia.com/gpu-operator.kernel";    ///< `uname -r`, made a label value
inline constexpr const char* kRhcosLabel = "nvidia.com/gpu-operator.rhcos";  ///< version of RHCOS: 418.94.20250716-0

/// Selects nodes for an operand: "nvidia.com/gpu.deploy." and one of controller.md's names.
inline std::string DeployLabel(std::string_view operand) {
  return std::string("nvidia.com/gpu.deploy.").append(operand);
}

/// The tag of driver images for an OS: ID and VERSION_ID, of which Red Hat's family has only the major part. "" when
/// the ID is empty.
std::string OsTag(std::string_view os_id, std::string_view os_version);

/// A kernel's name in image-independent form, for names and labels: "5.14.0-427.37.1.el9_4.x86_64" is
/// "5.14.0-427.37.1.el9.4".
std::string SanitizedKernel(std::string_view kernel);

/// What a node of that group must be labelled with, of the four above, as far as known. Those that are missing here
/// must not be removed from a node for that reason alone.
StringMap GroupLabels(const NodeGroup& group);

}  // namespace gpuop::operands
