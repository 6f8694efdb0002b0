#include "operands/mps/daemon_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "os/fd.h"
#include "os/pidfd.h"
#include "os/system_error.h"

namespace gpuop::operands::mps {
namespace {

constexpr std::size_t kLongestLine = 4096;

class RealDaemonWatch final : public DaemonWatch {
 public:
  RealDaemonWatch(os::Fd process, os::Fd changes, os::Fd stop, os::Fd log, Hears hears)
      : process_(std::move(process)),
        changes_(std::move(changes)),
        stop_(std::move(stop)),
        log_(std::move(log)),
        hears_(std::move(hears)),
        thread_([this] { Watch(); }) {}
  ~RealDaemonWatch() override {
    ::eventfd_write(stop_.get(), 1);
    thread_.join();
  }

 private:
  void Watch() {
    for (;;) {
      std::array<pollfd, 3> fds{{{stop_.get(), POLLIN, 0}, {process_.get(), POLLIN, 0}, {changes_.get(), POLLIN, 0}}};
      if (::poll(fds.data(), fds.size(), -1) < 0) continue;
      if (fds[0].revents != 0) return;
      if (fds[2].revents != 0) {
        std::array<char, 4096> events;
        static_cast<void>(::read(changes_.get(), events.data(), events.size()));
        ReadLog();
      }
      if (fds[1].revents == 0) continue;
      ReadLog();
      hears_.end();
      return;
    }
  }

  void ReadLog() {
    std::array<char, 4096> buffer;
    for (ssize_t n; log_.valid() && (n = ::read(log_.get(), buffer.data(), buffer.size())) > 0;) {
      for (const char c : std::string_view(buffer.data(), static_cast<std::size_t>(n))) {
        if (c != '\n' && line_.size() < kLongestLine) {
          line_ += c;
          continue;
        }
        if (!line_.empty()) hears_.line(line_);
        line_.clear();
      }
    }
  }

  const os::Fd process_, changes_, stop_, log_;
  const Hears hears_;
  std::string line_;
  std::jthread thread_;  // last: it uses all others
};

}  // namespace

Result<std::unique_ptr<DaemonWatch>> DaemonWatch::Start(int pid, const std::string& log_file, Hears hears) {
  os::Fd process = os::OpenProcess(pid);
  if (!process.valid()) return os::FailErrno(errno == ESRCH ? ENOENT : errno, "process " + std::to_string(pid));
  os::Fd changes(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)), stop(::eventfd(0, EFD_CLOEXEC));
  if (!changes.valid() || !stop.valid()) return os::FailErrno(errno, "watch process " + std::to_string(pid));
  os::Fd log(::open(log_file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (log.valid()) {
    ::lseek(log.get(), 0, SEEK_END);
    ::inotify_add_watch(changes.get(), log_file.c_str(), IN_MODIFY);
  }
  return std::make_unique<RealDaemonWatch>(std::move(process), std::move(changes), std::move(stop), std::move(log),
                                           std::move(hears));
}

}  // namespace gpuop::operands::mps
