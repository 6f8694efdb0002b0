#pragma once
// How a container's specification is changed so that it gets the GPUs it asks for.

#include <functional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "container/cdi/inject.h"
#include "container/generate/generate.h"
#include "container/runtime/config.h"
#include "container/runtime/image.h"
#include "data/json.h"

namespace gpuop::container {

/// By which way a container gets its GPUs.
enum class RuntimeMode { kCdi, kJitCdi, kCsv, kLegacy };

/// What is known of the platform, for mode "auto".
struct PlatformFacts {
  bool wsl = false, tegra = false, nvml = false;
  /// A GPU of Tegra's kind among NVML's.
  bool integrated = false;
};

/// `configured` as it stands in the configuration: auto, cdi, jit-cdi, csv or legacy. kInvalid for another word.
Result<RuntimeMode> ResolveRuntimeMode(std::string_view configured, const PlatformFacts& platform,
                                       const std::vector<std::string>& devices);

/// The node as the shim sees it.
struct ShimNode {
  /// The host's root.
  const os::Fs& host;
  /// Below the driver's root.
  const os::Fs& driver;
  std::string driver_root = "/";
  std::string kernel_release = {};
  NodeLookup nodes;
  /// What becomes of a warning.
  std::function<void(const std::string&)> warn;
};

/// Gives the container in `oci` the devices that it asks for. False: it asks for none and is as it was. On an error it
/// is as it was, and the container must not be made.
Result<bool> ModifyForGpus(const RuntimeConfig& config, const ShimNode& node, data::Json& oci);

/// The GPUs from the driver's own files, without NVML: /proc/driver/nvidia. Of MIG devices the instances are known,
/// their UUIDs are not.
MachineFacts FactsFromProc(const os::Fs& host);

/// The id by which the generator knows what a container wrote: a GPU's index for its place on the PCI bus, anything
/// else as it is.
std::string DeviceIdOf(const MachineFacts& machine, const std::string& written);
/// Whether `id` is the UUID of a MIG device, which only NVML and a spec that was made with it know.
bool OnlySpecsKnow(const MachineFacts& machine, const std::string& id);

/// What requirement expressions are judged by, for each different GPU among `devices` ("all", "0", "0:1", "GPU-…"): the
/// driver's version and its CUDA, the GPU's compute capability ("arch") and brand. What is not known is left out. Never
/// empty.
std::vector<Properties> PropertiesOf(const MachineFacts& machine, const std::string& driver_version,
                                     const std::vector<std::string>& devices);

/// Takes what the container's capabilities do not ask for out of a spec: libraries and programs of graphics, video and
/// so on. What belongs to no capability stays.
void KeepCapabilities(const std::vector<std::string>& capabilities, CdiSpec& spec);

}  // namespace gpuop::container
