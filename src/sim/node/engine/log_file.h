#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "os/fd.h"

namespace gpuop::sim::node {

/// What a container says, line by line, as a file in the container runtime interface's format:
/// `2026-01-02T03:04:05.000000006Z stdout F text`, with P for a part of a line that is too long or not ended.
class LogFile {
 public:
  /// A line longer than this is cut into parts.
  static constexpr std::size_t kLongestPart = 16U << 10;

  /// Makes the file and the folders above it. A file that cannot be made keeps nothing.
  explicit LogFile(const std::string& path);

  /// Takes some bytes of a stream ("stdout", "stderr").
  void Take(std::string_view stream, std::string_view bytes, WallTime now);
  /// No more will come: writes what has no line end yet.
  void Finish(WallTime now);

 private:
  void Write(std::string_view stream, char tag, std::string_view text, WallTime now);
  std::string& Pending(std::string_view stream) { return stream == "stdout" ? out_ : err_; }

  os::Fd file_;
  std::string out_, err_;
};

/// One record: the time, the stream, whether the line goes on, and the text. False when `line` (without its end) is
/// none.
struct LogRecord {
  std::string_view time, stream, text;
  bool partial = false;
};
bool ParseLogRecord(std::string_view line, LogRecord& out);

}  // namespace gpuop::sim::node
