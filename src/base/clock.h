#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace gpuop {

using Duration = std::chrono::nanoseconds;
/// A moment for measuring spans and setting timers; never goes backwards.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;
/// A moment on the calendar (UTC), as written into objects.
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

/// Where time comes from. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint Now() const = 0;
  virtual WallTime Wall() const = 0;
};

/// The machine's own clocks.
class SystemClock final : public Clock {
 public:
  TimePoint Now() const override { return std::chrono::steady_clock::now(); }
  WallTime Wall() const override { return std::chrono::system_clock::now(); }
};

/// A hand-turned clock. It starts at 2026-01-01T00:00:00Z.
class FakeClock final : public Clock {
 public:
  TimePoint Now() const override { return TimePoint(at_); }
  WallTime Wall() const override { return kStart + at_; }
  void Advance(Duration by) { at_ += by; }

  static constexpr WallTime kStart{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};

 private:
  Duration at_{};
};

/// RFC 3339 in UTC with whole seconds, as metav1.Time: "2026-01-01T00:00:00Z".
std::string FormatTime(WallTime t);
/// RFC 3339 in UTC with microseconds, as metav1.MicroTime: "2026-01-01T00:00:00.000000Z".
std::string FormatMicroTime(WallTime t);
/// Reads RFC 3339 with any fraction and zone; nullopt when it is not that.
std::optional<WallTime> ParseTime(std::string_view text);

}  // namespace gpuop
