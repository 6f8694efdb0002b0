#include "net/detail/dialer.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"

namespace gpuop::net::detail {

Dialer::Dialer(IoThread& io, const Route& route, ClientTls& tls, Then then)
    : io_(io), route_(route), tls_(tls), then_(std::move(then)), timer_(io) {}

void Dialer::Start(Duration limit) {
  const Url& hop = FirstHop();
  doing_ = "connect " + hop.HostAndPort();
  timer_.Set(io_.Now() + limit, [weak = weak_from_this(), limit] {
    if (auto self = weak.lock())
      self->Fail(Code::kTimeout, fmt::format("{}: no answer within {} ms", self->doing_,
                                             std::chrono::duration_cast<std::chrono::milliseconds>(limit).count()));
  });
  if (hop.scheme == "unix") {
    auto address = UnixAddress(hop.host);
    if (!address) return Fail(address.error().code, address.error().text);
    return Found(std::vector{*address});
  }
  if (auto address = NumericAddress(hop.host, hop.port)) return Found(std::vector{*address});
  lookup_ = LookUp(io_, hop.host, hop.port, [weak = weak_from_this()](Result<std::vector<Address>> found) {
    if (auto self = weak.lock()) self->Found(std::move(found));
  });
}

void Dialer::Found(Result<std::vector<Address>> addresses) {
  if (!addresses) return Fail(addresses.error().code, "look up " + FirstHop().host + ": " + addresses.error().text);
  addresses_ = *std::move(addresses);
  TryNext();
}

void Dialer::TryNext() {
  const Address& to = addresses_[next_address_++];
  doing_ = "connect " + to.Text();
  const int fd = ::socket(to.family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return Fail(Code::kIo, doing_ + ": " + SystemText(errno));
  PrepareSocket(fd);
  transport_ = std::make_unique<Transport>(io_, fd);
  int error = 0;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(to.bytes.data()), to.size) != 0) error = errno;
  if (error != 0 && error != EINPROGRESS) {
    if (next_address_ < addresses_.size()) return TryNext();
    return Fail(Code::kUnavailable, doing_ + ": " + SystemText(error));
  }
  transport_->WhenWritable([weak = weak_from_this()] {
    if (auto self = weak.lock()) self->OnConnected();
  });
}

void Dialer::OnConnected() {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(transport_->fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error == 0) return Connected();
  if (next_address_ < addresses_.size()) return TryNext();
  Fail(Code::kUnavailable, doing_ + ": " + SystemText(error));
}

void Dialer::Connected() {
  if (route_.proxy && route_.server.tls())
    AskProxy();
  else
    StartTls();
}

// RFC 9110 §9.3.6.
void Dialer::AskProxy() {
  const std::string to = route_.server.HostAndPort();
  doing_ = fmt::format("connect {} through proxy {}", to, route_.proxy->HostAndPort());
  std::string ask = fmt::format("CONNECT {} HTTP/1.1\r\nHost: {}\r\n", to, to);
  if (!route_.proxy->userinfo.empty())
    ask += "Proxy-Authorization: Basic " + Base64Encode(route_.proxy->userinfo) + "\r\n";
  out_.Push(ask + "\r\n");
  answer_.Next(/*no_body=*/true);
  WriteToProxy();
}

void Dialer::WriteToProxy() {
  switch (out_.WriteTo(*transport_).state) {
    case Moved::kSome: ReadFromProxy(); return;
    case Moved::kAgain:
      transport_->WhenWritable([weak = weak_from_this()] {
        if (auto self = weak.lock()) self->WriteToProxy();
      });
      return;
    default: Fail(Code::kUnavailable, doing_ + ": " + transport_->error().text);
  }
}

void Dialer::ReadFromProxy() {
  const std::span<char> scratch = Scratch(io_);
  // One byte at a time would be exact; but nothing of the server's can come before we have spoken TLS.
  const Moved m = transport_->Read(scratch);
  if (m.state == Moved::kEnd) return Fail(Code::kUnavailable, doing_ + ": the proxy closed the connection");
  if (m.state == Moved::kBroken) return Fail(Code::kUnavailable, doing_ + ": " + transport_->error().text);
  in_.append(scratch.data(), m.bytes);
  MessageParser::OnBody no_body = [](std::string_view) {};
  std::size_t at = 0;
  while (!answer_.HeadDone()) {
    const auto taken = answer_.Feed(std::string_view(in_).substr(at), no_body);
    if (!taken) return Fail(Code::kInvalid, doing_ + ": the proxy's answer is " + taken.error().text);
    if (*taken == 0) break;
    at += *taken;
  }
  in_.erase(0, at);
  if (!answer_.HeadDone()) {
    transport_->WhenReadable([weak = weak_from_this()] {
      if (auto self = weak.lock()) self->ReadFromProxy();
    });
    return;
  }
  const int status = answer_.head().status;
  if (status / 100 != 2)
    return Fail(Code::kUnavailable, fmt::format("{}: the proxy answered {} {}", doing_, status, ReasonPhrase(status)));
  StartTls();
}

void Dialer::StartTls() {
  if (!route_.server.tls()) return Finish(std::move(transport_));
  doing_ = "TLS handshake with " + route_.server.HostAndPort();
  auto session = tls_.NewSession(route_.server.host);
  if (!session) return Fail(session.error().code, "TLS: " + session.error().text);
  transport_->StartTls(*session);
  Handshake();
}

void Dialer::Handshake() {
  switch (transport_->Handshake().state) {
    case Moved::kSome: return Finish(std::move(transport_));
    case Moved::kAgain:
      transport_->WhenHandshakeMayGoOn([weak = weak_from_this()] {
        if (auto self = weak.lock()) self->Handshake();
      });
      return;
    case Moved::kEnd: return Fail(Code::kUnavailable, doing_ + ": server closed the connection");
    case Moved::kBroken: {
      const Error& e = transport_->error();
      return Fail(e.code, e.text.starts_with("TLS: ") ? e.text : doing_ + ": " + e.text);
    }
  }
}

// Later: never from inside Start, whose caller may still be setting up.
void Dialer::Finish(Result<std::unique_ptr<Transport>> result) {
  timer_.Cancel();
  lookup_.reset();
  io_.Post([weak = weak_from_this(), r = std::move(result)]() mutable {
    if (auto self = weak.lock()) std::exchange(self->then_, {})(std::move(r));
  });
}

void Dialer::Fail(Code code, std::string text) {
  transport_.reset();
  Finish(gpuop::Fail(code, std::move(text)));
}

}  // namespace gpuop::net::detail
