#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "os/fs.h"

namespace gpuop::os {

/// An Fs in memory that keeps the same promises as RealFs and can fail on request. Not thread-safe.
class FakeFs final : public Fs {
 public:
  FakeFs();

  /// Every call that names this path fails with this.
  std::map<std::string, Error> fail;
  /// Calls that would change something, counted from 1; those from `fail_from` to before `fail_until` fail with
  /// `fault` and change nothing.
  std::size_t fail_from = 0, fail_until = 0;
  Error fault{Code::kIo, "input/output error"};
  std::size_t changes() const { return changes_; }
  /// Writing more than this in all fails as on a full disk.
  std::size_t disk_bytes = std::numeric_limits<std::size_t>::max();
  /// Called before every change, after the faults: the place for what somebody else does meanwhile.
  std::function<void(std::string_view operation, const std::string& path)> before_change;

  /// Puts a file there with its folders, uncounted and without faults.
  void Put(const std::string& path, std::string bytes, FileAttributes attributes = {});
  /// The same for a device node.
  void PutDevice(const std::string& path, DeviceNumbers device, FileAttributes attributes = {.mode = 0666});
  /// All there is, one line each: "/etc/x" to "0644 0:0 bytes", "-> target" or "folder 0755 0:0".
  std::map<std::string, std::string> Snapshot() const;

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
  /// `bytes` is a file's content or a link's target.
  struct Node {
    FileType type = FileType::kFile;
    std::string bytes;
    FileAttributes attributes;
    std::uint64_t inode = 0;
    WallTime modified;
    std::optional<DeviceNumbers> device = std::nullopt;
  };

  /// `path` without links (the last name's own only when `follow`); the last name need not exist.
  Result<std::string> Walk(const std::string& path, bool follow) const;
  Result<std::string> Find(const std::string& path, bool follow) const;
  Result<> Fault(const std::string& path) const;
  /// Counts a change, lets it fail, and says which node `path` names; refuses the root.
  Result<std::string> Begin(std::string_view operation, const std::string& path, bool follow);
  Result<> CheckSpace(std::size_t before, std::size_t after) const;
  Node New(FileType type, std::string bytes, FileAttributes attributes);

  std::map<std::string, Node> nodes_;
  std::shared_ptr<std::set<std::string>> locks_ = std::make_shared<std::set<std::string>>();
  std::size_t changes_ = 0;
  std::uint64_t made_ = 0;
};

}  // namespace gpuop::os
