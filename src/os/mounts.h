#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/fs.h"

namespace gpuop::os {

/// One line of /proc/PID/mountinfo (proc(5)).
struct Mount {
  int id = 0;
  int parent = 0;
  unsigned major = 0, minor = 0;
  /// What of the mounted file system is seen here: "/" or, for a bind mount, a path in it.
  std::string root;
  /// Where it is mounted.
  std::string point;
  std::vector<std::string> options;
  /// Optional fields: "shared:1", "master:2", "unbindable".
  std::vector<std::string> propagation;
  std::string type;
  std::string source;
  std::vector<std::string> super_options;

  bool read_only() const;
  bool operator==(const Mount&) const = default;
};

/// Reads mountinfo; octal escapes in names (\040 for a blank) are undone. kInvalid names the line.
Result<std::vector<Mount>> ParseMountInfo(std::string_view text);
/// The mounts that this process sees, in the order in which they were made.
Result<std::vector<Mount>> ReadMounts(const Fs& fs, const std::string& path = "/proc/self/mountinfo");
/// The mount that `path` (absolute, without links) is on; nullptr when there is none.
const Mount* MountOf(std::span<const Mount> mounts, std::string_view path);

}  // namespace gpuop::os
