#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/result.h"
#include "os/fd.h"

namespace gpuop::operands::validator {

/// Reads the kernel's log (/dev/kmsg, Documentation/ABI/testing/dev-kmsg) and waits for more. A regular file of lines
/// that grows is read the same way.
class KernelLog {
 public:
  /// `old`: the line was there before anybody read.
  using OnLine = std::function<void(const std::string& line, bool old)>;

  /// Lines come one at a time on a thread of the log. Records that the kernel overwrote before they were read are lost.
  static Result<std::unique_ptr<KernelLog>> Start(const std::string& path, OnLine on_line);
  /// No line comes once it has returned.
  ~KernelLog();

 private:
  KernelLog(os::Fd log, os::Fd changes, os::Fd end, std::uint64_t there, OnLine on_line);
  void Follow();
  /// Reads all that is there; false when the log is broken.
  bool ReadAll(bool old);

  const os::Fd log_;
  /// inotify of a regular file; not valid for the device, which can be waited for itself.
  const os::Fd changes_;
  const os::Fd end_;
  /// How many bytes were there at the start, and how many have been told.
  const std::uint64_t there_;
  std::uint64_t told_ = 0;
  const OnLine on_line_;
  std::string rest_;
  std::jthread thread_;
};

}  // namespace gpuop::operands::validator
