#pragma once
// Where the host's files are for a program in a Pod.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "os/fs.h"

namespace gpuop::operands::nfd {

/// The host's files by the names that they have on the host. In node feature discovery's Pods its /sys is mounted at
/// /host-sys, /boot at /host-boot, and so on; where such a folder is missing the program's own is the host's.
class Host {
 public:
  /// `root` stands before everything ("" in life): a folder that holds a host's tree.
  explicit Host(const os::Fs& fs, std::string root = "");

  /// Where a path of the host is: "/sys/class/net" may be "/host-sys/class/net".
  std::string At(const std::string& path) const;
  Result<std::string> Read(const std::string& path, std::size_t limit = os::Fs::kReadLimit) const;
  /// The file's text without blanks at its ends; nullopt when it cannot be read.
  std::optional<std::string> Line(const std::string& path) const;
  std::optional<std::int64_t> Number(const std::string& path) const;
  /// The names in a folder; none when it cannot be read.
  std::vector<std::string> List(const std::string& path) const;
  /// The same; `failed` is set when the folder is there and cannot be read.
  std::vector<std::string> List(const std::string& path, bool& failed) const;
  bool Exists(const std::string& path) const;
  const os::Fs& fs() const { return fs_; }

 private:
  const os::Fs& fs_;
  const std::string root_;
  /// Paths of the host that have a mount of their own.
  std::vector<std::string> mounted_;
};

}  // namespace gpuop::operands::nfd
