#pragma once
// Where a driver's files are below its root.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "container/elf/ldcache.h"
#include "os/fs.h"

namespace gpuop::container {

/// Finds files of one driver root. Paths are those below the root, without links. Remembers folders it has listed, so
/// make a new one for a new look. Not thread-safe. Borrows `fs`.
class DriverFiles {
 public:
  /// `library_folders` instead of the usual ones when given.
  DriverFiles(const os::Fs& fs, std::vector<std::string> library_folders);

  /// Libraries whose name fits `pattern` ("libcuda.so.*.*"; its folder part is below each library folder), sorted by
  /// path, each file once. Where the folders have none, what the root's ld.so.cache knows.
  std::vector<std::string> Libraries(const std::string& pattern) const;
  /// Files of the folders that fit; at most one a folder and name, links followed.
  std::vector<std::string> Files(const std::vector<std::string>& folders, const std::string& pattern) const;
  /// The first of the candidates that is a file (or a socket), without links; empty when none is.
  std::string First(const std::vector<std::string>& candidates, bool sockets = false) const;
  bool IsLink(const std::string& path) const;

  /// The folders that hold libraries of the driver's `version`.
  std::vector<std::string> VersionFolders(const std::string& version) const;
  /// From the name of libcuda or libnvidia-ml. kNotFound when neither is there.
  Result<std::string> Version() const;

  const os::Fs& fs() const { return fs_; }

 private:
  const std::vector<std::string>& List(const std::string& folder) const;
  /// Where a folder really is; empty when it is nowhere.
  const std::string& RealFolder(const std::string& folder) const;
  /// What a name in a real folder means, without links: a file, or empty. Asked of the system once.
  const std::string& RealFile(const std::string& folder, const std::string& name) const;
  std::vector<std::string> FromCache(const std::string& pattern) const;

  const os::Fs& fs_;
  std::vector<std::string> library_folders_;
  mutable std::map<std::string, std::vector<std::string>> listed_;
  mutable std::map<std::string, std::string> real_folders_, real_files_;
  mutable std::optional<std::vector<LdCacheEntry>> cache_;
};

}  // namespace gpuop::container
