#pragma once
// Blocking sockets under a test's full control: the other side of a connection at its worst.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

namespace gpuop::net {

/// A connected socket. Reads give up after ten seconds.
class RawSocket {
 public:
  explicit RawSocket(int fd) : fd_(fd) {}
  RawSocket(RawSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  RawSocket& operator=(RawSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~RawSocket() { Close(); }

  static RawSocket Connect(std::uint16_t port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    return RawSocket(fd);
  }

  /// False when the peer takes no more.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  /// Reads until `mark` has come, the peer ends or ten seconds have passed; all that came.
  std::string ReadUntil(std::string_view mark) {
    std::string all;
    while (all.find(mark) == std::string::npos && ReadSome(all)) {
    }
    return all;
  }
  std::string ReadAll() {
    std::string all;
    while (ReadSome(all)) {
    }
    return all;
  }
  /// Whether the peer ends the connection within ten seconds.
  bool Ends() {
    std::string all;
    while (ReadSome(all)) {
    }
    return !timed_out_;
  }

  void ShutdownWrite() { ::shutdown(fd_, SHUT_WR); }
  /// Closes with RST.
  void Reset() {
    const linger now{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    Close();
  }
  void Close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  int fd() const { return fd_; }

 private:
  bool ReadSome(std::string& into) {
    pollfd p{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&p, 1, 10'000) <= 0) {
      timed_out_ = true;
      return false;
    }
    char buffer[16 * 1024];
    const ssize_t n = ::recv(fd_, buffer, sizeof buffer, 0);
    if (n > 0) into.append(buffer, static_cast<std::size_t>(n));
    return n > 0;
  }

  int fd_;
  bool timed_out_ = false;
};

/// A listening socket on loopback whose connections are taken by hand.
class RawListener {
 public:
  RawListener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(::listen(fd_, 64), 0);
    socklen_t size = sizeof at;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
  }
  ~RawListener() { ::close(fd_); }
  RawListener(const RawListener&) = delete;
  RawListener& operator=(const RawListener&) = delete;

  std::uint16_t port() const { return port_; }
  RawSocket Accept() { return RawSocket(::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC)); }

 private:
  int fd_;
  std::uint16_t port_ = 0;
};

}  // namespace gpuop::net
