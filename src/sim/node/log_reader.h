#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace gpuop::sim::node {

/// core/v1 PodLogOptions, as far as they select lines.
struct LogChoice {
  bool timestamps = false;
  std::optional<std::int64_t> tail_lines, limit_bytes;
  std::optional<WallTime> since;
  std::string stream;  ///< "Stdout", "Stderr"; empty or "All": both
};

/// Turns a log file's text, piece by piece, into what `kubectl logs` shows. Not thread-safe.
class LogReader {
 public:
  explicit LogReader(LogChoice choice) : choice_(std::move(choice)) {}

  /// What `text`, which follows what came before, adds. `first` is set for the text that was there when reading began:
  /// only of that the tail counts.
  std::string Read(std::string_view text, bool first);
  /// limit_bytes are through.
  bool Full() const { return choice_.limit_bytes && given_ >= *choice_.limit_bytes; }

 private:
  bool Wanted(std::string_view time, std::string_view stream) const;
  LogChoice choice_;
  std::string rest_;
  bool in_line_ = false;
  std::int64_t given_ = 0;
};

}  // namespace gpuop::sim::node
