#include "gpu/driver_root.h"

#include <array>

#include "os/real_fs.h"

namespace gpuop::gpu {
namespace {

constexpr std::array<std::string_view, 8> kFolders = {
    "/usr/lib64",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/wsl/lib",
    "",
};

std::string Path(std::string_view folder, std::string_view soname) {
  return std::string(folder).append("/").append(soname);
}

}  // namespace

std::vector<std::string> DriverLibraryCandidates(const std::string& driver_root, std::string_view soname) {
  std::vector<std::string> candidates;
  if (driver_root.empty() || driver_root == "/") {
    candidates.emplace_back(soname);
    for (const std::string_view folder : kFolders) candidates.push_back(Path(folder, soname));
    return candidates;
  }
  auto fs = os::RealFs::Open(driver_root);
  if (!fs) return candidates;
  for (const std::string& path : DriverLibrariesIn(**fs, soname)) candidates.push_back(driver_root + path);
  return candidates;
}

std::vector<std::string> DriverLibrariesIn(const os::Fs& root, std::string_view soname) {
  std::vector<std::string> found;
  for (const std::string_view folder : kFolders)
    if (auto path = root.Resolve(Path(folder, soname))) found.push_back(*std::move(path));
  return found;
}

}  // namespace gpuop::gpu
