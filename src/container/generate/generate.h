#pragma once
// Makes CDI specs of a node's GPUs: what NVIDIA's `nvidia-ctk cdi generate` writes, the same bytes for the same node.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "container/cdi/spec.h"
#include "os/fs.h"

namespace gpuop::container {

/// A MIG device.
struct MigFacts {
  /// Its position among its GPU's MIG devices.
  unsigned index = 0;
  std::string uuid = {};
  unsigned gpu_instance = 0, compute_instance = 0;
  /// Its profile has the attribute "gfx".
  bool graphics = false;
};

/// A GPU as the driver reports it.
struct GpuFacts {
  /// NVML's index; the minor is the N of /dev/nvidiaN and may differ.
  unsigned index = 0, minor = 0;
  std::string uuid = {};
  /// As sysfs writes it: "0000:3b:00.0".
  std::string pci = {};
  /// "NVIDIA A100-SXM4-40GB", and PCI's number for it; empty and 0: not known.
  std::string model = {};
  unsigned pci_device = 0;
  bool mig_enabled = false;
  /// Addresses memory coherently with the CPU (ATS).
  bool coherent = false;
  std::vector<MigFacts> mig_devices = {};
};

/// What is known of the node besides its files.
struct MachineFacts {
  /// "550.163.01"; empty: taken from the name of libcuda or libnvidia-ml.
  std::string driver_version = {};
  std::vector<GpuFacts> gpus = {};
  /// `uname -r`, for firmware folders.
  std::string kernel_release = {};
};

/// The node's files. The three may be one.
struct NodeFiles {
  /// Below the driver's root, as this process sees it.
  const os::Fs& driver;
  /// Below the root of the device nodes.
  const os::Fs& devices;
  /// The host's /proc and /sys.
  const os::Fs& host;
};

/// What a spec describes: GPUs (found by NVML, by WSL or from a Tegra's csv files; kAuto chooses), or one kind of what
/// containers need besides.
enum class CdiMode { kAuto, kNvml, kManagement, kGds, kMofed, kImex, kNvswitch, kGdrcopy, kWsl, kCsv };
/// nullopt for a name that is none.
std::optional<CdiMode> CdiModeNamed(std::string_view name);

/// How devices are called.
enum class CdiNaming { kIndex, kTypeIndex, kUuid };
/// nullopt for a name that is none.
std::optional<CdiNaming> CdiNamingNamed(std::string_view name);

/// How a spec is made; the defaults are those of nvidia-ctk cdi generate.
struct GenerateOptions {
  CdiMode mode = CdiMode::kNvml;
  std::string vendor = "nvidia.com", kind_class = "gpu";
  std::vector<CdiNaming> naming = {CdiNaming::kIndex, CdiNaming::kUuid};
  /// "all", "none", an index, "gpu:mig" or a UUID; of imex a channel.
  std::vector<std::string> devices = {"all"};
  bool all_device = true;

  /// What stands before paths of the driver and the nodes in the spec: the roots as the engine sees them. "/" for none.
  std::string driver_root = "/", dev_root = "/";
  std::string hook_path = "/usr/bin/nvidia-cdi-hook";
  /// Passed on to the hook that updates the loader's cache; empty: its own choice.
  std::string ldconfig_path = {};
  /// Names of hooks, or "all".
  std::set<std::string> disabled_hooks = {}, enabled_hooks = {};
  /// Absolute folders to look in instead of the usual ones.
  std::vector<std::string> library_folders = {}, config_folders = {};
  std::set<std::string> features = {};
  /// csv: the files to read.
  std::vector<std::string> csv_files = {}, csv_ignored = {};
  std::string csv_compat_root = {};
};

/// kUnavailable: the node has nothing that the mode describes. kInvalid: an option or a device that is not there.
Result<CdiSpec> GenerateCdiSpec(const NodeFiles& files, const MachineFacts& machine, const GenerateOptions& options);

/// Whether this is a Tegra system, by the host's files.
bool IsTegra(const os::Fs& host);
/// What kAuto stands for on this node (NVML counts as there when `machine` has GPUs).
CdiMode ResolveCdiMode(const NodeFiles& files, const MachineFacts& machine);

/// With the feature "enable-coherent-annotations": the specs of classes "gpu.coherent" and "gpu.noncoherent", each with
/// the infix of its file's name; those without devices are left out.
Result<std::vector<std::pair<std::string, CdiSpec>>> GenerateCoherentSpecs(const NodeFiles& files,
                                                                           const MachineFacts& machine,
                                                                           const GenerateOptions& options);

/// Moves paths of a spec from one root to another, on path boundaries.
struct RootTransform {
  std::string from, to;
  /// Host paths (mounts, nodes, hooks' programs), or the container's.
  bool host = true;
};
void TransformRoot(CdiSpec& spec, const RootTransform& transform);

}  // namespace gpuop::container
