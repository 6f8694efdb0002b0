#pragma once
// What the files of this room share of the I/O thread. Free of Asio; all of it on the I/O thread only.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "base/result.h"
#include "net/io_thread.h"

namespace gpuop::net::detail {

/// A timer that can be moved and cancelled. Destroying it cancels it.
class Timer {
 public:
  explicit Timer(IoThread& io) : io_(io) {}
  ~Timer() { Cancel(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// Runs `task` at `when`; what was set before is forgotten.
  void Set(TimePoint when, Executor::Task task);
  void Cancel();

 private:
  IoThread& io_;
  TimePoint when_{};
  std::uint64_t id_ = 0;  // 0: not set
};

/// A non-blocking descriptor of which one can learn when it is ready. Owns and closes it.
class WatchedFd {
 public:
  WatchedFd(IoThread& io, int fd);
  ~WatchedFd();
  WatchedFd(const WatchedFd&) = delete;
  WatchedFd& operator=(const WatchedFd&) = delete;

  int fd() const { return fd_; }
  /// Calls `then` once the descriptor is readable or broken. Never inline. Destroying this object drops `then`.
  /// One waiting reader and one waiting writer at a time.
  void WhenReadable(Executor::Task then);
  void WhenWritable(Executor::Task then);

 private:
  struct Watch;
  int fd_;
  std::shared_ptr<Watch> watch_;
};

/// A place to read into before it is known how much there is: idle connections hold no buffer.
std::span<char> Scratch(IoThread& io);
/// A place to put together what one system call is to send. Empty between two uses.
std::string& OutScratch(IoThread& io);

/// A socket address as the system wants it.
struct Address {
  std::array<char, 128> bytes{};
  std::uint32_t size = 0;
  int family = 0;
  /// "127.0.0.1:80", "[::1]:80" or "unix:/run/x.sock".
  std::string Text() const;
};

/// A numeric IPv4 or IPv6 address.
Result<Address> NumericAddress(std::string_view host, std::uint16_t port);
Result<Address> UnixAddress(const std::string& path);
/// The system's words for an errno: "connection refused".
std::string SystemText(int error);

/// Looks a name up; `then` runs later on the I/O thread. Dropped when the returned handle is destroyed.
class Lookup;
std::shared_ptr<Lookup> LookUp(IoThread& io, const std::string& host, std::uint16_t port,
                               std::move_only_function<void(Result<std::vector<Address>>)> then);

}  // namespace gpuop::net::detail
