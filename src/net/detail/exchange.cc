#include "net/detail/exchange.h"

#include <fmt/core.h>

#include "base/text.h"

namespace gpuop::net::detail {

Exchange::Exchange(std::shared_ptr<ClientCore> core, ClientRequest request, std::shared_ptr<ResponseSink> sink)
    : core_(std::move(core)),
      request_(std::move(request)),
      sink_(core_->io, std::move(sink)),
      parser_(MessageParser::Kind::kResponse, core_->options.max_header_bytes),
      head_timer_(core_->io) {}

void Exchange::Start() {
  if (ended_) return;
  if (request_.head_limit > Duration::zero())
    head_timer_.Set(io().Now() + request_.head_limit, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->End(Fail(Code::kTimeout, "no answer in time"));
    });
  const bool good =
      IsToken(request_.method) && request_.target.starts_with('/') &&
      FindControl(request_.target) == std::string::npos && request_.target.find(' ') == std::string::npos &&
      std::ranges::all_of(request_.headers, [](const Header& h) { return IsToken(h.name) && IsHeaderValue(h.value); });
  if (!good) return End(Fail(Code::kInvalid, "the request's method, path or header has a character that HTTP forbids"));
  Proceed();
}

void Exchange::Proceed() {
  if (ended_ || wire_ || dialer_) return;
  if (core_->closed) return End(Fail(Code::kCancelled, "the client is closed"));
  std::shared_ptr<Wire> wire = retried_ ? nullptr : core_->TakeIdle();
  if (wire) return Begin(std::move(wire));
  if (!core_->Reserve()) return core_->waiting.push_back(weak_from_this());
  Dial();
}

void Exchange::Dial() {
  dialer_ = std::make_shared<Dialer>(io(), core_->route, core_->tls,
                                     [weak = weak_from_this()](Result<std::unique_ptr<Transport>> made) {
                                       auto self = weak.lock();
                                       if (!self || self->ended_) return;
                                       self->dialer_.reset();
                                       if (made) return self->Begin(std::make_shared<Wire>(*std::move(made)));
                                       self->core_->Release();
                                       self->End(std::unexpected(std::move(made).error()));
                                     });
  dialer_->Start(core_->options.connect_timeout);
}

void Exchange::Begin(std::shared_ptr<Wire> wire) {
  wire_ = std::move(wire);
  ++attempt_;
  write_broken_ = reading_ = answer_begun_ = false;
  parser_.Next(request_.method == "HEAD");
  in_.clear();
  out_.Clear();
  out_.Push(Head());
  for (const Piece& p : request_.body) out_.Push(p);
  Flush();
  WaitReadable();
}

std::string Exchange::Head() const {
  const Url& server = core_->route.server;
  const std::optional<Url>& proxy = core_->route.proxy;
  const bool absolute = proxy && !server.tls();  // RFC 9112 §3.2.2
  std::string head =
      fmt::format("{} {}{} HTTP/1.1\r\n", request_.method, absolute ? server.Origin() : "", request_.target);
  if (request_.headers.Find("Host") == nullptr) head += "Host: " + server.HostHeader() + "\r\n";
  if (absolute && !proxy->userinfo.empty())
    head += "Proxy-Authorization: Basic " + Base64Encode(proxy->userinfo) + "\r\n";
  for (const Header& h : request_.headers) head.append(h.name).append(": ").append(h.value).append("\r\n");
  const std::size_t size = SizeOf(request_.body);
  const bool has_body = size > 0 || request_.method == "POST" || request_.method == "PUT" || request_.method == "PATCH";
  if (has_body) head += fmt::format("Content-Length: {}\r\n", size);
  return head += "\r\n";
}

// When writing fails, reading says why: the server's answer, its TLS alert or the end.
void Exchange::Flush() {
  if (!wire_ || write_broken_) return;
  const Moved m = out_.WriteTo(*wire_->transport);
  if (m.state == Moved::kAgain) {
    wire_->transport->WhenWritable([weak = weak_from_this(), attempt = attempt_] {
      auto self = weak.lock();
      if (self && self->attempt_ == attempt) self->Flush();
    });
  } else if (m.state != Moved::kSome) {
    write_broken_ = true;
  }
}

void Exchange::WaitReadable() {
  if (!wire_ || reading_ || paused_) return;
  reading_ = true;
  wire_->transport->WhenReadable([weak = weak_from_this(), attempt = attempt_] {
    auto self = weak.lock();
    if (!self || self->attempt_ != attempt || !self->wire_) return;
    self->reading_ = false;
    self->OnReadable();
  });
}

