#include "net/server.h"

#include <fmt/core.h>

#include "base/text.h"
#include "net/detail/acceptor.h"
#include "net/detail/server_connection.h"
#include "net/detail/websocket_core.h"

namespace gpuop::net {

namespace detail {

const std::string& ServerState::Date() {
  const WallTime now = io.Wall();
  const auto second = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  if (second != std::exchange(date_second_, second)) {
    char text[64];
    const std::time_t t = second;
    std::tm tm{};
    gmtime_r(&t, &tm);
    // The C locale's names, which are those of RFC 9110 §5.6.7; the program never sets another.
    date_.assign(text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &tm));
  }
  return date_;
}

void ServerState::MaybeStopped() {
  if (!stopping || !connections.empty() || !stopped) return;
  stop_timer.Cancel();
  io.Post(std::exchange(stopped, {}));
}

void ServerState::FlushSoon(std::shared_ptr<ServerConnection> connection) {
  to_flush_.push_back(std::move(connection));
  if (!std::exchange(flush_posted_, true)) io.Post([self = shared_from_this()] { self->FlushSome(); });
}

// A few in a turn: when an event goes to hundreds of streams, requests are read in between, and what those cause goes
// out with what still waits.
void ServerState::FlushSome() {
  constexpr int kAtOnce = 16;
  for (int i = 0; i < kAtOnce && !to_flush_.empty(); ++i) {
    const auto connection = std::move(to_flush_.front());
    to_flush_.pop_front();
    connection->FlushNow();
  }
  flush_posted_ = !to_flush_.empty();
  if (flush_posted_) io.Post([self = shared_from_this()] { self->FlushSome(); });
}

}  // namespace detail

namespace {

void CloseAll(detail::ServerState& state, bool graceful) {
  std::vector<std::shared_ptr<detail::ServerConnection>> all;
  for (const auto& [_, c] : state.connections) all.push_back(c);
  for (const auto& c : all) c->Stop(graceful);
}

}  // namespace

std::string_view Request::Query() const {
  const std::size_t at = target.find('?');
  return at == std::string::npos ? std::string_view() : std::string_view(target).substr(at + 1);
}

Server::Server(IoThread& io, Handler handler, ServerOptions options)
    : io_(io), state_(std::make_shared<detail::ServerState>(io, std::move(handler), options)) {}

Server::~Server() {
  io_.RunAndWait([this] {
    state_->stopping = true;
    state_->stopped = {};
    state_->stop_timer.Cancel();
    state_->acceptors.clear();
    CloseAll(*state_, /*graceful=*/false);
    state_->ForgetFlushes();
    state_->handler = nullptr;
  });
}

namespace {

/// `tls` with its certificate and key read; nothing when there is none.
Result<std::optional<detail::ServerTls>> Checked(std::optional<TlsServerOptions> tls) {
  std::optional<detail::ServerTls> out;
  if (tls) {
    out.emplace(*std::move(tls));
    TRY(out->Check());
  }
  return out;
}

}  // namespace

Result<std::string> Server::Listen(const std::string& address, std::optional<TlsServerOptions> tls) {
  ASSIGN(auto server_tls, Checked(std::move(tls)));
  ASSIGN(detail::Listener listener, detail::OpenListener(address));
  std::string bound = listener.address;
  io_.RunAndWait([&] {
    auto acceptor = std::make_shared<detail::Acceptor>(state_, std::move(listener), std::move(server_tls));
    state_->acceptors.push_back(acceptor);
    acceptor->Wait();
  });
  return bound;
}

Result<std::shared_ptr<void>> Server::Adopt(os::Fd listening, std::optional<TlsServerOptions> tls) {
  ASSIGN(auto server_tls, Checked(std::move(tls)));
  auto acceptor = std::make_shared<detail::Acceptor>(
      state_, detail::Listener{.fd = listening.Release(), .address = {}, .unix_path = {}}, std::move(server_tls));
  acceptor->Wait();
  return std::shared_ptr<void>(std::move(acceptor));
}

