#pragma once
// Label and annotation keys that NVIDIA's software and its users know.

#include <string_view>

namespace gpuop::op {

// What node feature discovery says of a node.
inline constexpr std::string_view kFeaturePrefix = "feature.node.kubernetes.io/";
inline constexpr std::string_view kPciLabels[] = {"feature.node.kubernetes.io/pci-10de.present",
                                                  "feature.node.kubernetes.io/pci-0302_10de.present",
                                                  "feature.node.kubernetes.io/pci-0300_10de.present"};
inline constexpr std::string_view kOsId = "feature.node.kubernetes.io/system-os_release.ID";
inline constexpr std::string_view kOsVersion = "feature.node.kubernetes.io/system-os_release.VERSION_ID";
inline constexpr std::string_view kKernelVersion = "feature.node.kubernetes.io/kernel-version.full";
inline constexpr std::string_view kRhcosVersion = "feature.node.kubernetes.io/system-os_release.OSTREE_VERSION";

// What GPU feature discovery says.
inline constexpr std::string_view kGpuProduct = "nvidia.com/gpu.product";
inline constexpr std::string_view kMigCapable = "nvidia.com/mig.capable";
inline constexpr std::string_view kVgpuHostDriver = "nvidia.com/vgpu.host-driver-version";

// What people say.
inline constexpr std::string_view kDeployOperands = "nvidia.com/gpu.deploy.operands";
inline constexpr std::string_view kWorkloadConfig = "nvidia.com/gpu.workload.config";
inline constexpr std::string_view kUpgradeSkip = "nvidia.com/gpu-driver-upgrade.skip";

// What the operator says.
inline constexpr std::string_view kGpuPresent = "nvidia.com/gpu.present";
inline constexpr std::string_view kDeployPrefix = "nvidia.com/gpu.deploy.";
inline constexpr std::string_view kMigConfig = "nvidia.com/mig.config";
inline constexpr std::string_view kDriverOwner = "nvidia.com/gpu-operator.driver.owner";
inline constexpr std::string_view kUpgradeState = "nvidia.com/gpu-driver-upgrade-state";
inline constexpr std::string_view kUpgradeEnabled = "nvidia.com/gpu-driver-upgrade-enabled";  ///< an annotation
/// An annotation on nodes that leave one workload for another.
inline constexpr std::string_view kWorkloadChanging = "nvidia.com/gpu-operator.workload-changing";
/// An annotation on nodes: the taints and conditions by which operands may have marked it (node_marks.h).
inline constexpr std::string_view kNodeMarks = "nvidia.com/gpu-operator.node-marks";
/// What the driver manager makes of "true" while it works on a node.
inline constexpr std::string_view kPaused = "paused-for-driver-upgrade";
/// What the driver manager writes where the host brings its own driver.
inline constexpr std::string_view kPreInstalled = "pre-installed";

// What the Pods of operands that mark nodes carry.
inline constexpr std::string_view kAppLabel = "app";
inline constexpr std::string_view kValidatorApp = "nvidia-operator-validator";
inline constexpr const char* kMarkingPodsSelector = "app in (nvidia-device-plugin-daemonset,nvidia-operator-validator)";

}  // namespace gpuop::op
