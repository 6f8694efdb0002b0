// How a ServerConnection answers: whole, piece by piece, or by becoming a WebSocket.
#include "net/detail/server_connection.h"
#include "net/detail/websocket_core.h"

namespace gpuop::net::detail {
namespace {

bool HasNoBody(int status) { return status < 200 || status == 204 || status == 304; }

}  // namespace

std::string ServerConnection::Head(const Response& response, bool chunked) {
  std::string head;
  head.reserve(256);
  head.append(minor_version_ == 0 ? "HTTP/1.0 " : "HTTP/1.1 ").append(std::to_string(response.status));
  head.append(" ").append(ReasonPhrase(response.status)).append("\r\n");
  for (const Header& h : response.headers) {
    if (!IsToken(h.name) || !IsHeaderValue(h.value)) continue;
    head.append(h.name).append(": ").append(h.value).append("\r\n");
  }
  head.append("Date: ").append(state_->Date()).append("\r\n");
  if (chunked)
    head += "Transfer-Encoding: chunked\r\n";
  else if (!HasNoBody(response.status) && phase_ != Phase::kStreaming)
    head.append("Content-Length: ").append(std::to_string(SizeOf(response.body))).append("\r\n");
  if (!keep_alive_)
    head += "Connection: close\r\n";
  else if (minor_version_ == 0)
    head += "Connection: keep-alive\r\n";
  return head += "\r\n";
}

void ServerConnection::Answer(std::uint64_t exchange, Response response) {
  if (!Current(exchange, Phase::kHandling)) return;
  gone_ = {};
  if (state_->stopping) keep_alive_ = false;
  phase_ = Phase::kAnswering;
  out_.Push(Head(response, false));
  if (!head_only_ && !HasNoBody(response.status))
    for (Piece& p : response.body) out_.Push(std::move(p));
  Flush();
}

void ServerConnection::StreamBegin(std::uint64_t exchange, Response head,
                                   std::shared_ptr<ResponseStream::State> stream) {
  if (!Current(exchange, Phase::kHandling) || read_ended_) {
    stream->gone = true;
    if (Current(exchange, Phase::kHandling)) Close();
    return;
  }
  phase_ = Phase::kStreaming;
  stream_ = std::move(stream);
  stream_ended_ = false;
  chunked_ = minor_version_ >= 1;
  if (!chunked_) keep_alive_ = false;
  out_.Push(Head(head, chunked_));
  for (Piece& p : head.body) StreamWrite(exchange, std::move(p));
  FlushSoon();
}

void ServerConnection::StreamWrite(std::uint64_t exchange, Piece piece) {
  if (!Current(exchange, Phase::kStreaming) || stream_ended_ || head_only_ || piece->empty()) return;
  if (chunked_) out_.Push(ChunkHead(piece->size()));
  out_.Push(std::move(piece));
  if (chunked_) out_.Push(std::string("\r\n"));
  stream_->queued.store(out_.size(), std::memory_order_relaxed);
  if (out_.size() > state_->options.max_queued_bytes) {
    transport_->ResetOnClose();
    return Close();
  }
  FlushSoon();
}

void ServerConnection::WhenAtMost(std::uint64_t exchange, std::size_t bytes, Executor::Task task) {
  if (!Current(exchange, Phase::kStreaming) || stream_ended_) return;
  room_ = std::move(task);
  room_at_ = bytes;
  TellRoom();
}

void ServerConnection::StreamEnd(std::uint64_t exchange) {
  if (!Current(exchange, Phase::kStreaming) || stream_ended_) return;
  stream_ended_ = true;
  gone_ = {};
  if (chunked_ && !head_only_) out_.Push(std::string("0\r\n\r\n"));
  FlushSoon();
}

void ServerConnection::Abandon(std::uint64_t exchange) {
  if (Current(exchange, Phase::kHandling))
    Answer(exchange, {.status = 500,
                      .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
                      .body = MakeBody("the request was dropped\n")});
  else if (Current(exchange, Phase::kStreaming) && !stream_ended_) {
    gone_ = {};
    out_.Clear();
    Close();
  }
}

void ServerConnection::WhenGone(std::uint64_t exchange, Executor::Task task) {
  if (exchange != exchange_) return;  // it ended in good order
  if (phase_ == Phase::kClosed || (phase_ == Phase::kHandling && read_ended_)) return task();
  if (Busy()) gone_ = std::move(task);
}

Result<std::unique_ptr<WebSocket>> ServerConnection::Upgrade(std::uint64_t exchange, std::string key,
                                                             std::string subprotocol,
                                                             std::shared_ptr<WebSocketSink> sink) {
  if (!Current(exchange, Phase::kHandling) || read_ended_) return Fail(Code::kUnavailable, "the client has gone");
  std::string head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
  head += "Sec-WebSocket-Accept: " + WebSocketAccept(key) + "\r\n";
  if (!subprotocol.empty()) head += "Sec-WebSocket-Protocol: " + subprotocol + "\r\n";
  auto core = std::make_shared<WebSocket::Core>(state_->io, /*is_client=*/false, std::move(sink));
  // The transport may still have a reader waiting that belongs to this object; the socket moves to a new one.
  core->Adopt(std::move(transport_), head + "\r\n", std::move(in_));
  gone_ = {};
  phase_ = Phase::kClosed;
  timer_.Cancel();
  state_->connections.erase(this);
  state_->count = state_->connections.size();
  state_->MaybeStopped();
  return std::make_unique<WebSocket>(std::move(core), std::move(subprotocol));
}

}  // namespace gpuop::net::detail
