#pragma once
// What the hooks of our CDI specs do inside a container that is being made. Everything the container's image holds is
// hostile: paths are resolved below its root by the kernel, nothing of it is run, nothing of it is mounted elsewhere.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "os/fs.h"

namespace gpuop::container {

/// Makes `links` ("target::link") below the root, with the folders above them. A link that is right already stays;
/// whatever else has its name is replaced. Targets are kept as they are written. kInvalid names a pair that is none.
Result<> CreateSymlinks(os::Fs& root, const std::vector<std::string>& links);

/// Prepares the loader's configuration: the folders that no file names yet go into a file of ours in /etc/ld.so.conf.d,
/// the system's own folders into one behind all others. No folder: nothing is written.
Result<> WriteLoaderConfig(os::Fs& root, const std::vector<std::string>& folders);

/// Decides whether the image's CUDA compatibility library is to be used on this host, and returns its folder; "" if
/// not.
struct CompatRequest {
  std::string host_driver_version = {}, host_cuda_version = {};
  /// Where the libraries are in the container; empty: /usr/local/cuda/compat.
  std::string folder = {};
};
Result<std::string> FindCudaCompat(const os::Fs& root, const CompatRequest& request);
/// The above, and the folder before all others in the loader's configuration.
Result<> EnableCudaCompat(os::Fs& root, const CompatRequest& request);

/// /proc/driver/nvidia/params with ModifyDeviceFiles switched off; nullopt when there is nothing to switch.
std::optional<std::string> WithoutDeviceNodeModification(std::string_view params);

/// The application profile that shows EGL only the GPUs whose nodes are in the container; nullopt when it has none.
std::optional<std::string> ApplicationProfile(const os::Fs& root);
Result<> WriteApplicationProfile(os::Fs& root);

/// Where the container's root is: the bundle's config.json and its root.path. `state` is the OCI state that the hook
/// reads from its standard input. kInvalid for a root of "" or "/".
Result<std::string> ContainerRoot(std::string_view state);

}  // namespace gpuop::container
