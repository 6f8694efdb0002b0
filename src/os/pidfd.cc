#include "os/pidfd.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "base/text.h"

namespace gpuop::os {

// glibc has both calls from 2.36 on only, in a header that C++ cannot use as it is.
Fd OpenProcess(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

bool SignalProcess(const Fd& process, int signal) {
  return ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) == 0;
}

bool AwaitEnd(const Fd& process, std::chrono::milliseconds limit) {
  pollfd ended{process.get(), POLLIN, 0};
  return ::poll(&ended, 1, static_cast<int>(limit.count())) > 0;
}

std::optional<std::int64_t> StatNumber(const Fs& fs, pid_t pid, std::size_t place) {
  const auto stat = fs.Read("/proc/" + std::to_string(pid) + "/stat");
  // The second field, a name in parentheses, may hold anything; the third follows its last parenthesis and a blank.
  if (!stat || !stat->contains(')')) return std::nullopt;
  const auto fields = Split(std::string_view(*stat).substr(stat->rfind(')') + 1), ' ');
  constexpr std::size_t kBefore = 2;
  return place > kBefore && fields.size() > place - kBefore ? ParseInt(fields[place - kBefore]) : std::nullopt;
}

}  // namespace gpuop::os
