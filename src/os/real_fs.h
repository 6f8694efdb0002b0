#pragma once

#include <string>

#include "os/fd.h"
#include "os/fs.h"

namespace gpuop::os {

/// The machine's files below a root folder ("/", a container's "/host", a test's own). Every path is resolved by the
/// kernel inside that root (openat2(2), RESOLVE_IN_ROOT; Linux 5.6 or newer), so that a hostile link leads nowhere.
/// Thread-safe.
class RealFs final : public Fs {
 public:
  /// Whether a change waits until it is on the disk. What is made anew at every start of a container need not.
  enum class Durability { kSynced, kNone };

  static Result<std::unique_ptr<RealFs>> Open(const std::string& root, Durability durability = Durability::kSynced);

  Result<std::string> Read(const std::string& path, std::size_t limit = kReadLimit) const override;
  Result<std::string> ReadPart(const std::string& path, std::uint64_t offset, std::size_t size) const override;
  Result<FileInfo> Stat(const std::string& path) const override;
  Result<std::vector<std::string>> List(const std::string& path) const override;
  Result<std::string> ReadLink(const std::string& path) const override;
  Result<std::string> Resolve(const std::string& path) const override;
  Result<> WriteAtomic(const std::string& path, std::string_view bytes,
                       std::optional<FileAttributes> attributes = std::nullopt) override;
  Result<> Append(const std::string& path, std::string_view bytes) override;
  Result<> Rename(const std::string& from, const std::string& to) override;
  Result<> Remove(const std::string& path) override;
  Result<> MakeFolder(const std::string& path, mode_t mode = 0755) override;
  Result<> Symlink(const std::string& target, const std::string& path) override;
  Result<> SetMode(const std::string& path, mode_t mode) override;
  Result<> SetOwner(const std::string& path, uid_t uid, gid_t gid) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override;

 private:
  /// A name in an open folder.
  struct Place {
    Fd folder;
    std::string name;
  };

  RealFs(Fd root, Durability durability) : root_(std::move(root)), durability_(durability) {}
  Result<> Sync(const Fd& folder, const std::string& path) const;
  Result<Fd> OpenInside(const std::string& path, int flags, mode_t mode = 0) const;
  /// The last name of `path` in its open parent; refuses the root itself.
  Result<Place> Locate(const std::string& path) const;

  Fd root_;
  const Durability durability_;
};

}  // namespace gpuop::os
