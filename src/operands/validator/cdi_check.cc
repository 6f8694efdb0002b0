#include "operands/validator/cdi_check.h"

#include "container/cdi/cache.h"

namespace gpuop::operands::validator {
namespace {

using enum api::ReasonCode;

bool There(const os::Fs& host, const std::string& path) { return host.Resolve(path).has_value(); }

/// The first path of the host that edits name and that is not there.
std::optional<std::string> MissingIn(const os::Fs& host, const container::CdiEdits& edits) {
  for (const container::CdiDeviceNode& node : edits.device_nodes)
    if (const std::string& path = node.host_path.empty() ? node.path : node.host_path; !There(host, path)) return path;
  for (const container::CdiMount& mount : edits.mounts)
    if (mount.host_path.starts_with('/') && !There(host, mount.host_path)) return mount.host_path;
  for (const container::CdiHook& hook : edits.hooks)
    if (!There(host, hook.path)) return hook.path;
  return std::nullopt;
}

std::optional<api::Finding> CheckFile(const os::Fs& host, const container::CdiFile& file) {
  const auto stale = [&](const std::string& where, const std::string& path) {
    return api::Finding{kCdiSpecStale, file.path + ": " + where + " names " + path + ", which is not there"};
  };
  if (const auto path = MissingIn(host, file.spec.edits)) return stale("containerEdits", *path);
  for (const container::CdiDevice& device : file.spec.devices)
    if (const auto path = MissingIn(host, device.edits)) return stale("device " + device.name, *path);
  return std::nullopt;
}

}  // namespace

std::optional<api::Finding> CheckCdi(const os::Fs& host) {
  container::CdiCache cache(host);
  cache.Refresh();
  for (const auto& [path, errors] : cache.errors())
    if (path.find("nvidia") != std::string::npos && !errors.empty())
      return api::Finding{kCdiSpecInvalid, path + ": " + errors.front().text};
  for (const auto& file : cache.Files()) {
    if (!file->spec.kind.starts_with("nvidia.com/") && !file->spec.kind.starts_with("management.nvidia.com/")) continue;
    if (auto found = CheckFile(host, *file)) return found;
  }
  return std::nullopt;
}

}  // namespace gpuop::operands::validator
