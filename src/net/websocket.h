#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http.h"
#include "net/io_thread.h"

namespace gpuop::net {

/// What comes over a WebSocket. Called on the I/O thread, one call at a time; none after OnClose.
class WebSocketSink {
 public:
  virtual ~WebSocketSink() = default;
  /// A whole message.
  virtual void OnMessage(bool binary, std::string_view message) = 0;
  /// It is over. In good order: the peer's code (1005 when it gave none) and reason; else an Error.
  virtual void OnClose(Result<std::uint16_t> code, std::string_view reason) = 0;
};

/// An open WebSocket (RFC 6455), either side. Thread-safe. Pings are answered by themselves. Destroying it closes the
/// connection; no sink call comes after that when it is destroyed on the I/O thread.
class WebSocket {
 public:
  class Core;
  explicit WebSocket(std::shared_ptr<Core> core, std::string subprotocol);
  ~WebSocket();
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;

  /// What both sides agreed to speak; "" for nothing in particular.
  const std::string& subprotocol() const { return subprotocol_; }
  /// Sends a message. Over 16 MiB unsent, the connection is cut.
  void Send(bool binary, std::string message);
  /// Says goodbye; OnClose follows when the peer has answered, or after 5 s.
  void Close(std::uint16_t code, std::string_view reason);
  /// Bytes sent and not yet taken by the system.
  std::size_t Queued() const;

 private:
  std::shared_ptr<Core> core_;
  std::string subprotocol_;
};

}  // namespace gpuop::net
