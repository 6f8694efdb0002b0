#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "os/fs.h"

namespace gpuop::operands::validator {

/// Tells changes of files from mere use. A device node's file "changes" whenever a program that had it open closes it,
/// also one of ours: such a path is news only when the node came, went, or is another one. Thread-safe.
class PathNews {
 public:
  /// Remembers which of `paths` are there. `fs` outlives this.
  PathNews(const os::Fs& fs, const std::vector<std::string>& paths);
  /// Whether any of `changed` is news.
  bool Any(const std::vector<std::string>& changed);

 private:
  std::uint64_t NodeAt(const std::string& path) const;

  const os::Fs& fs_;
  Mutex mu_;
  /// Device nodes by path; 0 for one that is not there.
  std::map<std::string, std::uint64_t> nodes_ GUARDED_BY(mu_);
};

}  // namespace gpuop::operands::validator
