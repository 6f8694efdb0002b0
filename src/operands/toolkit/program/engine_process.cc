#include "operands/toolkit/program/engine_process.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <ctime>

#include "base/text.h"
#include "net/unix_socket.h"
#include "os/pidfd.h"
#include "os/real_fs.h"
#include "os/system_error.h"

namespace gpuop::operands::toolkit {
namespace {

constexpr auto kConnectLimit = std::chrono::seconds(10);
constexpr std::string_view kPing = "GET /_ping HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n\r\n";

Result<int> Visible(pid_t pid, const std::string& socket) {
  if (pid > 0) return pid;
  return Fail(Code::kUnavailable, "the process behind " + socket + " is not visible here; is hostPID set?");
}

Result<int> Listener(const os::Fd& fd, const std::string& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return os::FailErrno(errno, "SO_PEERCRED");
  return Visible(peer.pid, socket);
}

/// Who writes the answer to a question.
Result<int> Answerer(const os::Fd& fd, const std::string& socket) {
  const int on = 1;
  const timeval limit{.tv_sec = kConnectLimit.count(), .tv_usec = 0};
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) return os::FailErrno(errno, "SO_PASSCRED");
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (::send(fd.get(), kPing.data(), kPing.size(), MSG_NOSIGNAL) != std::ssize(kPing))
    return Fail(Code::kUnavailable, socket + " takes no question: " + std::strerror(errno));
  char byte = 0;
  iovec place{.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
  msghdr message{};
  message.msg_iov = &place;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  do got = ::recvmsg(fd.get(), &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got <= 0)
    return Fail(Code::kUnavailable,
                socket + " does not answer: " + (got < 0 ? std::strerror(errno) : "it was closed at once"));
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS) continue;
    ucred peer{};
    std::memcpy(&peer, CMSG_DATA(part), sizeof peer);
    return Visible(peer.pid, socket);
  }
  return Fail(Code::kUnavailable, socket + ": the kernel does not say who answers");
}

/// One of the sets of signals in /proc/PID/status; empty when it cannot be read.
std::uint64_t Signals(std::string_view status, std::string_view field) {
  for (const std::string_view line : Split(status, '\n')) {
    const auto parts = Cut(line, ':');
    if (!parts || parts->first != field) continue;
    const std::string_view digits = Trim(parts->second);
    std::uint64_t set = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), set, 16);
    return set;
  }
  return 0;
}

}  // namespace

Result<int> ProcessBehind(const std::string& socket, container::EngineKind engine) {
  ASSIGN(const os::Fd fd, net::ConnectUnix(socket, kConnectLimit));
  return engine == container::EngineKind::kDocker ? Answerer(fd, socket) : Listener(fd, socket);
}

EngineProcess LookAtProcess(int pid) {
  constexpr std::size_t kStartTime = 22;
  EngineProcess out{.pid = pid, .began = {}, .handle = os::OpenProcess(pid)};
  if (const auto host = os::RealFs::Open("/")) out.began = os::StatNumber(**host, pid, kStartTime);
  return out;
}

std::int64_t TicksSinceBoot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const std::int64_t ticks = ::sysconf(_SC_CLK_TCK);
  return now.tv_sec * ticks + now.tv_nsec * ticks / 1'000'000'000;
}

std::string NameOfProcess(const os::Fs& host, int pid) {
  const std::string number = std::to_string(pid);
  const auto name = host.Read("/proc/" + number + "/comm");
  return "process " + number + (name ? " (" + std::string(Trim(*name)) + ")" : "");
}

Result<> TakesHangup(const os::Fs& host, int pid) {
  constexpr std::uint64_t kHangup = 1ULL << (SIGHUP - 1);
  const std::string path = "/proc/" + std::to_string(pid) + "/status";
  const auto status = host.Read(path);
  // A signal that is blocked waits for whoever fetches it, even where it is ignored.
  if (!status || (Signals(*status, "SigIgn") & ~Signals(*status, "SigBlk") & kHangup) == 0) return {};
  return Fail(Code::kUnsupported,
              NameOfProcess(host, pid) + ", the engine, ignores SIGHUP (SigIgn in " + path +
                  "), as what nohup starts does, and so cannot be told to read its configuration: start it by its unit "
                  "or without nohup, or set RUNTIME_RESTART_MODE to systemd, or to none and restart it yourself");
}

Result<> SendHangup(const os::Fs& host, const EngineProcess& process, bool must_end, Duration limit) {
  TRY(TakesHangup(host, process.pid));
  const bool sent =
      process.handle.valid() ? os::SignalProcess(process.handle, SIGHUP) : ::kill(process.pid, SIGHUP) == 0;
  if (!sent && errno != ESRCH) return os::FailErrno(errno, "signal process " + std::to_string(process.pid));
  if (!sent || !must_end || !process.handle.valid()) return {};
  if (os::AwaitEnd(process.handle, std::chrono::duration_cast<std::chrono::milliseconds>(limit))) return {};
  return Fail(Code::kUnavailable,
              NameOfProcess(host, process.pid) +
                  ", the engine, got SIGHUP and runs on as before: it did not read its configuration anew. Set "
                  "RUNTIME_RESTART_MODE to systemd, or to none and restart it yourself");
}

Result<> AwaitRestart(const os::Fs& host, const EngineProcess& before, const std::string& unit, Duration limit) {
  if (!before.handle.valid()) return {};
  if (os::AwaitEnd(before.handle, std::chrono::duration_cast<std::chrono::milliseconds>(limit))) return {};
  return Fail(Code::kUnavailable,
              "systemctl restart " + unit + " went well, but " + NameOfProcess(host, before.pid) +
                  ", which is the engine, runs on as before: it is not that unit's, and did not read its configuration "
                  "anew. Set RUNTIME_RESTART_MODE to signal, or to none and restart it yourself");
}

}  // namespace gpuop::operands::toolkit
