#include "operands/validator/kernel_log.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "os/system_error.h"

namespace gpuop::operands::validator {

Result<std::unique_ptr<KernelLog>> KernelLog::Start(const std::string& path, OnLine on_line) {
  os::Fd log(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!log.valid()) return os::FailErrno(errno, path);
  struct stat info{};
  if (::fstat(log.get(), &info) != 0) return os::FailErrno(errno, path);
  std::uint64_t there = UINT64_MAX;  // a device says by itself where its past ends
  os::Fd changes, end(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!end.valid()) return os::FailErrno(errno, "eventfd");
  if (S_ISREG(info.st_mode)) {
    there = static_cast<std::uint64_t>(info.st_size);
    changes = os::Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!changes.valid() || ::inotify_add_watch(changes.get(), path.c_str(), IN_MODIFY) < 0)
      return os::FailErrno(errno, "watch " + path);
  }
  return std::unique_ptr<KernelLog>(
      new KernelLog(std::move(log), std::move(changes), std::move(end), there, std::move(on_line)));
}

KernelLog::KernelLog(os::Fd log, os::Fd changes, os::Fd end, std::uint64_t there, OnLine on_line)
    : log_(std::move(log)),
      changes_(std::move(changes)),
      end_(std::move(end)),
      there_(there),
      on_line_(std::move(on_line)),
      thread_([this] { Follow(); }) {}

KernelLog::~KernelLog() { ::eventfd_write(end_.get(), 1); }

bool KernelLog::ReadAll(bool old) {
  std::array<char, 8192> buffer;
  for (;;) {
    const ssize_t n = ::read(log_.get(), buffer.data(), buffer.size());
    if (n < 0 && (errno == EINTR || errno == EPIPE)) continue;  // EPIPE: records were overwritten
    if (n < 0) return errno == EAGAIN;
    if (n == 0) return true;
    rest_.append(buffer.data(), static_cast<std::size_t>(n));
    for (std::size_t at = rest_.find('\n'); at != std::string::npos; at = rest_.find('\n')) {
      told_ += at + 1;
      on_line_(rest_.substr(0, at), old && told_ <= there_);
      rest_.erase(0, at + 1);
    }
    // No record is that long: something else is read.
    if (rest_.size() > (1U << 20U)) return false;
  }
}

void KernelLog::Follow() {
  if (!ReadAll(true)) return;
  for (;;) {
    const int source = changes_.valid() ? changes_.get() : log_.get();
    std::array<pollfd, 2> fds{{{source, POLLIN, 0}, {end_.get(), POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return;
    if ((fds[1].revents & POLLIN) != 0) return;
    if (changes_.valid()) {
      std::array<char, 4096> events;
      while (::read(changes_.get(), events.data(), events.size()) > 0) {
      }
    }
    if (!ReadAll(false)) return;
  }
}

}  // namespace gpuop::operands::validator
