#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http.h"
#include "net/io_thread.h"
#include "net/tls.h"
#include "net/url.h"
#include "net/websocket.h"

namespace gpuop::net {

/// How a client reaches its server.
struct ClientOptions {
  TlsClientOptions tls{};
  /// "http://[user:password@]host:port", or "" for a direct connection. Kept to by the whole client.
  std::string proxy{};
  /// Connections that wait for their next request; the oldest goes first.
  std::size_t max_idle = 16;
  Duration idle_timeout = std::chrono::seconds(90);
  /// Open connections together; further requests wait for one.
  std::size_t max_connections = 256;
  /// From looking up the name to the end of the TLS handshake.
  Duration connect_timeout = std::chrono::seconds(10);
  std::size_t max_header_bytes = 256 * 1024;
};

/// A request. Host and Content-Length are added.
struct ClientRequest {
  std::string method = "GET";
  /// Path and query, encoded: "/api/v1/nodes?limit=500".
  std::string target = "/";
  Headers headers{};
  Body body{};
  /// A longer answer is kTooLarge; 0 for no bound.
  std::size_t max_answer_bytes = 64 * 1024 * 1024;
  /// How long the answer's head may take to come, once asked to Open; zero for any time.
  Duration head_limit{};
};

struct ClientResponse {
  int status = 0;
  Headers headers{};
  std::string body{};
};

/// Takes an answer as it comes. Called on the I/O thread, one call at a time.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;
  virtual void OnHead(int status, const Headers& headers) = 0;
  /// The next bytes of the body, in whatever portions the network brings.
  virtual void OnData(std::string_view bytes) = 0;
  /// The last call: the answer is complete, or why not. OnHead may never have been called then.
  virtual void OnEnd(Result<> why) = 0;
};

namespace detail {
class Exchange;
struct ClientCore;
}  // namespace detail

/// A request under way. Destroying it cancels; when the destructor has returned no sink call is running (but for one
/// that destroys it) and none will come.
class ClientStream {
 public:
  explicit ClientStream(std::shared_ptr<detail::Exchange> exchange) : exchange_(std::move(exchange)) {}
  ~ClientStream();
  ClientStream(const ClientStream&) = delete;
  ClientStream& operator=(const ClientStream&) = delete;

  /// Stops reading from the server until Resume; at most 64 KiB already read still come. Thread-safe.
  void Pause();
  void Resume();

 private:
  std::shared_ptr<detail::Exchange> exchange_;
};

/// An HTTP/1.1 client of one server, with a pool of connections. Thread-safe.
///
/// A request on a pooled connection that the server had closed meanwhile is sent once more on a new one when nothing of
/// an answer came and the method is GET, HEAD, OPTIONS or TRACE; any other such failure is the caller's to judge.
///
/// Error texts: "connect 127.0.0.1:1: connection refused", "TLS: certificate has expired (not after …)", "server
/// closed the connection in the middle of the answer after 10 bytes". Codes: kUnavailable for what may pass,
/// kTimeout, kCancelled, kTooLarge, kInvalid for an answer that is not HTTP.
class Client {
 public:
  /// A client for `server`'s scheme, host and port (path and query are not looked at). kInvalid for a proxy it cannot
  /// use.
  static Result<std::unique_ptr<Client>> Make(IoThread& io, Url server, ClientOptions options = {});
  /// Closes idle connections. Streams that are open go on until they are destroyed; no Call may be under way.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Sends `request` and waits for the whole answer, at most `limit` and until `stop` is asked for. Never on the
  /// I/O thread.
  Result<ClientResponse> Call(ClientRequest request, Duration limit, std::stop_token stop);
  /// Sends `request`; the answer goes to `sink`, never from inside this call.
  std::unique_ptr<ClientStream> Open(ClientRequest request, std::shared_ptr<ResponseSink> sink);
  /// Opens a WebSocket, offering `subprotocols`, and waits for it as Call does. An answer other than 101 is an error
  /// that carries its status and the beginning of its body. Never on the I/O thread.
  Result<std::unique_ptr<WebSocket>> OpenWebSocket(ClientRequest request, std::vector<std::string> subprotocols,
                                                   std::shared_ptr<WebSocketSink> sink, Duration limit,
                                                   std::stop_token stop);
  const Url& server() const;

 private:
  explicit Client(std::shared_ptr<detail::ClientCore> core) : core_(std::move(core)) {}
  std::shared_ptr<detail::ClientCore> core_;
};

}  // namespace gpuop::net
