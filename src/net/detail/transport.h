#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/detail/core.h"
#include "net/tls.h"

struct bio_method_st;
struct ssl_st;

namespace gpuop::net::detail {

/// What a read or write came to. A write that comes to kAgain may have moved bytes that were taken earlier.
struct Moved {
  enum State { kSome, kAgain, kEnd, kBroken } state = kSome;
  std::size_t bytes = 0;
};

/// A connected byte stream: a socket, perhaps with TLS on it. Never blocks; on the I/O thread only.
class Transport {
 public:
  /// Owns `fd`, a non-blocking stream socket.
  Transport(IoThread& io, int fd) : watched_(io, fd), io_(io) {}
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// From here on the stream is TLS. Owns `ssl`.
  void StartTls(ssl_st* ssl);
  bool tls() const { return ssl_ != nullptr; }
  ssl_st* ssl() const { return ssl_; }
  /// Takes the next step of the handshake: kSome when it is done, kAgain to wait (WhenHandshakeMayGoOn).
  Moved Handshake();
  void WhenHandshakeMayGoOn(Executor::Task then);

  Moved Read(std::span<char> into);
  /// Writes as much as goes of `pieces` together. With TLS that is several records in one system call, of which some
  /// may stay here although they are counted: while Holds(), write again (with nothing, if there is nothing more).
  Moved Write(std::span<const std::string_view> pieces);
  /// Whether bytes that were taken wait for the socket.
  bool Holds() const { return !held_.empty(); }
  /// Tells the peer that nothing more comes.
  void ShutdownWrite();
  /// Makes the close that follows a reset, so that nothing lingers.
  void ResetOnClose();

  /// Calls `then` later, once Read (Write) may get on.
  void WhenReadable(Executor::Task then);
  void WhenWritable(Executor::Task then) { watched_.WhenWritable(std::move(then)); }

  int fd() const { return watched_.fd(); }
  /// Why the last call was kBroken.
  const Error& error() const { return error_; }

 private:
  static const bio_method_st* SocketBio();
  Moved SslOutcome(int returned);
  Moved Seal(std::span<const std::string_view> pieces);
  Moved SendHeld();
  Moved Broken(int error);

  WatchedFd watched_;
  IoThread& io_;
  ssl_st* ssl_ = nullptr;
  bool wants_write_ = false;
  bool drained_ = false;
  std::string* gather_ = nullptr;  // where records are put together instead of being sent one by one
  std::string held_;               // records that the socket did not take yet
  std::optional<Moved> ended_;     // how reading ended, found out behind bytes that were handed out first
  Error error_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

/// Makes a socket ready for Transport: non-blocking, close-on-exec, no delay.
void PrepareSocket(int fd);

}  // namespace gpuop::net::detail
