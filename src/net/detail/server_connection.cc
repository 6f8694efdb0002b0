#include "net/detail/server_connection.h"

#include "base/text.h"

namespace gpuop::net::detail {
namespace {
// What a client may send ahead of the answer to its last request.
constexpr std::size_t kMostAhead = 64 * 1024;
constexpr std::size_t kIdleBuffer = 4 * 1024;
constexpr Duration kLingerTime = std::chrono::seconds(2);
}  // namespace

ServerConnection::ServerConnection(std::shared_ptr<ServerState> state, std::unique_ptr<Transport> transport,
                                   std::shared_ptr<Peer> peer)
    : state_(std::move(state)),
      transport_(std::move(transport)),
      peer_(std::move(peer)),
      parser_(MessageParser::Kind::kRequest, state_->options.max_header_bytes),
      timer_(state_->io) {}

void ServerConnection::Begin() {
  SetDeadline(state_->options.header_timeout);
  Handshake();
}

void ServerConnection::Handshake() {
  if (phase_ == Phase::kClosed) return;
  switch (transport_->Handshake().state) {
    case Moved::kSome: break;
    case Moved::kAgain: transport_->WhenHandshakeMayGoOn([self = shared_from_this()] { self->Handshake(); }); return;
    default: Close(); return;
  }
  if (transport_->tls()) peer_->certificate = PeerSubject(transport_->ssl());
  phase_ = Phase::kHead;
  WaitReadable();
}

void ServerConnection::WaitReadable() {
  if (reading_ || read_ended_ || phase_ == Phase::kClosed) return;
  if (Busy() && in_.size() >= kMostAhead) return;
  reading_ = true;
  transport_->WhenReadable([self = shared_from_this()] { self->OnReadable(); });
}

void ServerConnection::OnReadable() {
  reading_ = false;
  if (phase_ == Phase::kClosed) return;
  const std::span<char> scratch = Scratch(state_->io);
  const Moved m = transport_->Read(scratch);
  switch (m.state) {
    case Moved::kSome: Took({scratch.data(), m.bytes}); break;
    case Moved::kAgain: break;
    case Moved::kEnd: OnEnd(); return;
    case Moved::kBroken: Close(); return;
  }
  WaitReadable();
}

void ServerConnection::Took(std::string_view bytes) {
  if (phase_ == Phase::kLingering) return;
  in_.append(bytes);
  const bool begun = parser_.Begun();
  if (!Busy()) Pump();
  if (!begun && phase_ == Phase::kHead && parser_.Begun()) SetDeadline(state_->options.header_timeout);
}

// A client may close its sending side and still wait for its answer, but not for a stream: nobody follows one so.
void ServerConnection::OnEnd() {
  read_ended_ = true;
  if (phase_ != Phase::kHandling && phase_ != Phase::kAnswering) return Close();
  keep_alive_ = false;
  if (Executor::Task gone = std::exchange(gone_, {})) gone();
}

void ServerConnection::Pump() {
  pumping_ = true;
  while ((phase_ == Phase::kHead || phase_ == Phase::kBody) && !in_.empty() && Step()) {
  }
  pumping_ = false;
  if (in_.empty() && in_.capacity() > kIdleBuffer) in_ = {};
}

// Parses once; false when more bytes are needed.
bool ServerConnection::Step() {
  MessageParser::OnBody on_body = [this](std::string_view bytes) {
    if (body_.size() + bytes.size() > state_->options.max_body_bytes)
      body_too_large_ = true;
    else
      body_.append(bytes);
  };
  const Result<std::size_t> taken = parser_.Feed(in_, on_body);
  if (!taken) {
    const bool large = taken.error().code == Code::kTooLarge;
    Refuse(large ? 431 : 400, taken.error().text);
    return false;
  }
  in_.erase(0, *taken);
  if (phase_ == Phase::kHead && parser_.HeadDone()) OnHead();
  if (phase_ == Phase::kBody && body_too_large_) Refuse(413, "the body is too large");
  if (phase_ == Phase::kBody && parser_.Done()) Handle();
  // What no parser takes although it is much: an endless chunk extension or trailer.
  if (*taken == 0 && in_.size() > 2 * state_->options.max_header_bytes + kMostAhead)
    Refuse(431, "the header is too large");
  return *taken > 0;
}

void ServerConnection::OnHead() {
  const MessageHead& head = parser_.head();
  minor_version_ = head.minor_version;
  head_only_ = head.method == "HEAD";
  if (minor_version_ >= 1 && head.headers.Find("Host") == nullptr) return Refuse(400, "missing required Host header");
  if (parser_.ContentLength().value_or(0) > state_->options.max_body_bytes) return Refuse(413, "the body is too large");
  phase_ = Phase::kBody;
  if (parser_.Done()) return;
  SetDeadline(state_->options.body_timeout);
  if (minor_version_ >= 1 && head.headers.Lists("Expect", "100-continue")) {
    out_.Push(std::string("HTTP/1.1 100 Continue\r\n\r\n"));
    Flush();
  }
}

void ServerConnection::Handle() {
  client_closes_ = !parser_.KeepAlive();
  keep_alive_ = !client_closes_ && !state_->stopping;
  MessageHead head = parser_.TakeHead();
  Request request{.method = std::move(head.method),
                  .target = std::move(head.target),
                  .headers = std::move(head.headers),
                  .body = std::move(body_),
                  .peer = peer_};
  body_ = {};
  parser_.Next();
  phase_ = Phase::kHandling;
  deadline_ = TimePoint::max();
  ++exchange_;
  state_->handler(std::move(request), Responder(state_->io, weak_from_this(), exchange_));
}

void ServerConnection::Refuse(int status, std::string_view text) {
  ++exchange_;
  keep_alive_ = false;
  phase_ = Phase::kHandling;
  in_.clear();
  Answer(exchange_, {.status = status,
                     .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
                     .body = MakeBody(std::string(text) + "\n")});
}

void ServerConnection::Flush() {
  if (writing_ || phase_ == Phase::kClosed) return;
  const Moved m = out_.WriteTo(*transport_);
  if (stream_) stream_->queued.store(out_.size(), std::memory_order_relaxed);
  TellRoom();
  if (m.state == Moved::kAgain) {
    writing_ = true;
    if (m.bytes > 0 || deadline_ == TimePoint::max()) SetDeadline(state_->options.write_timeout);
    transport_->WhenWritable([self = shared_from_this()] {
      self->writing_ = false;
      self->Flush();
    });
  } else if (m.state != Moved::kSome) {
    Close();
  } else {
    Drained();
  }
}

// What is written until its turn comes goes out together.
void ServerConnection::FlushSoon() {
  if (writing_ || std::exchange(flush_soon_, true)) return;
  state_->FlushSoon(shared_from_this());
}

void ServerConnection::FlushNow() {
  flush_soon_ = false;
  Flush();
}

void ServerConnection::TellRoom() {
  if (room_ && out_.size() <= room_at_) state_->io.Post(std::exchange(room_, {}));
}

void ServerConnection::Drained() {
  if (phase_ == Phase::kStreaming && !stream_ended_) {
    deadline_ = TimePoint::max();  // nothing to send: a quiet stream may last for ever
    return;
  }
  if (phase_ != Phase::kAnswering && phase_ != Phase::kStreaming) return;
  stream_.reset();
  gone_ = {};
  room_ = {};
  if (keep_alive_ && !state_->stopping && !read_ended_)
    NextRequest();
  else
    Linger();
}

void ServerConnection::NextRequest() {
  phase_ = Phase::kHead;
  SetDeadline(state_->options.idle_timeout);
  if (!pumping_ && !in_.empty()) Pump();
  WaitReadable();
}

// Closing while bytes of the client are unread would reset the connection and destroy the answer on its way
// (RFC 9112 §9.6): say that no more comes, then read on for a while. A client that said that its request is the last
// sends nothing more: a kubelet's probe need not wake anybody twice.
void ServerConnection::Linger() {
  if (read_ended_ || (client_closes_ && in_.empty() && !transport_->tls())) return Close();
  phase_ = Phase::kLingering;
  in_ = {};
  transport_->ShutdownWrite();
  SetDeadline(kLingerTime);
  WaitReadable();
}

void ServerConnection::Close() {
  if (phase_ == Phase::kClosed) return;
  auto self = shared_from_this();
  phase_ = Phase::kClosed;
  timer_.Cancel();
  if (stream_) {
    stream_->gone = true;
    stream_->queued = 0;
  }
  out_.Clear();
  in_ = {};
  room_ = {};
  state_->connections.erase(this);
  state_->count = state_->connections.size();
  // Later: a caller up the stack may still look at the transport.
  state_->io.Post([self] { self->transport_.reset(); });
  if (Executor::Task gone = std::exchange(gone_, {})) gone();
  state_->MaybeStopped();
}

void ServerConnection::Stop(bool graceful) {
  if (graceful && (Busy() || phase_ == Phase::kLingering || phase_ == Phase::kBody)) return;
  Close();
}

// The timer is moved only when it would come too late, so that a busy connection hardly touches it.
void ServerConnection::SetDeadline(Duration span) {
  deadline_ = state_->io.Now() + span;
  if (deadline_ < timer_at_) ArmTimer();
}

void ServerConnection::ArmTimer() {
  timer_at_ = deadline_;
  timer_.Set(deadline_, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->OnDeadline();
  });
}

void ServerConnection::OnDeadline() {
  timer_at_ = TimePoint::max();
  if (deadline_ == TimePoint::max()) return;
  if (state_->io.Now() < deadline_) return ArmTimer();
  deadline_ = TimePoint::max();
  const bool waits = phase_ == Phase::kBody || (phase_ == Phase::kHead && parser_.Begun());
  if (waits) return Refuse(408, "the request did not arrive in time");
  if (writing_) transport_->ResetOnClose();
  Close();
}

}  // namespace gpuop::net::detail
