#include "sim/node/pod/pod_volumes.h"

#include <unistd.h>

#include "base/text.h"

namespace gpuop::sim::node {
namespace {

/// The keys of an object as files: all, or those that `items` name.
Result<> AddKeys(VolumeFiles& out, const KeyedVolume& volume, std::int32_t mode, std::string_view kind,
                 const ReadObject& read) {
  auto data = read(volume.object());
  if (!data && data.error().code == Code::kNotFound && volume.optional) return {};
  if (!data) return std::unexpected(std::move(data).error());
  if (volume.items.empty()) {
    for (auto& [key, value] : *data) out[key] = {value, mode};
    return {};
  }
  for (const KeyToPath& item : volume.items) {
    const auto it = data->find(item.key);
    if (it == data->end() && volume.optional) continue;
    if (it == data->end()) {
      const bool secret = kind == "secret";
      return Fail(Code::kNotFound, secret ? "references non-existent secret key: " + item.key
                                          : "configmap references non-existent config key: " + item.key);
    }
    out[item.path] = {it->second, item.mode.value_or(mode)};
  }
  return {};
}

Result<> AddDownward(VolumeFiles& out, const PodWish& pod, const DownwardVolume& volume, std::int32_t mode,
                     const PodFacts& facts) {
  for (const DownwardFile& file : volume.items) {
    std::string value;
    if (file.field) {
      ASSIGN(value, FieldValue(pod, facts, file.field->path));
    } else if (file.resource) {
      const ContainerWish* c = pod.Find(file.resource->container);
      if (c == nullptr) return Fail(Code::kInvalid, "container " + file.resource->container + " not found");
      ASSIGN(value, ResourceValue(pod, *c, facts, *file.resource));
    }
    out[file.path] = {std::move(value), file.mode.value_or(mode)};
  }
  return {};
}

Result<> AddProjected(VolumeFiles& out, const PodWish& pod, const ProjectedVolume& volume, const PodFacts& facts,
                      const Sources& sources) {
  for (const Projection& p : volume.sources) {
    if (p.config_map) TRY(AddKeys(out, *p.config_map, volume.mode, "configmap", sources.config_map));
    if (p.secret) TRY(AddKeys(out, *p.secret, volume.mode, "secret", sources.secret));
    if (p.downward) TRY(AddDownward(out, pod, *p.downward, volume.mode, facts));
    if (!p.token) continue;
    ASSIGN(std::string token, sources.token(*p.token));
    out[p.token->path] = {std::move(token), volume.mode};
  }
  return {};
}

bool Names(const std::optional<KeyedVolume>& volume, std::string_view name) {
  return volume && volume->object() == name;
}

/// A path with everything on the way, or what stands in its place.
Result<std::optional<os::FileInfo>> Look(const os::Fs& host, const std::string& path) {
  auto real = host.Resolve(path);
  if (!real && real.error().code == Code::kNotFound) return std::optional<os::FileInfo>();
  if (!real) return std::unexpected(std::move(real).error());
  if (*real == "/") return std::optional(os::FileInfo{.type = os::FileType::kFolder, .attributes = {}, .modified = {}});
  ASSIGN(os::FileInfo info, host.Stat(*real));
  return std::optional(std::move(info));
}

std::string FilesHash(const VolumeFiles& files) {
  std::uint64_t hash = Hash64("");
  for (const auto& [path, file] : files)
    hash = Hash64(file.bytes, Hash64(path, hash) + static_cast<std::uint64_t>(file.mode));
  return std::to_string(hash);
}

/// "folder/key" is shown by its first name.
std::string_view FirstName(std::string_view path) { return path.substr(0, path.find('/')); }

}  // namespace

std::string PodFolder(const std::string& uid) { return "/var/lib/kubelet/pods/" + uid; }

std::string VolumeFolder(const std::string& uid, std::string_view plugin, const std::string& volume) {
  return PodFolder(uid) + "/volumes/kubernetes.io~" + std::string(plugin) + "/" + volume;
}

Result<std::string> VolumePath(const PodWish& pod, const Volume& v) {
  const std::string& uid = pod.meta.uid;
  if (v.host_path) return v.host_path->path;
  if (v.empty_dir && v.empty_dir->medium == "Memory") return "/dev/shm/.volumes/" + uid + "/" + v.name;
  if (v.empty_dir) return VolumeFolder(uid, "empty-dir", v.name);
  if (v.config_map) return VolumeFolder(uid, "configmap", v.name);
  if (v.secret) return VolumeFolder(uid, "secret", v.name);
  if (v.downward) return VolumeFolder(uid, "downward-api", v.name);
  if (v.projected) return VolumeFolder(uid, "projected", v.name);
  return Fail(Code::kUnsupported, "no volume plugin matched");
}

Result<VolumeFiles> PlanVolume(const PodWish& pod, const Volume& v, const PodFacts& facts, const Sources& sources) {
  VolumeFiles out;
  if (v.config_map) TRY(AddKeys(out, *v.config_map, v.config_map->mode, "configmap", sources.config_map));
  if (v.secret) TRY(AddKeys(out, *v.secret, v.secret->mode, "secret", sources.secret));
  if (v.downward) TRY(AddDownward(out, pod, *v.downward, v.downward->mode, facts));
  if (v.projected) TRY(AddProjected(out, pod, *v.projected, facts, sources));
  return out;
}

bool Shows(const Volume& v, std::string_view kind, std::string_view name) {
  const bool map = kind == "ConfigMap";
  if (Names(map ? v.config_map : v.secret, name)) return true;
  return v.projected && std::ranges::any_of(v.projected->sources, [&](const Projection& p) {
           return Names(map ? p.config_map : p.secret, name);
         });
}

Result<> CheckHostPath(os::Fs& host, const HostPathVolume& volume) {
  const std::string& type = volume.type;
  ASSIGN(auto there, Look(host, volume.path));
  // With no type the kubelet looks at nothing, and containerd makes what is missing.
  if (type.empty()) return there ? Result<>() : os::MakeFolders(host, volume.path);
  const auto complain = [&](std::string_view what) -> Result<> {
    return Fail(Code::kInvalid, "hostPath type check failed: " + volume.path + " is not " + std::string(what));
  };
  const auto is = [&](os::FileType wanted) { return there && there->type == wanted; };
  if (type == "DirectoryOrCreate" && !there) return os::MakeFolders(host, volume.path);
  if (type == "FileOrCreate" && !there) return host.WriteAtomic(volume.path, "");
  if (type == "Directory" || type == "DirectoryOrCreate")
    return is(os::FileType::kFolder) ? Result<>() : complain("a directory");
  if (type == "File" || type == "FileOrCreate") return is(os::FileType::kFile) ? Result<>() : complain("a file");
  // What a simulated machine calls a device may be a file: its libraries, not the kernel, stand behind it.
  if (type == "Socket") return is(os::FileType::kOther) ? Result<>() : complain("a socket file");
  const bool node = is(os::FileType::kOther) || (is(os::FileType::kFile) && volume.path.starts_with("/dev/"));
  if (type == "CharDevice") return node ? Result<>() : complain("a character device");
  if (type == "BlockDevice") return is(os::FileType::kOther) ? Result<>() : complain("a block device");
  return Fail(Code::kInvalid, type + " is an invalid volume type");
}

Result<> WriteVolume(os::Fs& host, const std::string& folder, const VolumeFiles& files, std::uint64_t version) {
  const std::string name = "..v" + std::to_string(version) + "_" + FilesHash(files), data = folder + "/..data";
  auto old = host.ReadLink(data);
  const std::string old_name = old ? *old : std::string();
  if (old_name.substr(std::min(old_name.find('_'), old_name.size())) == name.substr(name.find('_'))) return {};
  TRY(os::MakeFolders(host, folder + "/" + name));
  for (const auto& [path, file] : files) {
    const std::string at = folder + "/" + name + "/" + path;
    ASSIGN(const auto split, os::SplitPath(at));
    TRY(os::MakeFolders(host, split.first));
    TRY(host.WriteAtomic(at, file.bytes, os::FileAttributes{static_cast<mode_t>(file.mode), ::geteuid(), ::getegid()}));
  }
  TRY(host.Symlink(name, data));
  for (const auto& [path, file] : files) {
    const std::string first(FirstName(path)), at = folder + "/" + first;
    if (auto link = host.ReadLink(at); !link) TRY(host.Symlink("..data/" + first, at));
  }
  if (old_name.empty()) return {};
  // What is shown no more goes, as does the old version.
  ASSIGN(const auto names, host.List(folder));
  for (const std::string& shown : names) {
    const bool stays = shown.starts_with("..") ||
                       std::ranges::any_of(files, [&](const auto& f) { return FirstName(f.first) == shown; });
    if (!stays) TRY(host.Remove(folder + "/" + shown));
  }
  return os::RemoveTree(host, folder + "/" + old_name);
}

}  // namespace gpuop::sim::node
