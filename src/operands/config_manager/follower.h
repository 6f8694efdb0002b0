#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/metrics.h"
#include "operands/config_manager/options.h"
#include "operands/config_manager/programs.h"
#include "os/fs.h"

namespace gpuop::operands::config_manager {

/// Keeps the link to the configuration that a label names, and tells the program when what it reads there changes: by
/// another label, or by other words in the same file. One call at a time.
class Follower {
 public:
  struct Parts {
    os::Fs& fs;
    Programs& programs;
    Log& log;
    MetricRegistry* metrics = nullptr;
  };
  Follower(Parts parts, Options options);

  /// Makes the link right for a node with this label. Whether the link changed. On an error (Select's, or the file
  /// system's) the link stays as it was. A program that does not run is no error: it reads its file when it starts.
  Result<bool> Follow(const std::optional<std::string>& label);

 private:
  Result<bool> Link(const std::string& target);
  Result<std::uint64_t> ContentOf(const std::string& target) const;
  void Signal();

  os::Fs& fs_;
  Programs& programs_;
  Log& log_;
  const Options options_;
  std::optional<std::uint64_t> content_;  ///< a hash of what the link showed last
  Gauge* good_ = nullptr;
  Counter *links_ = nullptr, *signals_ = nullptr;
};

}  // namespace gpuop::operands::config_manager
