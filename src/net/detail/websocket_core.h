#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "net/detail/core.h"
#include "net/detail/out_queue.h"
#include "net/detail/transport.h"
#include "net/detail/websocket_frames.h"
#include "net/websocket.h"

namespace gpuop::net {

/// The working part of a WebSocket, kept alive by what waits for its socket. On the I/O thread, but for `queued`.
class WebSocket::Core : public std::enable_shared_from_this<WebSocket::Core> {
 public:
  Core(IoThread& io, bool is_client, std::shared_ptr<WebSocketSink> sink)
      : io_(io), is_client_(is_client), sink_(std::move(sink)), timer_(io) {}

  /// Takes over the connection: sends `first` and continues with `input`, which was read beyond the handshake.
  void Adopt(std::unique_ptr<detail::Transport> transport, std::string first, std::string input);
  void Send(bool binary, std::string message);
  void Close(std::uint16_t code, std::string_view reason);
  /// The owner has gone: no more sink calls.
  void Drop();
  IoThread& io() { return io_; }
  std::size_t queued() const { return queued_.load(std::memory_order_relaxed); }

 private:
  void WaitReadable();
  void OnReadable();
  Result<> Parse();
  Result<> OnFrame(const detail::FrameHead& head, std::string_view payload);
  Result<> OnData(const detail::FrameHead& head, std::string_view payload);
  Result<> OnCloseFrame(std::string_view payload);
  void Push(detail::Opcode opcode, std::string_view payload);
  void Flush();
  void Fail(Error error, std::uint16_t code);
  void Finish(Result<std::uint16_t> code, std::string_view reason);

  IoThread& io_;
  const bool is_client_;
  std::shared_ptr<WebSocketSink> sink_;
  std::unique_ptr<detail::Transport> transport_;
  detail::Timer timer_;
  detail::OutQueue out_;
  std::atomic<std::size_t> queued_ = 0;
  std::string in_;
  std::string message_;
  detail::Opcode message_kind_ = detail::Opcode::kContinue;  // kContinue: no message has begun
  bool writing_ = false;
  bool close_sent_ = false;
  bool finished_ = false;
  bool end_after_flush_ = false;
};

namespace detail {
/// The answer to a Sec-WebSocket-Key (RFC 6455 §4.2.2).
std::string WebSocketAccept(std::string_view key);
/// A new Sec-WebSocket-Key.
std::string WebSocketKey();
}  // namespace detail

}  // namespace gpuop::net