void Exchange::OnReadable() {
  if (paused_) return;
  const std::span<char> scratch = Scratch(io());
  const Moved m = wire_->transport->Read(scratch);
  switch (m.state) {
    case Moved::kSome:
      in_.append(scratch.data(), m.bytes);
      answer_begun_ = true;
      Parse();
      break;
    case Moved::kAgain: break;
    case Moved::kEnd: return OnServerEnd();
    case Moved::kBroken: return Broken(wire_->transport->error());
  }
  WaitReadable();
}

void Exchange::Parse() {
  while (!ended_ && wire_ && !in_.empty() && Step()) {
  }
}

// Parses once; false when more bytes are needed or all is over.
bool Exchange::Step() {
  MessageParser::OnBody on_body = [this](std::string_view bytes) {
    answer_bytes_ += bytes.size();
    if (request_.max_answer_bytes != 0 && answer_bytes_ > request_.max_answer_bytes) too_large_ = true;
    if (!too_large_) sink_.Tell([&](ResponseSink& s) { s.OnData(bytes); });
  };
  const Result<std::size_t> taken = parser_.Feed(in_, on_body);
  if (ended_) return false;
  if (!taken) {
    End(Fail(taken.error().code, "the server's answer: " + taken.error().text));
    return false;
  }
  in_.erase(0, *taken);
  if (parser_.HeadDone() && !head_told_) OnHead();
  if (ended_ || !wire_) return false;
  if (too_large_) {
    End(Fail(Code::kTooLarge, fmt::format("the answer is larger than {} bytes", request_.max_answer_bytes)));
    return false;
  }
  if (*taken == 0 && in_.size() > core_->options.max_header_bytes + 64 * 1024) {
    End(Fail(Code::kTooLarge, "the server's answer: a chunk's head or the trailer is too large"));
    return false;
  }
  if (parser_.Done() && head_told_) Complete();
  return !ended_ && *taken > 0;
}

void Exchange::OnHead() {
  const MessageHead& head = parser_.head();
  if (head.status == 101 && on_switch_) {
    auto then = std::exchange(on_switch_, {});
    auto transport = std::move(wire_->transport);
    DropWire();
    ended_ = true;
    head_timer_.Cancel();
    return then(std::move(transport), parser_.TakeHead(), std::move(in_));
  }
  if (head.status == 101) return End(Fail(Code::kInvalid, "the server switches protocols unasked"));
  if (head.status < 200) return parser_.Next(request_.method == "HEAD");  // RFC 9110 §15.2: the real one follows
  if (request_.max_answer_bytes != 0 && request_.method != "HEAD" &&
      parser_.ContentLength().value_or(0) > request_.max_answer_bytes) {
    too_large_ = true;
    return;
  }
  head_told_ = true;
  head_timer_.Cancel();
  sink_.Tell([&](ResponseSink& s) { s.OnHead(head.status, head.headers); });
}

void Exchange::OnServerEnd() {
  if (head_told_ && parser_.End()) return Complete();  // an answer that ends with the connection
  if (!answer_begun_) return Broken({Code::kUnavailable, "server closed the connection without an answer"});
  End(Fail(Code::kUnavailable,
           head_told_
               ? fmt::format("server closed the connection in the middle of the answer after {} bytes", answer_bytes_)
               : "server closed the connection in the middle of the answer's head"));
}

void Exchange::Broken(Error error) {
  if (MayRetry()) {
    retried_ = true;
    DropWire();
    return Proceed();
  }
  if (head_told_) error.text += fmt::format(" in the middle of the answer after {} bytes", answer_bytes_);
  End(std::unexpected(std::move(error)));
}

bool Exchange::MayRetry() const {
  const std::string& m = request_.method;
  return wire_ && wire_->used && !answer_begun_ && !retried_ &&
         (m == "GET" || m == "HEAD" || m == "OPTIONS" || m == "TRACE");
}

void Exchange::Complete() {
  if (parser_.KeepAlive() && in_.empty() && out_.empty() && !wire_->transport->Holds() && !write_broken_) {
    auto wire = std::exchange(wire_, nullptr);
    wire->used = true;
    ++attempt_;
    core_->Return(std::move(wire));
  }
  End({});
}

void Exchange::End(Result<> why) {
  if (std::exchange(ended_, true)) return;
  auto self = shared_from_this();
  DropWire();
  if (dialer_) {
    dialer_.reset();
    core_->Release();
  }
  head_timer_.Cancel();
  sink_.TellLast([&](ResponseSink& s) { s.OnEnd(std::move(why)); });
}

void Exchange::DropWire() {
  if (!wire_) return;
  ++attempt_;
  wire_.reset();
  core_->Release();
}

void Exchange::SetPaused(bool paused) {
  if (std::exchange(paused_, paused) && !paused) WaitReadable();
}

void Exchange::Cancel() {
  on_switch_ = {};
  End(Fail(Code::kCancelled, "cancelled"));
}

}  // namespace gpuop::net::detail
