#include "operands/host/host_driver.h"

#include <array>

#include "base/text.h"
#include "gpu/driver_root.h"

namespace gpuop::operands::host {
namespace {

constexpr std::array kSmiFolders = {"/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/lib/wsl/lib", "/opt/bin"};
constexpr const char* kWslSmi = "/usr/lib/wsl/lib/nvidia-smi";

/// A line NAME=VALUE or NAME="VALUE" of a file such as os-release.
std::string Setting(const std::string& text, std::string_view name) {
  for (const std::string_view line : Split(text, '\n')) {
    const auto pair = Cut(line, '=');
    if (!pair || Trim(pair->first) != name) continue;
    std::string_view value = Trim(pair->second);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return std::string(value);
  }
  return {};
}

bool NonEmpty(const os::Fs& host, const std::string& path) {
  const auto real = host.Resolve(path);
  if (!real) return false;
  const auto info = host.Stat(*real);
  return info && info->type == os::FileType::kFile && info->size > 0;
}

}  // namespace

std::optional<std::string> FindSmi(const os::Fs& host) {
  for (const char* const folder : kSmiFolders) {
    std::string path = std::string(folder) + "/nvidia-smi";
    const auto real = host.Resolve(path);
    if (!real) continue;
    const auto info = host.Stat(*real);
    if (info && info->type == os::FileType::kFile && info->size > 0 && (info->attributes.mode & 0111U) != 0)
      return path;
  }
  return std::nullopt;
}

HostDriver FindHostDriver(const os::Fs& host) {
  HostDriver out;
  out.wsl = NonEmpty(host, kWslSmi);
  out.smi = FindSmi(host).value_or("");
  const auto libraries = gpu::DriverLibrariesIn(host, "libnvidia-ml.so.1");
  if (!libraries.empty()) out.library = libraries.front();
  return out;
}

std::string PlatformOf(const os::Fs& host) {
  if (const auto dgx = host.Read("/etc/dgx-release")) {
    std::string name = Setting(*dgx, "DGX_PLATFORM");
    if (name.empty()) name = Setting(*dgx, "DGX_NAME");
    if (name.empty()) name = "DGX";
    std::string version = Setting(*dgx, "DGX_OTA_VERSION");
    if (version.empty()) version = Setting(*dgx, "DGX_SWBUILD_VERSION");
    return version.empty() ? name : name + ", version " + version;
  }
  for (const char* const path : {"/etc/os-release", "/usr/lib/os-release"})
    if (const auto os = host.Read(path)) return Setting(*os, "PRETTY_NAME");
  return {};
}

std::string LibraryVersion(const std::string& path) {
  const std::size_t at = path.rfind(".so.");
  if (at == std::string::npos) return {};
  std::string version = path.substr(at + 4);
  return version.find('.') == std::string::npos ? std::string() : version;
}

}  // namespace gpuop::operands::host
