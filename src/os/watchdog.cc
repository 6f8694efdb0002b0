#include "os/watchdog.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "os/system_error.h"

namespace gpuop::os {
namespace {

void Set(int timer, Duration in) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(in);
  const itimerspec when{.it_interval = {},
                        .it_value = {.tv_sec = seconds.count(), .tv_nsec = static_cast<long>((in - seconds).count())}};
  ::timerfd_settime(timer, 0, &when, nullptr);
}

}  // namespace

Result<std::unique_ptr<Watchdog>> Watchdog::Start(std::function<void()> on_silence) {
  Fd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  if (!timer.valid()) return FailErrno(errno, "watchdog");
  return std::unique_ptr<Watchdog>(new Watchdog(std::move(timer), std::move(on_silence)));
}

Watchdog::Watchdog(Fd timer, std::function<void()> on_silence) : timer_(std::move(timer)) {
  thread_ = std::jthread([fd = timer_.get(), on_silence = std::move(on_silence)](const std::stop_token& stop) {
    for (;;) {
      std::uint64_t times = 0;
      const ssize_t n = ::read(fd, &times, sizeof times);
      if (stop.stop_requested()) return;
      if (n > 0) on_silence();
    }
  });
}

Watchdog::~Watchdog() {
  thread_.request_stop();
  Set(timer_.get(), Duration(1));
}

void Watchdog::Touch(Duration limit) const { Set(timer_.get(), std::max(limit, Duration(1))); }

void Watchdog::Rest() const { Set(timer_.get(), Duration::zero()); }

}  // namespace gpuop::os
