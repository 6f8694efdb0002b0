#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/result.h"
#include "os/fd.h"

namespace gpuop::os {

/// Notices that something which should happen again and again does so no more. The time is kept by a timer of the
/// kernel: a touch is one system call and wakes no thread. Thread-safe.
class Watchdog {
 public:
  /// `on_silence` runs on a thread of the watchdog's.
  static Result<std::unique_ptr<Watchdog>> Start(std::function<void()> on_silence);
  /// Waits for a running `on_silence`.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Unless touched again, or told to rest, it speaks up in `limit`; once.
  void Touch(Duration limit) const;
  void Rest() const;

 private:
  Watchdog(Fd timer, std::function<void()> on_silence);

  const Fd timer_;
  std::jthread thread_;
};

}  // namespace gpuop::os
