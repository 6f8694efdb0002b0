// Hooks that only write files below the root.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "container/hooks/hooks.h"
#include "data/glob.h"

namespace gpuop::container {
namespace {

constexpr const char* kConfig = "/etc/ld.so.conf";
constexpr const char* kFolder = "/etc/ld.so.conf.d";

bool IsThere(const os::Fs& root, const std::string& path) { return os::Exists(root, path).value_or(false); }

/// The folders that a loader's configuration names, with those it includes, one level deep as ldconfig's own has it.
void ReadFolders(const os::Fs& root, const std::string& path, std::set<std::string>& out, int depth = 0) {
  constexpr int kDeepest = 8;
  const auto text = root.Read(path);
  if (!text || depth > kDeepest) return;
  for (const std::string_view raw : Split(*text, '\n')) {
    const std::string_view line = Trim(raw.substr(0, raw.find('#')));
    if (line.starts_with("include ") || line.starts_with("include\t")) {
      std::string pattern(Trim(line.substr(8)));
      if (!pattern.starts_with('/')) pattern = os::FolderOf(path) + "/" + pattern;
      const std::string folder = os::FolderOf(pattern);
      for (const std::string& name : root.List(folder).value_or(std::vector<std::string>()))
        if (data::MatchGlob(pattern.substr(pattern.rfind('/') + 1), name).value_or(false))
          ReadFolders(root, folder + "/" + name, out, depth + 1);
    } else if (line.starts_with('/')) {
      out.emplace(line);
    }
  }
}

std::vector<std::string> SystemFolders(const os::Fs& root) {
  if (IsThere(root, "/etc/debian_version"))
    return {"/lib/x86_64-linux-gnu",
            "/usr/lib/x86_64-linux-gnu",
            "/lib/aarch64-linux-gnu",
            "/usr/lib/aarch64-linux-gnu",
            "/lib",
            "/usr/lib"};
  return {"/lib64", "/usr/lib64", "/lib", "/usr/lib"};
}

std::string Lines(const std::vector<std::string>& items) { return Join(items, "\n") + "\n"; }

/// musl's loader reads a file of its own.
Result<> WriteMuslPaths(os::Fs& root, const std::vector<std::string>& folders) {
  for (const char* machine : {"x86_64", "aarch64"}) {
    const std::string path = std::string("/etc/ld-musl-") + machine + ".path";
    std::string text = root.Read(path).value_or("/lib\n/usr/local/lib\n/usr/lib\n");
    if (!text.ends_with('\n')) text += '\n';
    const std::vector<std::string_view> lines = Split(text, '\n');
    std::string more;
    for (const std::string& folder : folders)
      if (std::ranges::find(lines, std::string_view(folder)) == lines.end()) more += folder + "\n";
    if (!more.empty()) TRY(root.WriteAtomic(path, text + more));
  }
  return {};
}

}  // namespace

Result<> CreateSymlinks(os::Fs& root, const std::vector<std::string>& links) {
  std::set<std::string> done;
  for (const std::string& pair : links) {
    if (!done.insert(pair).second) continue;
    const std::size_t middle = pair.find("::");
    if (middle == std::string::npos || pair.find("::", middle + 2) != std::string::npos)
      return Fail(Code::kInvalid, "link " + Quote(pair) + " is not target::link");
    const std::string target = pair.substr(0, middle);
    std::string link = pair.substr(middle + 2);
    if (!link.starts_with('/')) link.insert(0, "/");
    if (root.ReadLink(link).value_or("") == target) continue;
    TRY(os::MakeFolders(root, os::FolderOf(link)));
    TRY(root.Symlink(target, link));
  }
  return {};
}

Result<> WriteLoaderConfig(os::Fs& root, const std::vector<std::string>& folders) {
  if (folders.empty()) return {};
  for (const std::string& folder : folders)
    if (!folder.starts_with('/') || FindControl(folder) != std::string::npos)
      return Fail(Code::kInvalid, "folder " + Quote(folder) + " is no absolute path of plain characters");
  TRY(os::MakeFolders(root, kFolder));
  const std::string ours = std::string(kFolder) + "/00-nvcr-gpu.conf",
                    last = std::string(kFolder) + "/zz-nvcr-gpu.conf";
  if (!IsThere(root, kConfig)) TRY(root.WriteAtomic(kConfig, "include " + std::string(kFolder) + "/*.conf\n"));
  std::set<std::string> known;
  // What we wrote at an earlier start of this container does not count.
  for (const std::string& path : {ours, last})
    if (IsThere(root, path)) TRY(root.Remove(path));
  ReadFolders(root, kConfig, known);
  const std::vector<std::string> system = SystemFolders(root);
  known.insert(system.begin(), system.end());
  std::vector<std::string> fresh;
  for (const std::string& folder : folders)
    if (known.insert(folder).second) fresh.push_back(folder);
  if (!fresh.empty()) TRY(root.WriteAtomic(ours, Lines(fresh)));
  TRY(root.WriteAtomic(last, Lines(system)));
  return IsThere(root, "/etc/alpine-release") ? WriteMuslPaths(root, folders) : Result<>();
}

std::optional<std::string> WithoutDeviceNodeModification(std::string_view params) {
  constexpr std::string_view kOn = "ModifyDeviceFiles: 1";
  std::string out;
  bool found = false;
  std::string_view rest = params;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    found = found || line == kOn;
    out.append(line == kOn ? "ModifyDeviceFiles: 0" : line).append("\n");
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return found ? std::optional(out) : std::nullopt;
}

std::optional<std::string> ApplicationProfile(const os::Fs& root) {
  std::uint64_t mask = 0;
  for (const std::string& name : root.List("/dev").value_or(std::vector<std::string>())) {
    if (!name.starts_with("nvidia")) continue;
    const auto number = ParseInt(std::string_view(name).substr(6));
    const auto info = root.Stat("/dev/" + name);
    if (!number || !info || !info->device || info->device->block) continue;
    if (info->device->minor < 64) mask |= std::uint64_t{1} << info->device->minor;
  }
  if (mask == 0) return std::nullopt;
  char hex[24];
  std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(mask));
  return std::string(R"({"profiles": [{"name": "_container_", "settings": ["EGLVisibleDGPUDevices", )") + hex +
         R"(]}], "rules": [{"pattern": [], "profile": "_container_"}]})" + "\n";
}

Result<> WriteApplicationProfile(os::Fs& root) {
  const auto text = ApplicationProfile(root);
  if (!text) return {};
  const std::string folder = "/etc/nvidia/nvidia-application-profiles-rc.d";
  TRY(os::MakeFolders(root, folder));
  return root.WriteAtomic(folder + "/10-container.conf", *text);
}

}  // namespace gpuop::container
