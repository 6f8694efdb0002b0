#include "container/cdi/cache.h"

#include "base/text.h"
#include "container/cdi/names.h"

namespace gpuop::container {
namespace {

bool IsSpecName(std::string_view name) { return name.ends_with(".yaml") || name.ends_with(".json"); }

/// A spec is what its name leads to.
Result<os::FileInfo> StatTarget(const os::Fs& fs, const std::string& path) {
  ASSIGN(const std::string target, fs.Resolve(path));
  return fs.Stat(target);
}

}  // namespace

CdiCache::CdiCache(const os::Fs& fs, std::vector<std::string> folders) : fs_(fs), folders_(std::move(folders)) {}

bool CdiCache::Refresh() {
  std::map<std::string, Seen> seen;
  bool changed = false;
  for (std::size_t priority = 0; priority < folders_.size(); ++priority) ReadFolder(priority, seen, changed);
  changed = changed || seen.size() != seen_.size();
  if (!changed) return false;
  seen_ = std::move(seen);
  Index();
  return true;
}

void CdiCache::ReadFolder(std::size_t priority, std::map<std::string, Seen>& seen, bool& changed) {
  const auto fail = [&](const std::string& path, const Error& error) {
    const auto old = seen_.find(path);
    changed = changed || old == seen_.end() || old->second.file || old->second.file.error() != error;
    seen.insert_or_assign(path, Seen{.priority = priority, .file = std::unexpected(error)});
  };
  const auto names = fs_.List(folders_[priority]);
  if (!names && names.error().code != Code::kNotFound) return fail(folders_[priority], names.error());
  if (!names) return;
  for (const std::string& name : *names) {
    if (!IsSpecName(name)) continue;
    const std::string path = folders_[priority] + "/" + name;
    const auto info = StatTarget(fs_, path);
    if (!info && info.error().code == Code::kNotFound) continue;  // gone since it was listed, or a link to nothing
    if (!info) {
      fail(path, info.error());
      continue;
    }
    if (info->type == os::FileType::kFolder) continue;
    const auto old = seen_.find(path);
    if (old != seen_.end() && old->second.inode == info->inode && old->second.size == info->size &&
        old->second.modified == info->modified && old->second.priority == priority) {
      seen.insert_or_assign(path, old->second);
      continue;
    }
    changed = true;
    seen.insert_or_assign(path, ReadFile(path, priority, *info));
  }
}

CdiCache::Seen CdiCache::ReadFile(const std::string& path, std::size_t priority, const os::FileInfo& info) const {
  const auto read = [&]() -> Result<std::shared_ptr<const CdiFile>> {
    ASSIGN(const std::string text, fs_.Read(path, kCdiSpecLimit));
    ASSIGN(CdiSpec spec, ReadCdiSpec(path, text));
    return std::make_shared<const CdiFile>(CdiFile{path, priority, std::move(spec)});
  };
  return {info.inode, info.size, info.modified, priority, read()};
}

void CdiCache::Index() {
  devices_.clear();
  conflicts_.clear();
  errors_.clear();
  for (const auto& [path, seen] : seen_) {
    if (!seen.file) {
      errors_[path].push_back(seen.file.error());
      continue;
    }
    for (const CdiDevice& device : (*seen.file)->spec.devices) {
      const std::string name = (*seen.file)->spec.kind + "=" + device.name;
      const auto [at, added] = devices_.try_emplace(name, CdiResolved{*seen.file, &device});
      if (added) continue;
      const std::size_t other = at->second.file->priority;
      if (other < seen.priority) {
        at->second = {*seen.file, &device};
        conflicts_.erase(name);
      } else if (other == seen.priority) {
        std::vector<std::string>& paths = conflicts_[name];
        if (paths.empty()) paths.push_back(at->second.file->path);
        paths.push_back(path);
      }
    }
  }
  for (const auto& [name, paths] : conflicts_) {
    devices_.erase(name);
    for (const std::string& path : paths)
      errors_[path].push_back({Code::kConflict, "device " + Quote(name) + " is defined in " + Join(paths, " and in ")});
  }
}

Result<CdiResolved> CdiCache::Find(std::string_view qualified_name) const {
  if (const auto it = devices_.find(qualified_name); it != devices_.end()) return it->second;
  if (const auto it = conflicts_.find(qualified_name); it != conflicts_.end())
    return Fail(Code::kConflict, std::string(qualified_name) + " (defined in " + Join(it->second, " and in ") + ")");
  return Fail(Code::kNotFound, std::string(qualified_name));
}

std::vector<std::string> CdiCache::Devices() const {
  std::vector<std::string> names;
  for (const auto& [name, device] : devices_) names.push_back(name);
  return names;
}

std::vector<std::shared_ptr<const CdiFile>> CdiCache::Files() const {
  std::vector<std::shared_ptr<const CdiFile>> files;
  for (const auto& [path, seen] : seen_)
    if (seen.file) files.push_back(*seen.file);
  return files;
}

}  // namespace gpuop::container
