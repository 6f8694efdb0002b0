#include "os/signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include <array>

#include "os/system_error.h"

namespace gpuop::os {
namespace {

sigset_t StopSet(bool hangup) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT}) sigaddset(&set, signal);
  if (hangup) sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

Result<std::unique_ptr<StopSignals>> StopSignals::Catch(std::function<void()> on_hangup) {
  const sigset_t set = StopSet(on_hangup != nullptr);
  Fd signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)), end(::eventfd(0, EFD_CLOEXEC));
  if (!signals.valid() || !end.valid()) return FailErrno(errno, "signalfd");
  sigset_t before;
  if (const int error = ::pthread_sigmask(SIG_BLOCK, &set, &before); error != 0)
    return FailErrno(error, "block signals");
  return std::unique_ptr<StopSignals>(
      new StopSignals(std::move(signals), std::move(end), before, std::move(on_hangup)));
}

StopSignals::StopSignals(Fd signals, Fd end, const sigset_t& before, std::function<void()> on_hangup)
    : signals_(std::move(signals)),
      end_(std::move(end)),
      before_(before),
      on_hangup_(std::move(on_hangup)),
      thread_([this] { Wait(); }) {}

StopSignals::~StopSignals() {
  ::eventfd_write(end_.get(), 1);
  thread_.join();
  if (!leave_blocked_) ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void StopSignals::Wait() {
  for (;;) {
    std::array<pollfd, 2> fds{{{signals_.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), -1) < 0) continue;
    if (fds[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signals_.get(), &info, sizeof info) != sizeof info) continue;
    if (info.ssi_signo == SIGHUP) {
      on_hangup_();
      continue;
    }
    if (asked_.request_stop()) continue;
    const sigset_t set = StopSet(on_hangup_ != nullptr);
    const int signal = static_cast<int>(info.ssi_signo);
    ::signal(signal, SIG_DFL);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    ::raise(signal);
  }
}

}  // namespace gpuop::os