void Server::Stop(Duration grace, Executor::Task done) {
  io_.Dispatch([state = state_, grace, d = std::move(done)]() mutable {
    state->stopping = true;
    state->stopped = std::move(d);
    state->acceptors.clear();
    CloseAll(*state, /*graceful=*/true);
    state->stop_timer.Set(state->io.Now() + grace, [weak = std::weak_ptr(state)] {
      if (auto s = weak.lock()) CloseAll(*s, /*graceful=*/false);
    });
    state->MaybeStopped();
  });
}

std::size_t Server::Connections() const { return state_->count.load(); }

std::uint16_t PortOf(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || address.starts_with("unix:")) return 0;
  return static_cast<std::uint16_t>(ParseInt(address.substr(colon + 1)).value_or(0));
}

ResponseStream::~ResponseStream() {
  if (ended_) return;
  io_.Dispatch([to = to_, exchange = exchange_] {
    if (auto c = to.lock()) c->Abandon(exchange);
  });
}

void ResponseStream::Write(Piece piece) {
  if (io_.OnThread()) {  // without the cost of a task
    if (auto c = to_.lock()) c->StreamWrite(exchange_, std::move(piece));
    return;
  }
  io_.Dispatch([to = to_, exchange = exchange_, p = std::move(piece)]() mutable {
    if (auto c = to.lock()) c->StreamWrite(exchange, std::move(p));
  });
}

void ResponseStream::End() {
  ended_ = true;
  io_.Dispatch([to = to_, exchange = exchange_] {
    if (auto c = to.lock()) c->StreamEnd(exchange);
  });
}

void ResponseStream::WhenGone(Executor::Task task) {
  io_.Dispatch([to = to_, exchange = exchange_, t = std::move(task)]() mutable {
    if (auto c = to.lock())
      c->WhenGone(exchange, std::move(t));
    else
      t();
  });
}

Responder::~Responder() {
  if (exchange_ == 0 || to_.expired()) return;
  io_->Dispatch([to = std::move(to_), exchange = exchange_] {
    if (auto c = to.lock()) c->Abandon(exchange);
  });
}

void Responder::Send(Response response) {
  io_->Dispatch([to = std::move(to_), exchange = std::exchange(exchange_, 0), r = std::move(response)]() mutable {
    if (auto c = to.lock()) c->Answer(exchange, std::move(r));
  });
}

std::unique_ptr<ResponseStream> Responder::Stream(Response head) {
  std::unique_ptr<ResponseStream> stream(new ResponseStream(*io_, to_, exchange_));
  io_->Dispatch([to = std::move(to_), exchange = std::exchange(exchange_, 0), h = std::move(head),
                 state = stream->state_]() mutable {
    if (auto c = to.lock())
      c->StreamBegin(exchange, std::move(h), std::move(state));
    else
      state->gone = true;
  });
  return stream;
}

void ResponseStream::WhenAtMost(std::size_t bytes, Executor::Task task) {
  io_.Dispatch([to = to_, exchange = exchange_, bytes, t = std::move(task)]() mutable {
    if (auto c = to.lock()) c->WhenAtMost(exchange, bytes, std::move(t));
  });
}

void Responder::WhenGone(Executor::Task task) {
  if (auto c = to_.lock())
    c->WhenGone(exchange_, std::move(task));
  else
    task();
}

Result<std::unique_ptr<WebSocket>> Responder::Upgrade(const Request& request, std::string subprotocol,
                                                      std::shared_ptr<WebSocketSink> sink) {
  const Headers& h = request.headers;
  const std::string* key = h.Find("Sec-WebSocket-Key");
  if (request.method != "GET" || !h.Lists("Connection", "upgrade") || !h.Lists("Upgrade", "websocket") ||
      key == nullptr || Base64Decode(*key).value_or("").size() != 16)
    return Fail(Code::kInvalid, "not a WebSocket request");
  if (h.Get("Sec-WebSocket-Version") != "13") return Fail(Code::kInvalid, "not WebSocket version 13");
  if (!subprotocol.empty() && !h.Lists("Sec-WebSocket-Protocol", subprotocol))
    return Fail(Code::kInvalid, fmt::format("the client does not offer subprotocol \"{}\"", subprotocol));
  auto c = to_.lock();
  if (!c) return Fail(Code::kUnavailable, "the client has gone");
  auto socket = c->Upgrade(exchange_, *key, std::move(subprotocol), std::move(sink));
  if (socket) exchange_ = 0;
  return socket;
}

}  // namespace gpuop::net
