#pragma once
// Files, as far as this project touches them.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace gpuop::os {

enum class FileType { kFile, kFolder, kSymlink, kOther };

/// Who may do what with a file. `mode` holds the permission bits alone (07777).
struct FileAttributes {
  mode_t mode = 0644;
  uid_t uid = 0;
  gid_t gid = 0;
  bool operator==(const FileAttributes&) const = default;
};

/// What a device node names.
struct DeviceNumbers {
  bool block = false;
  unsigned major = 0, minor = 0;
  bool operator==(const DeviceNumbers&) const = default;
};

struct FileInfo {
  FileType type = FileType::kFile;
  FileAttributes attributes;
  std::uint64_t size = 0;
  std::uint64_t inode = 0;
  WallTime modified = {};
  /// Of a character or block device (a kOther).
  std::optional<DeviceNumbers> device = std::nullopt;
};

/// Held until destroyed, or until the process ends in whatever way.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

/// A tree of files. Paths start at its root ("/etc/x"), whatever folder of the machine that is; links, ".." and
/// absolute link targets cannot lead out of it. Errors name the path; kNotFound and kAlreadyExists mean what they
/// say. What changes one name (WriteAtomic, Rename, Remove, Symlink, MakeFolder) acts on that name itself, is either
/// done or not done whenever the process is killed, and is on the disk when it returns. The rest follows links.
class Fs {
 public:
  static constexpr std::size_t kReadLimit = 4U << 20;

  virtual ~Fs() = default;

  /// The whole of a regular file; kTooLarge when it is longer than `limit` bytes. Never waits for a pipe or device.
  virtual Result<std::string> Read(const std::string& path, std::size_t limit = kReadLimit) const = 0;
  /// At most `size` bytes of a regular file from `offset` on; fewer at its end.
  virtual Result<std::string> ReadPart(const std::string& path, std::uint64_t offset, std::size_t size) const = 0;
  /// Does not follow a link at `path` itself.
  virtual Result<FileInfo> Stat(const std::string& path) const = 0;
  /// The names in a folder, sorted.
  virtual Result<std::vector<std::string>> List(const std::string& path) const = 0;
  virtual Result<std::string> ReadLink(const std::string& path) const = 0;
  /// The path without links; everything on the way must exist.
  virtual Result<std::string> Resolve(const std::string& path) const = 0;

  /// Readers see the old bytes or the new ones, never a mix. Without `attributes` a file that is replaced keeps its
  /// own, and a new one gets 0644 and this process's owner. A link at `path` is replaced by a file: callers that mean
  /// its target Resolve it first. A writer that is killed half-way can leave `.NAME.gpuop-tmp` beside the file, which
  /// the next writer takes over.
  virtual Result<> WriteAtomic(const std::string& path, std::string_view bytes,
                               std::optional<FileAttributes> attributes = std::nullopt) = 0;
  /// Adds at the end of a file, which is made (0644) if need be. A crash may leave a part of `bytes`.
  virtual Result<> Append(const std::string& path, std::string_view bytes) = 0;
  /// Moves `from` over `to`, which may exist if it is not a folder.
  virtual Result<> Rename(const std::string& from, const std::string& to) = 0;
  /// Removes a file, a link or an empty folder.
  virtual Result<> Remove(const std::string& path) = 0;
  /// Makes one folder with exactly this mode; its parent must exist.
  virtual Result<> MakeFolder(const std::string& path, mode_t mode = 0755) = 0;
  /// Makes `path` a link to `target`, in place of a file or link that is there.
  virtual Result<> Symlink(const std::string& target, const std::string& path) = 0;
  virtual Result<> SetMode(const std::string& path, mode_t mode) = 0;
  virtual Result<> SetOwner(const std::string& path, uid_t uid, gid_t gid) = 0;

  /// Locks the file `path`, which is made if need be, against every other Lock of it, of this process too.
  /// kConflict at once when somebody holds it.
  virtual Result<std::unique_ptr<FileLock>> Lock(const std::string& path) = 0;
};

/// Makes `path` and every missing folder above it; not an error when all are there.
Result<> MakeFolders(Fs& fs, const std::string& path, mode_t mode = 0755);
/// Whether something, be it a dangling link, has the name `path`.
Result<bool> Exists(const Fs& fs, const std::string& path);
/// Removes a file, link or empty folder; not an error when nothing is there.
Result<> RemoveIfThere(Fs& fs, const std::string& path);
/// Removes `path` and everything below it, following no link; not an error when nothing is there.
Result<> RemoveTree(Fs& fs, const std::string& path);
/// The names that a killed WriteAtomic or Symlink of `path` can leave beside it.
std::vector<std::string> LeftoversOf(const std::string& path);
/// The folder a path is in and its last name: "/etc/x" is {"/etc", "x"}; "/" is {"/", ""}. kInvalid for an empty
/// path, one with a zero byte, and one that ends in "." or "..".
Result<std::pair<std::string, std::string>> SplitPath(const std::string& path);
/// The folder of an absolute path, by its text alone: "/etc/x" is in "/etc", "/x" in "/". A pattern is a path too.
std::string FolderOf(const std::string& path);

}  // namespace gpuop::os
