#include "container/generate/parts.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "data/glob.h"

namespace gpuop::container {

std::string BelowRoot(const std::string& root, const std::string& path) {
  std::string_view prefix = root;
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  return std::string(prefix) + path;
}

std::size_t PathDepth(std::string_view path) {
  return static_cast<std::size_t>(std::ranges::count_if(Split(path, '/'), [](auto part) { return !part.empty(); }));
}

bool HasDeviceNode(const Generation& g, const std::string& path) {
  const auto info = g.files.devices.Stat(path);
  return info && (info->device || info->type == os::FileType::kFile);
}

std::vector<std::string> FindDeviceNodes(const Generation& g, const std::string& folder, const std::string& pattern) {
  std::vector<std::string> out;
  const auto names = g.files.devices.List(folder);
  if (!names) return out;
  for (const std::string& name : *names)
    if (const std::string path = folder + "/" + name;
        data::MatchGlob(pattern, name).value_or(false) && HasDeviceNode(g, path))
      out.push_back(path);
  return out;
}

void AddDeviceNode(const Generation& g, const std::string& path, CdiEdits& edits) {
  CdiDeviceNode node{.path = path};
  if (const std::string host = BelowRoot(g.options.dev_root, path); host != path) node.host_path = host;
  const auto info = g.files.devices.Stat(path);
  if (info && info->device) {
    const os::FileAttributes& a = info->attributes;
    node.major = info->device->major;
    node.minor = info->device->minor;
    if (a.mode != 0) node.file_mode = a.mode;
    node.permissions = "rwm";
    if (a.gid != 0) node.gid = a.gid;
    constexpr mode_t kEverybody = 06;
    if (a.gid != 0 && (a.mode & kEverybody) != kEverybody && !g.feature("no-additional-gids-for-device-nodes"))
      edits.additional_gids.push_back(a.gid);
  }
  edits.device_nodes.push_back(std::move(node));
}

void AddControlNodes(const Generation& g, CdiEdits& edits) {
  for (const char* name : {"nvidia-modeset", "nvidia-uvm-tools", "nvidia-uvm", "nvidiactl"})
    if (const std::string path = std::string("/dev/") + name; HasDeviceNode(g, path)) AddDeviceNode(g, path, edits);
}

void AddHook(const Generation& g, const std::string& name, std::vector<std::string> args, CdiEdits& edits) {
  const GenerateOptions& o = g.options;
  const bool disabled = o.disabled_hooks.contains(name) || o.disabled_hooks.contains("all") || name == "chmod";
  if (disabled && !o.enabled_hooks.contains(name)) return;
  const std::string program = o.hook_path.substr(o.hook_path.rfind('/') + 1);
  CdiHook hook{.hook_name = "createContainer", .path = o.hook_path, .args = {program}};
  if (program == "nvidia-ctk") hook.args.emplace_back("hook");
  hook.args.push_back(name);
  hook.args.insert(hook.args.end(), args.begin(), args.end());
  // Never empty: a hook without an environment of its own gets the image's.
  hook.env = {"NVIDIA_CTK_DEBUG=false"};
  edits.hooks.push_back(std::move(hook));
}

std::set<std::string> LibraryFolders(const CdiEdits& edits) {
  std::set<std::string> out;
  for (const CdiMount& mount : edits.mounts) {
    const std::string name = mount.container_path.substr(mount.container_path.rfind('/') + 1);
    const std::size_t so = name.find(".so");
    if (name.starts_with("lib") && so != std::string::npos && so > 3) out.insert(os::FolderOf(mount.container_path));
  }
  return out;
}

void AddLoaderCache(const Generation& g, const std::set<std::string>& folders, CdiEdits& edits) {
  if (folders.empty()) return;
  std::vector<std::string> args;
  if (!g.options.ldconfig_path.empty()) args = {"--ldconfig-path", g.options.ldconfig_path};
  for (const std::string& folder : folders) args.insert(args.end(), {"--folder", folder});
  AddHook(g, "update-ldcache", std::move(args), edits);
}

void AddMount(const Generation& g, const std::string& path, CdiEdits& edits, std::string inside) {
  edits.mounts.push_back({.host_path = BelowRoot(g.options.driver_root, path),
                          .container_path = inside.empty() ? path : std::move(inside),
                          .options = {"ro", "nosuid", "nodev", "rbind", "rprivate"}});
}

std::map<std::string, unsigned> ParseMigMinors(std::string_view text) {
  std::map<std::string, unsigned> out;
  for (const std::string_view line : Split(text, '\n')) {
    const auto parts = Cut(Trim(line), ' ');
    if (!parts) continue;
    const auto minor = ParseInt(parts->second);
    const bool known = parts->first == "config" || parts->first == "monitor" ||
                       (parts->first.starts_with("gpu") && parts->first.ends_with("/access"));
    if (known && minor && *minor >= 0) out[std::string(parts->first)] = static_cast<unsigned>(*minor);
  }
  return out;
}

}  // namespace gpuop::container
