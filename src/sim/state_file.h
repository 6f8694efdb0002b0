#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"
#include "sim/store.h"

namespace gpuop::sim {

/// The store's writes in a file, so that a restart, even after kill -9, loses none that was acknowledged. Each write is
/// one record, given to the system by write(2) before the write is acknowledged; nothing is fsynced, so a power failure
/// may lose the last ones (a torn end is recognised by its checksum and dropped).
///
/// The format is in docs/embedded-cluster.md. One process at a time may have the file open.
class StateFile final : public CommitLog {
 public:
  /// Opens or creates the file and puts what it holds into `store`, whose revision continues where the file ends.
  /// kInvalid when the file is something else or broken before its end; kUnavailable when another process has it.
  static Result<std::unique_ptr<StateFile>> Open(const std::string& path, Store& store);

  Answer<> Append(std::uint64_t revision, std::string_view table, std::string_view key, std::string_view json) override;

  /// Whether the file has grown to several times what it must hold.
  bool WantsCompaction() const { return size_ > kCompactAbove && size_ > 2 * size_after_compaction_; }
  /// Writes the store as it is into a new file and puts that in the old one's place at once.
  Result<> Compact(const Store& store);
  /// Bytes of the file.
  std::uint64_t size() const { return size_; }
  /// Bytes dropped from the end when it was opened: a record that was being written.
  std::uint64_t dropped() const { return dropped_; }

 private:
  static constexpr std::uint64_t kCompactAbove = 64U << 20U;

  StateFile(std::string path, os::Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  Result<> Load(Store& store);
  Result<> WriteAll(const os::Fd& fd, std::string_view bytes) const;

  std::string path_;
  os::Fd fd_;
  std::uint64_t size_ = 0, size_after_compaction_ = 0, dropped_ = 0;
  std::string buffer_;
};

}  // namespace gpuop::sim
