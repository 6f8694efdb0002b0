#include "operands/host/kernel_module.h"

#include <array>
#include <optional>
#include <vector>

#include "base/text.h"

namespace gpuop::operands::host {
namespace {

constexpr std::array kFolders = {"/updates/dkms",
                                 "/updates",
                                 "/extra",
                                 "/extra/nvidia",
                                 "/weak-updates/nvidia",
                                 "/kernel/drivers/video",
                                 "/kernel/nvidia",
                                 "/kernel/drivers/video/nvidia"};
constexpr std::array kNames = {"/nvidia.ko", "/nvidia.ko.zst", "/nvidia.ko.xz", "/nvidia.ko.gz"};
constexpr std::size_t kPart = 1U << 20U;

std::optional<std::string> ModuleOf(const os::Fs& fs, const std::string& kernel_folder) {
  for (const char* const folder : kFolders)
    for (const char* const name : kNames)
      if (std::string path = kernel_folder + folder + name; os::Exists(fs, path).value_or(false)) return path;
  return std::nullopt;
}

/// The kernel that a module says it was built for: the first word after "vermagic=" in its .modinfo section. Empty
/// when it does not say.
std::string BuiltFor(const os::Fs& fs, const std::string& path) {
  constexpr std::string_view kKey = "vermagic=";
  std::string window;
  for (std::uint64_t offset = 0;; offset += kPart) {
    const auto part = fs.ReadPart(path, offset, kPart);
    if (!part || part->empty()) return {};
    window += *part;
    const std::size_t at = window.find(kKey);
    if (at != std::string::npos && window.size() - at > 256) {
      window.erase(0, at + kKey.size());
    } else if (at != std::string::npos && part->size() < kPart) {
      window.erase(0, at + kKey.size());
    } else if (part->size() < kPart) {
      return {};
    } else {
      // Enough to find a key, and what follows it, that is cut in two.
      window.erase(0, at != std::string::npos ? at : window.size() - kKey.size());
      continue;
    }
    return window.substr(0, window.find_first_of(std::string_view(" \0\n", 3)));
  }
}

}  // namespace

std::string KernelRelease(const os::Fs& host) {
  const auto text = host.Read("/proc/version");
  if (!text) return {};
  const auto words = Split(*text, ' ');
  return words.size() > 2 ? std::string(Trim(words[2])) : std::string();
}

ModuleFile FindModule(const os::Fs& host, const os::Fs& driver, std::string_view kernel) {
  ModuleFile out;
  std::string elsewhere;
  for (const os::Fs* fs : {&driver, &host}) {
    const auto kernels = fs->List("/lib/modules");
    if (!kernels) continue;
    for (const std::string& release : *kernels) {
      const auto path = ModuleOf(*fs, "/lib/modules/" + release);
      if (!path) continue;
      if (release != kernel) {
        elsewhere = *path;
        continue;
      }
      out.path = *path;
      const std::string built = BuiltFor(*fs, *path);
      if (!built.empty() && built != kernel)
        out.mismatch = *path + " was built for " + built + ", the kernel is " + std::string(kernel);
      return out;
    }
  }
  if (!elsewhere.empty() && !kernel.empty())
    out.mismatch = elsewhere + " is for another kernel than this one, " + std::string(kernel);
  return out;
}

}  // namespace gpuop::operands::host
