#include "net/unix_socket.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "os/system_error.h"

namespace gpuop::net {
namespace {

/// Zero: none. Bounds connect() too (unix(7) has no other way than a full queue's EAGAIN at once).
void SetSendLimit(const os::Fd& socket, Duration limit) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(limit).count();
  const timeval time{.tv_sec = us / 1'000'000, .tv_usec = us % 1'000'000};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

}  // namespace

Result<os::Fd> ConnectUnix(const std::string& path, Duration limit) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return Fail(Code::kInvalid, path + ": too long for a socket's path");
  std::memcpy(address.sun_path, path.c_str(), path.size());
  os::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return os::FailErrno(errno, "socket");
  SetSendLimit(socket, limit);
  while (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return Fail(Code::kTimeout, path + ": its server does not take new connections");
    return Fail(Code::kUnavailable, "nobody answers at " + path + ": " + std::strerror(errno));
  }
  SetSendLimit(socket, Duration::zero());
  return socket;
}

}  // namespace gpuop::net
