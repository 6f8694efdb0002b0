#include "net/detail/acceptor.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "net/detail/server_connection.h"

namespace gpuop::net::detail {
namespace {

constexpr int kBacklog = 4096;
constexpr int kAcceptsPerTurn = 64;
constexpr Duration kPause = std::chrono::milliseconds(100);

Result<Address> Parse(const std::string& address, std::string& unix_path) {
  if (address.starts_with("unix:")) {
    unix_path = address.substr(5);
    return UnixAddress(unix_path);
  }
  const std::size_t colon = address.rfind(':');
  const auto port = ParseInt(colon == std::string::npos ? "" : std::string_view(address).substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) return Fail(Code::kInvalid, "not an address with a port");
  std::string_view host = std::string_view(address).substr(0, colon);
  if (host.empty()) host = "::";
  if (host == "localhost") host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return NumericAddress(host, static_cast<std::uint16_t>(*port));
}

Result<Listener> Bind(Address to, std::string unix_path) {
  const int fd = ::socket(to.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return Fail(Code::kIo, SystemText(errno));
  Listener listener{.fd = fd, .address = {}, .unix_path = {}};
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct stat s{};
  if (!unix_path.empty() && ::lstat(unix_path.c_str(), &s) == 0 && S_ISSOCK(s.st_mode)) ::unlink(unix_path.c_str());
  if (::bind(fd, reinterpret_cast<const sockaddr*>(to.bytes.data()), to.size) != 0 || ::listen(fd, kBacklog) != 0) {
    const int error = errno;
    ::close(fd);
    return Fail(error == EADDRINUSE ? Code::kAlreadyExists : Code::kIo, SystemText(error));
  }
  listener.unix_path = std::move(unix_path);
  Address bound{.bytes = {}, .size = sizeof bound.bytes, .family = to.family};
  ::getsockname(fd, reinterpret_cast<sockaddr*>(bound.bytes.data()), &bound.size);
  listener.address = bound.Text();
  return listener;
}

}  // namespace

Result<Listener> OpenListener(const std::string& address) {
  const std::string doing = "listen on " + address;
  std::string unix_path;
  auto to = Parse(address, unix_path);
  if (!to) return std::unexpected(std::move(to).error().During(doing));
  auto listener = Bind(*to, std::move(unix_path));
  // A machine without IPv6 still has "all addresses".
  if (!listener && address.starts_with(':')) listener = OpenListener("0.0.0.0" + address);
  if (!listener) return std::unexpected(std::move(listener).error().During(doing));
  return listener;
}

Acceptor::Acceptor(std::shared_ptr<ServerState> state, Listener listener, std::optional<ServerTls> tls)
    : state_(std::move(state)),
      fd_(state_->io, listener.fd),
      unix_path_(std::move(listener.unix_path)),
      tls_(std::move(tls)),
      pause_(state_->io) {
  PrepareSocket(fd_.fd());  // what is accepted has the same options, on Linux
}

Acceptor::~Acceptor() {
  if (!unix_path_.empty()) ::unlink(unix_path_.c_str());
}

void Acceptor::Wait() {
  fd_.WhenReadable([weak = weak_from_this()] {
    if (auto self = weak.lock()) self->Accept();
  });
}

void Acceptor::Accept() {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    Address from{.bytes = {}, .size = sizeof from.bytes, .family = 0};
    const int fd =
        ::accept4(fd_.fd(), reinterpret_cast<sockaddr*>(from.bytes.data()), &from.size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      from.family = reinterpret_cast<const sockaddr*>(from.bytes.data())->sa_family;
      Greet(fd, from);
      continue;
    }
    if (errno == EAGAIN) break;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      // Somebody must close something first; until then the clients wait in the backlog.
      pause_.Set(state_->io.Now() + kPause, [this] { Accept(); });
      return;
    }
    // Anything else is that one connection's trouble (accept(2): ECONNABORTED, EPROTO, …).
  }
  Wait();
}

void Acceptor::Greet(int fd, const Address& from) {
  if (state_->stopping || state_->connections.size() >= state_->options.max_connections) {
    ::close(fd);
    return;
  }
  auto transport = std::make_unique<Transport>(state_->io, fd);
  auto peer = std::make_shared<Peer>(Peer{.address = from.Text(), .tls = tls_.has_value(), .certificate = {}});
  if (tls_) {
    auto session = tls_->NewSession();
    if (!session) return;
    transport->StartTls(*session);
  }
  auto c = std::make_shared<ServerConnection>(state_, std::move(transport), std::move(peer));
  state_->connections.emplace(c.get(), c);
  state_->count = state_->connections.size();
  c->Begin();
}

}  // namespace gpuop::net::detail
