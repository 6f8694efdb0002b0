#pragma once
// The chain that a GPU Pod hangs on, and the stable names of what can break in it. Whoever reports a fault (the node's
// validator, `kubectl gpu`, the operator) takes its name, its words and the first command to run from here.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gpuop::api {

/// The links in the order in which they are looked at: the first broken one explains those after it.
enum class Link {
  kHostDriver,    ///< kernel module, device nodes, libraries, the GPU itself
  kToolkit,       ///< container toolkit, CDI specifications, the engine's handlers
  kDevicePlugin,  ///< device plugin, Allocatable
  kScheduler,     ///< requests, labels, taints, architecture
  kCuda,          ///< CUDA in a container
  kHealth,        ///< Xids, ECC, temperature, links: what DCGM watches
};

/// For people: "host driver".
std::string_view Name(Link link);

/// What can be said about a node's GPUs. Codes are never renamed and never get another meaning.
enum class ReasonCode {
  // The GPUs are fit, or nothing is known yet.
  kProved,
  kValidating,
  kValidatorStopped,
  // Host driver.
  kNoGpu,
  kDriverMissing,
  kDriverLibraryMissing,
  kDriverNotLoaded,
  kDriverKernelMismatch,
  kDriverVersionMismatch,
  kDriverNotReady,
  kDriverHung,
  kDriverFailed,
  kDeviceNodeMissing,
  kUvmMissing,
  kFilesystemModuleMissing,
  kNetworkModuleMissing,
  kGpuMissing,
  kGpuOffBus,
  kGpuLost,
  kGpuPower,
  kGpuNeedsReset,
  kFabricNotReady,
  kVfioNotBound,
  kVgpuManagerNotReady,
  kVgpuDevicesMissing,
  kConfidentialModeNotSet,
  kNoPolicy,
  // Toolkit and CDI.
  kToolkitNotReady,
  kRuntimeHandlerMissing,
  kCdiSpecMissing,
  kCdiSpecInvalid,
  kCdiSpecStale,
  kDevicesNotInjected,
  kImageNotPulled,
  kVolumeNotMounted,
  kContainerNotCreated,
  // Device plugin and Allocatable.
  kPluginNotReady,
  kResourceMissing,
  kResourceCountWrong,
  kMigProfileWrong,
  kDeviceUnhealthy,
  kTwoDevicePlugins,
  kAdmissionRefused,
  // Scheduler.
  kDiscoveryNotReady,
  kNoSuchResource,
  kGpusInUse,
  kNodeCordoned,
  kNodeNotReady,
  kTaintNotTolerated,
  kLabelMismatch,
  kArchitectureMismatch,
  kTooFewGpusOnOneNode,
  kOtherResourcesShort,
  kUnschedulable,
  kSchedulerSilent,
  // CUDA in the container.
  kGpuNotRequested,
  kCudaPodFailed,
  kCudaPodTimeout,
  kCudaLibraryMissing,
  kCudaDriverTooOld,
  kCudaNoDevice,
  kCudaInitFailed,
  kCudaFailed,
  kCudaHung,
  kCudaWrongResult,
  kCudaBinaryMismatch,
  kCudaOutOfMemory,
  kProgramFailed,
  // Health.
  kXidFatal,
  kEccUncorrected,
  kRowRemapFailed,
  kRowRemapPending,
  kNvlinkDown,
  kPcieDegraded,
  kThermalSlowdown,
  kPowerBrake,
  kMonitoringNotReady,
  kXidReported,
};

/// Whether work can go on.
enum class Severity {
  kFine,     ///< nothing is wrong
  kWarning,  ///< work runs, worse than it should
  kBroken,   ///< GPU work on the node, or on one of its GPUs, fails
};

struct Reason {
  ReasonCode code;
  /// As in conditions, Events and `--output json`: "DriverNotLoaded".
  std::string_view name;
  Link link;
  Severity severity;
  /// For people; the end of "host driver: …".
  std::string_view words;
  /// The first command to run. `{node}` and `{pod}` stand for names.
  std::string_view first_check;
  /// Whether the command is run on the node itself and not where kubectl is.
  bool on_node;
};

/// Every reason, in the order of ReasonCode, so along the chain.
std::span<const Reason> Reasons();
const Reason& Find(ReasonCode code);
/// By its name; nullptr for a word that is none of ours.
const Reason* FindReason(std::string_view name);

/// Whether the device plugin takes a GPU of which this is said out of what the node offers: fewer GPUs to allocate are
/// then its effect, to be told with it and not instead of it.
bool TakesGpuOut(ReasonCode code);

/// One thing that was found, with the line that shows it.
struct Finding {
  ReasonCode code = ReasonCode::kProved;
  /// What was seen, naming file, device or answer: "nvmlInit_v2: DRIVER_NOT_LOADED".
  std::string evidence = {};
  bool operator==(const Finding&) const = default;
};

/// The finding to report: of those that break work the first along the chain, else the first warning, else nullptr.
const Finding* FirstBroken(std::span<const Finding> findings);

/// The command with its names filled in: "modprobe nvidia; dmesg | tail -n 30 (on node dgx-1)". `pod` may be empty, or
/// "-n NAMESPACE NAME".
std::string FirstCheck(ReasonCode code, std::string_view node, std::string_view pod = {});

/// Type of the node's condition. Its status is True while GPU work can run (also with a warning), False when a link is
/// broken and Unknown when nobody looks; its reason is a Reason's name.
inline constexpr std::string_view kGpuReadyCondition = "gpu-operator.dev/GPUReady";
/// A node's annotation; whenever its value changes the node's whole chain is proved anew.
inline constexpr std::string_view kProveAnnotation = "gpu-operator.dev/prove";
/// "True", "False" or "Unknown".
std::string_view ConditionStatus(ReasonCode code);
/// The condition's message: the link, its words, the evidence, and (if there is something to do) the first check.
/// Longer evidence is cut so that the message stays below 1,024 bytes, which is what an Event holds.
std::string ConditionMessage(const Finding& finding, std::string_view node);
/// Takes the first check out of such a message.
std::optional<std::string_view> FirstCheckIn(std::string_view message);

}  // namespace gpuop::api
