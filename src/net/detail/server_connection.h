#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "net/detail/core.h"
#include "net/detail/message_parser.h"
#include "net/detail/out_queue.h"
#include "net/detail/tls_context.h"
#include "net/detail/transport.h"
#include "net/server.h"

namespace gpuop::net::detail {

/// What the connections of one server share. On the I/O thread, but for `count`.
struct ServerState : std::enable_shared_from_this<ServerState> {
  ServerState(IoThread& i, Server::Handler h, ServerOptions o)
      : io(i), handler(std::move(h)), options(o), stop_timer(i) {}

  IoThread& io;
  Server::Handler handler;
  ServerOptions options;
  bool stopping = false;
  std::unordered_map<ServerConnection*, std::shared_ptr<ServerConnection>> connections;
  std::vector<std::shared_ptr<class Acceptor>> acceptors;
  std::atomic<std::size_t> count = 0;
  Timer stop_timer;
  Executor::Task stopped;

  /// The Date header's value, made anew once a second.
  const std::string& Date();
  /// Runs `stopped` once nothing is left.
  void MaybeStopped();
  /// Lets the connection send what is queued, a turn of the loop later.
  void FlushSoon(std::shared_ptr<ServerConnection> connection);
  /// At the end, when all are closed: connections and state hold each other while one waits for its turn.
  void ForgetFlushes() { to_flush_.clear(); }

 private:
  void FlushSome();

  /// Connections that want to send, first come, first served.
  std::deque<std::shared_ptr<ServerConnection>> to_flush_;
  bool flush_posted_ = false;
  std::string date_;
  std::int64_t date_second_ = -1;
};

/// One client's connection: reads a request, lets it be handled, writes the answer, reads the next. While a request is
/// being handled, reading goes on (up to a bound) so that a client that leaves is noticed.
class ServerConnection : public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(std::shared_ptr<ServerState> state, std::unique_ptr<Transport> transport,
                   std::shared_ptr<Peer> peer);

  void Begin();
  /// Ends it: at once, or (`graceful`) when the answer in progress has been sent.
  void Stop(bool graceful);

  // For Responder and ResponseStream; each does nothing unless `exchange` is the one in progress.
  void Answer(std::uint64_t exchange, Response response);
  void StreamBegin(std::uint64_t exchange, Response head, std::shared_ptr<ResponseStream::State> stream);
  void StreamWrite(std::uint64_t exchange, Piece piece);
  void StreamEnd(std::uint64_t exchange);
  void WhenAtMost(std::uint64_t exchange, std::size_t bytes, Executor::Task task);
  void Abandon(std::uint64_t exchange);
  void WhenGone(std::uint64_t exchange, Executor::Task task);
  /// For ServerState::FlushSoon.
  void FlushNow();
  Result<std::unique_ptr<WebSocket>> Upgrade(std::uint64_t exchange, std::string key, std::string subprotocol,
                                             std::shared_ptr<WebSocketSink> sink);

 private:
  enum class Phase { kHandshake, kHead, kBody, kHandling, kAnswering, kStreaming, kLingering, kClosed };

  void Handshake();
  void WaitReadable();
  void OnReadable();
  void Took(std::string_view bytes);
  void OnEnd();
  void Pump();
  bool Step();
  void OnHead();
  void Handle();
  void Refuse(int status, std::string_view text);
  std::string Head(const Response& response, bool chunked);
  void Flush();
  void FlushSoon();
  void TellRoom();
  void Drained();
  void NextRequest();
  void Linger();
  void Close();
  void SetDeadline(Duration span);
  void ArmTimer();
  void OnDeadline();
  bool Current(std::uint64_t exchange, Phase phase) const { return exchange == exchange_ && phase_ == phase; }
  bool Busy() const { return phase_ == Phase::kHandling || phase_ == Phase::kAnswering || phase_ == Phase::kStreaming; }

  std::shared_ptr<ServerState> state_;
  std::unique_ptr<Transport> transport_;
  std::shared_ptr<Peer> peer_;
  MessageParser parser_;
  Phase phase_ = Phase::kHandshake;

  std::string in_;  // read and not yet parsed
  std::string body_;
  bool body_too_large_ = false;
  bool reading_ = false;
  bool read_ended_ = false;
  bool pumping_ = false;

  std::uint64_t exchange_ = 0;
  bool keep_alive_ = false;
  /// By what the client said with its last request.
  bool client_closes_ = false;
  bool head_only_ = false;
  int minor_version_ = 1;
  Executor::Task gone_;

  OutQueue out_;
  bool writing_ = false;     // waits until the socket takes more
  bool flush_soon_ = false;  // its turn to send comes
  bool stream_ended_ = false;
  bool chunked_ = false;
  std::shared_ptr<ResponseStream::State> stream_;
  Executor::Task room_;  // waits until at most room_at_ bytes are queued
  std::size_t room_at_ = 0;

  TimePoint deadline_ = TimePoint::max();
  TimePoint timer_at_ = TimePoint::max();
  Timer timer_;
};

}  // namespace gpuop::net::detail
