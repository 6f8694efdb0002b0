#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http.h"
#include "net/io_thread.h"
#include "net/tls.h"
#include "net/websocket.h"
#include "os/fd.h"

namespace gpuop::net {

/// Who is on the other end of a connection.
struct Peer {
  /// "127.0.0.1:50312", or "unix:".
  std::string address;
  bool tls = false;
  /// What the client's certificate says, once it has been verified.
  std::optional<CertificateSubject> certificate;
};

/// A whole request.
struct Request {
  std::string method;
  /// As sent: "/api/v1/nodes?limit=500".
  std::string target;
  Headers headers;
  std::string body;
  std::shared_ptr<const Peer> peer;

  /// The target up to the question mark, still encoded.
  std::string_view Path() const { return std::string_view(target).substr(0, target.find('?')); }
  /// The target behind the question mark, still encoded; "" without one.
  std::string_view Query() const;
};

/// A whole answer. Content-Length, Date and Connection are added; a body is left out where HTTP wants none.
struct Response {
  int status = 200;
  Headers headers{};
  Body body{};
};

namespace detail {
class ServerConnection;
struct ServerState;
}  // namespace detail

/// The answer to one request while it is being written piece by piece (chunked encoding). Thread-safe.
/// Destroying it before End cuts the connection, so that the client knows that something is missing.
class ResponseStream {
 public:
  ~ResponseStream();
  ResponseStream(const ResponseStream&) = delete;
  ResponseStream& operator=(const ResponseStream&) = delete;

  /// Queues a piece. When more than ServerOptions::max_queued_bytes wait for a client that does not read, the
  /// stream is cut instead.
  void Write(Piece piece);
  /// The answer is complete.
  void End();
  /// Bytes written and not yet taken by the system.
  std::size_t Queued() const { return state_->queued.load(std::memory_order_relaxed); }
  /// Calls `task` on the I/O thread, once, as soon as at most `bytes` are queued (never from inside this call). One
  /// wait at a time: a new one replaces the old. Dropped when the stream ends or the client goes.
  void WhenAtMost(std::size_t bytes, Executor::Task task);
  /// Whether the client has gone or was cut: further writes are dropped.
  bool Gone() const { return state_->gone.load(std::memory_order_relaxed); }
  /// Calls `task` on the I/O thread, once, when the client goes before End. At once, if it already has.
  void WhenGone(Executor::Task task);

 private:
  friend class detail::ServerConnection;
  friend class Responder;
  struct State {
    std::atomic<std::size_t> queued = 0;
    std::atomic<bool> gone = false;
  };
  ResponseStream(IoThread& io, std::weak_ptr<detail::ServerConnection> to, std::uint64_t exchange)
      : io_(io), to_(std::move(to)), exchange_(exchange) {}

  IoThread& io_;
  std::weak_ptr<detail::ServerConnection> to_;
  std::uint64_t exchange_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
  bool ended_ = false;
};

/// The right to answer one request, once, at once or later. Thread-safe. Destroyed unused it answers 500.
/// When the client has gone meanwhile, answers are dropped.
class Responder {
 public:
  Responder(Responder&&) = default;
  Responder& operator=(Responder&&) = delete;
  ~Responder();

  void Send(Response response);
  /// Begins an answer whose end is not known yet. `head.body` is its first part.
  std::unique_ptr<ResponseStream> Stream(Response head);
  /// Accepts a request to switch to WebSocket (RFC 6455), speaking `subprotocol` ("" for none), which the client must
  /// have offered. kInvalid when `request` does not ask for that: then the request is still to be answered. I/O thread
  /// only.
  Result<std::unique_ptr<WebSocket>> Upgrade(const Request& request, std::string subprotocol,
                                             std::shared_ptr<WebSocketSink> sink);
  /// Calls `task` on the I/O thread, once, when the client goes before there is an answer. I/O thread only.
  void WhenGone(Executor::Task task);

 private:
  friend class detail::ServerConnection;
  Responder(IoThread& io, std::weak_ptr<detail::ServerConnection> to, std::uint64_t exchange)
      : io_(&io), to_(std::move(to)), exchange_(exchange) {}

  IoThread* io_;
  std::weak_ptr<detail::ServerConnection> to_;
  std::uint64_t exchange_;
};

/// Limits that keep a server alive among broken and hostile clients.
struct ServerOptions {
  std::size_t max_header_bytes = 64 * 1024;
  std::size_t max_body_bytes = 3 * 1024 * 1024;
  /// Unsent bytes of one stream.
  std::size_t max_queued_bytes = 16 * 1024 * 1024;
  /// Further connections are closed as they come.
  std::size_t max_connections = 16 * 1024;
  /// From the first byte to the end of the header; also for the TLS handshake.
  Duration header_timeout = std::chrono::seconds(10);
  /// For the whole body.
  Duration body_timeout = std::chrono::seconds(60);
  /// Between two requests.
  Duration idle_timeout = std::chrono::seconds(120);
  /// For a client to take some bytes of an answer.
  Duration write_timeout = std::chrono::seconds(60);
};

/// An HTTP/1.1 server on TCP and unix sockets.
class Server {
 public:
  /// Called on the I/O thread with a complete request. Must return quickly; the answer may come later.
  using Handler = std::function<void(Request, Responder)>;

  /// `io` outlives the server.
  Server(IoThread& io, Handler handler, ServerOptions options = {});
  /// Closes everything at once. Waits for the I/O thread, if one runs.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Listens on "127.0.0.1:8080", "[::1]:0", ":8080" (all addresses; port 0 lets the system choose) or "unix:/path" (an
  /// old socket there is replaced). Returns the address in the same form with the port that it got.
  Result<std::string> Listen(const std::string& address, std::optional<TlsServerOptions> tls = {});
  /// Serves on a socket that is bound and listens already, for as long as what it returns is held (and the server
  /// lives). I/O thread only, as is letting it go.
  Result<std::shared_ptr<void>> Adopt(os::Fd listening, std::optional<TlsServerOptions> tls = {});
  /// Accepts no more, closes idle connections, lets answers in progress end within `grace`, then closes the rest.
  /// `done` runs on the I/O thread afterwards.
  void Stop(Duration grace, Executor::Task done);
  /// Open connections. Thread-safe.
  std::size_t Connections() const;

 private:
  IoThread& io_;
  std::shared_ptr<detail::ServerState> state_;
};

/// The port of an address as Listen returns it; 0 for unix sockets.
std::uint16_t PortOf(std::string_view address);

}  // namespace gpuop::net
