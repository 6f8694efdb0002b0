#include "container/generate/driver_files.h"

#include <algorithm>
#include <set>

#include "data/glob.h"

namespace gpuop::container {
namespace {

std::vector<std::string> UsualLibraryFolders() {
  std::vector<std::string> out = {"/"};
  for (const std::string prefix : {"/usr", ""}) {
    out.push_back(prefix + "/lib64");
    for (const std::string triplet : {"x86_64-linux-gnu", "aarch64-linux-gnu"})
      out.push_back(prefix + "/lib/" + triplet);
    out.push_back(prefix + "/lib64/nvidia/current");
    for (const std::string triplet : {"x86_64-linux-gnu", "aarch64-linux-gnu"})
      out.push_back(prefix + "/lib/" + triplet + "/nvidia/current");
  }
  return out;
}

std::string Below(const std::string& folder, const std::string& name) {
  return folder == "/" ? "/" + name : folder + "/" + name;
}

/// A pattern with what its names begin and end with: folders of a system hold thousands of other names.
class NamePattern {
 public:
  explicit NamePattern(std::string pattern) : pattern_(std::move(pattern)) {
    if (pattern_.find_first_of("[\\") != std::string::npos) return;
    const std::string_view whole = pattern_;
    head_ = whole.substr(0, whole.find_first_of("*?"));
    if (head_.size() < whole.size()) tail_ = whole.substr(whole.find_last_of("*?") + 1);
  }
  bool Fits(const std::string& name) const {
    return name.starts_with(head_) && name.ends_with(tail_) && data::MatchGlob(pattern_, name).value_or(false);
  }

 private:
  const std::string pattern_;
  std::string_view head_, tail_;
};

}  // namespace

DriverFiles::DriverFiles(const os::Fs& fs, std::vector<std::string> library_folders)
    : fs_(fs), library_folders_(std::move(library_folders)) {
  if (library_folders_.empty()) library_folders_ = UsualLibraryFolders();
}

const std::vector<std::string>& DriverFiles::List(const std::string& folder) const {
  const auto [at, added] = listed_.try_emplace(folder);
  if (added) at->second = fs_.List(folder).value_or(std::vector<std::string>());
  return at->second;
}

const std::string& DriverFiles::RealFolder(const std::string& folder) const {
  const auto [at, added] = real_folders_.try_emplace(folder);
  if (added) at->second = fs_.Resolve(folder).value_or("");
  return at->second;
}

const std::string& DriverFiles::RealFile(const std::string& folder, const std::string& name) const {
  const auto [at, added] = real_files_.try_emplace(Below(folder, name));
  if (!added) return at->second;
  const auto named = fs_.Stat(at->first);
  if (!named || named->type == os::FileType::kFile) {
    if (named) at->second = at->first;
    return at->second;
  }
  if (const auto target = fs_.Resolve(at->first))
    if (const auto info = fs_.Stat(*target); info && info->type == os::FileType::kFile) at->second = *target;
  return at->second;
}

std::vector<std::string> DriverFiles::Files(const std::vector<std::string>& folders, const std::string& pattern) const {
  std::set<std::string> found;
  const std::size_t slash = pattern.rfind('/');
  const std::string sub = slash == std::string::npos ? "" : pattern.substr(0, slash);
  const NamePattern wanted(slash == std::string::npos ? pattern : pattern.substr(slash + 1));
  for (const std::string& folder : folders) {
    const std::string& at = RealFolder(sub.empty() ? folder : Below(folder, sub));
    if (at.empty()) continue;
    for (const std::string& name : List(at)) {
      if (!wanted.Fits(name)) continue;
      if (const std::string& file = RealFile(at, name); !file.empty()) found.insert(file);
    }
  }
  return {found.begin(), found.end()};
}

std::vector<std::string> DriverFiles::Libraries(const std::string& pattern) const {
  std::vector<std::string> found = Files(library_folders_, pattern);
  return found.empty() && !pattern.contains('/') ? FromCache(pattern) : found;
}

std::vector<std::string> DriverFiles::FromCache(const std::string& pattern) const {
  constexpr std::size_t kLongest = 16U << 20U;
  if (!cache_) {
    const auto bytes = fs_.Read("/etc/ld.so.cache", kLongest);
    auto entries = bytes ? ReadLdCache(*bytes) : Result<std::vector<LdCacheEntry>>(std::unexpected(bytes.error()));
    cache_ = entries ? *std::move(entries) : std::vector<LdCacheEntry>();
  }
  // The name that programs ask for ("libcuda.so.1") shares its beginning with the file's ("libcuda.so.550.1").
  std::string_view beginning = std::string_view(pattern).substr(0, pattern.find_first_of("*?["));
  if (const std::size_t so = beginning.find(".so"); so != std::string_view::npos)
    beginning = beginning.substr(0, so + 3);
  std::set<std::string> found;
  for (const LdCacheEntry& entry : *cache_) {
    if (!entry.name.starts_with(beginning)) continue;
    const auto target = fs_.Resolve(entry.path);
    if (!target) continue;
    const std::string name = target->substr(target->rfind('/') + 1);
    if (data::MatchGlob(pattern, entry.name).value_or(false) || data::MatchGlob(pattern, name).value_or(false))
      found.insert(*target);
  }
  return {found.begin(), found.end()};
}

std::string DriverFiles::First(const std::vector<std::string>& candidates, bool sockets) const {
  for (const std::string& candidate : candidates) {
    const std::string& folder = RealFolder(os::FolderOf(candidate));
    if (folder.empty()) continue;
    if (const std::string& file = RealFile(folder, candidate.substr(candidate.rfind('/') + 1)); !file.empty())
      return file;
    if (!sockets) continue;
    const auto target = fs_.Resolve(candidate);
    const auto info = target ? fs_.Stat(*target) : Result<os::FileInfo>(std::unexpected(target.error()));
    if (info && info->type == os::FileType::kOther) return *target;
  }
  return "";
}

bool DriverFiles::IsLink(const std::string& path) const {
  const auto info = fs_.Stat(path);
  return info && info->type == os::FileType::kSymlink;
}

std::vector<std::string> DriverFiles::VersionFolders(const std::string& version) const {
  std::set<std::string> folders;
  for (const std::string& path : Libraries("lib*.so." + version)) folders.insert(os::FolderOf(path));
  return {folders.begin(), folders.end()};
}

Result<std::string> DriverFiles::Version() const {
  for (const std::string name : {"libcuda.so.", "libnvidia-ml.so."})
    for (const std::string& path : Libraries(name + "*.*")) {
      const std::size_t at = path.rfind(name);
      if (at != std::string::npos) return path.substr(at + name.size());
    }
  return Fail(Code::kNotFound,
              "the driver's version is not known: there is neither libcuda.so.*.* nor libnvidia-ml.so.*.*");
}

}  // namespace gpuop::container
