#include "net/detail/transport.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "net/detail/tls_context.h"

namespace gpuop::net::detail {
namespace {

constexpr std::size_t kMostPieces = 64;
constexpr std::size_t kTlsRecord = 16 * 1024;
/// Plain text of the records that one system call sends.
constexpr std::size_t kSealedTogether = 64 * 1024;

int BioDone(BIO* bio, ssize_t n, int retry) {
  BIO_clear_retry_flags(bio);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
  return static_cast<int>(n);
}

/// A client may have asked for records smaller than usual (RFC 6066 §4).
std::size_t WriteAll(SSL* ssl, std::string_view text) {
  std::size_t written = 0;
  while (written < text.size()) {
    ERR_clear_error();
    errno = 0;
    const int n = SSL_write(ssl, text.data() + written, static_cast<int>(text.size() - written));
    if (n <= 0) break;
    written += static_cast<std::size_t>(n);
  }
  return written;
}

Transport& Of(BIO* bio) { return *static_cast<Transport*>(BIO_get_data(bio)); }

/// The pieces as records take them: up to 16 KiB each, of one large piece where it lies, of small ones put together.
class RecordCutter {
 public:
  explicit RecordCutter(std::span<const std::string_view> pieces) : pieces_(pieces) {}

  /// The next record's text; "" when nothing is left.
  std::string_view Next() {
    while (!pieces_.empty() && at_ == pieces_.front().size()) NextPiece();
    if (pieces_.empty()) return {};
    const std::string_view first = pieces_.front().substr(at_);
    if (first.size() >= kTlsRecord) {
      at_ += kTlsRecord;
      return first.substr(0, kTlsRecord);
    }
    std::size_t size = 0;
    while (!pieces_.empty() && size < record_.size()) {
      const std::string_view part = pieces_.front().substr(at_, record_.size() - size);
      std::memcpy(record_.data() + size, part.data(), part.size());
      size += part.size();
      at_ += part.size();
      if (at_ == pieces_.front().size()) NextPiece();
    }
    return {record_.data(), size};
  }

 private:
  void NextPiece() {
    pieces_ = pieces_.subspan(1);
    at_ = 0;
  }

  std::span<const std::string_view> pieces_;
  std::size_t at_ = 0;  // in the first of them
  std::array<char, kTlsRecord> record_;
};

}  // namespace

// OpenSSL's own socket BIO writes with write(2), which raises SIGPIPE, and each record by itself.
const BIO_METHOD* Transport::SocketBio() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    BIO_meth_set_write(m, [](BIO* b, const char* p, int n) {
      Transport& to = Of(b);
      const auto size = static_cast<std::size_t>(n);
      if (to.gather_ != nullptr) {
        to.gather_->append(p, size);
        return BioDone(b, n, BIO_FLAGS_WRITE);
      }
      if (to.Holds()) {  // what was first goes first
        errno = EAGAIN;
        return BioDone(b, -1, BIO_FLAGS_WRITE);
      }
      return BioDone(b, ::send(to.fd(), p, size, MSG_NOSIGNAL), BIO_FLAGS_WRITE);
    });
    BIO_meth_set_read(m, [](BIO* b, char* p, int n) {
      const ssize_t got = ::recv(Of(b).fd(), p, static_cast<std::size_t>(n), 0);
      if (got == 0) BIO_set_flags(b, BIO_FLAGS_IN_EOF);
      return BioDone(b, got, BIO_FLAGS_READ);
    });
    BIO_meth_set_ctrl(m, [](BIO* b, int what, long, void*) -> long {
      if (what == BIO_CTRL_EOF) return BIO_test_flags(b, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
      return what == BIO_CTRL_FLUSH ? 1 : 0;
    });
    return m;
  }();
  return method;
}

void PrepareSocket(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  const int on = 1;
  // These fail on unix sockets, which have no delay and no silent deaths. A peer that vanished is noticed in a minute.
  const int idle_s = 30;
  const int interval_s = 10;
  const int probes = 3;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

Transport::~Transport() {
  if (ssl_ != nullptr) SSL_free(ssl_);
  *alive_ = false;
}

void Transport::StartTls(ssl_st* ssl) {
  ssl_ = ssl;
  BIO* bio = BIO_new(SocketBio());
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
}

Moved Transport::Broken(int error) {
  error_ = {error == ETIMEDOUT ? Code::kTimeout : Code::kUnavailable, SystemText(error)};
  return {Moved::kBroken, 0};
}

Moved Transport::SslOutcome(int returned) {
  const int saved = errno;
  wants_write_ = false;
  switch (SSL_get_error(ssl_, returned)) {
    case SSL_ERROR_WANT_READ: return {Moved::kAgain, 0};
    case SSL_ERROR_WANT_WRITE: wants_write_ = true; return {Moved::kAgain, 0};
    case SSL_ERROR_ZERO_RETURN: return {Moved::kEnd, 0};
    case SSL_ERROR_SYSCALL:
      // TCP's end without TLS's own: HTTP's framing says whether something is missing.
      if (saved == 0 || BIO_eof(SSL_get_rbio(ssl_))) return {Moved::kEnd, 0};
      return Broken(saved);
    default: break;
  }
  if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    ERR_clear_error();
    return {Moved::kEnd, 0};
  }
  error_ = TlsError(ssl_);
  return {Moved::kBroken, 0};
}

Moved Transport::Handshake() {
  if (ssl_ == nullptr || SSL_is_init_finished(ssl_)) return {};
  ERR_clear_error();
  errno = 0;
  const int done = SSL_do_handshake(ssl_);
  if (done == 1) return {};
  return SslOutcome(done);
}

void Transport::WhenHandshakeMayGoOn(Executor::Task then) {
  if (wants_write_)
    watched_.WhenWritable(std::move(then));
  else
    watched_.WhenReadable(std::move(then));
}

Moved Transport::Read(std::span<char> into) {
  if (ssl_ != nullptr) {
    if (ended_) return *ended_;
    std::size_t size = 0;  // of several records, if they are there
    int n = 0;
    do {
      ERR_clear_error();
      errno = 0;
      n = SSL_read(ssl_, into.data() + size, static_cast<int>(into.size() - size));
      if (n > 0) size += static_cast<std::size_t>(n);
    } while (n > 0 && size < into.size() && SSL_has_pending(ssl_) == 1);
    drained_ = n <= 0;
    const Moved outcome = n > 0 ? Moved{} : SslOutcome(n);
    if (size == 0) return outcome;
    if (n <= 0 && outcome.state != Moved::kAgain) ended_ = outcome;
    return {Moved::kSome, size};
  }
  const ssize_t n = ::recv(fd(), into.data(), into.size(), 0);
  if (n > 0) return {Moved::kSome, static_cast<std::size_t>(n)};
  if (n == 0) return {Moved::kEnd, 0};
  if (errno == EAGAIN || errno == EINTR) return {Moved::kAgain, 0};
  return Broken(errno);
}

Moved Transport::Write(std::span<const std::string_view> pieces) {
  pieces = pieces.first(std::min(pieces.size(), kMostPieces));
  if (ssl_ != nullptr) return Seal(pieces);
  std::array<iovec, kMostPieces> parts;
  for (std::size_t i = 0; i < pieces.size(); ++i) parts[i] = {const_cast<char*>(pieces[i].data()), pieces[i].size()};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = pieces.size();
  const ssize_t n = ::sendmsg(fd(), &message, MSG_NOSIGNAL);
  if (n >= 0) return {Moved::kSome, static_cast<std::size_t>(n)};
  if (errno == EAGAIN || errno == EINTR) return {Moved::kAgain, 0};
  return Broken(errno);
}

Moved Transport::Seal(std::span<const std::string_view> pieces) {
  if (Holds())
    if (const Moved m = SendHeld(); m.state != Moved::kSome || pieces.empty()) return m;
  std::string& sealed = OutScratch(io_);
  gather_ = &sealed;
  RecordCutter cutter(pieces);
  std::size_t taken = 0;
  Moved outcome{};
  while (taken < kSealedTogether) {
    const std::string_view record = cutter.Next();
    if (record.empty()) break;
    const std::size_t n = WriteAll(ssl_, record);  // the gathering place refuses nothing
    taken += n;
    if (n < record.size()) {
      outcome = SslOutcome(-1);
      break;
    }
  }
  gather_ = nullptr;
  const ssize_t sent = sealed.empty() ? 0 : ::send(fd(), sealed.data(), sealed.size(), MSG_NOSIGNAL);
  const bool broken = sent < 0 && errno != EAGAIN && errno != EINTR;
  if (!broken) held_.assign(sealed, static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
  sealed.clear();
  if (broken) return Broken(errno);
  if (taken == 0) return outcome;
  return {Moved::kSome, taken};
}

Moved Transport::SendHeld() {
  const ssize_t sent = ::send(fd(), held_.data(), held_.size(), MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN || errno == EINTR ? Moved{Moved::kAgain, 0} : Broken(errno);
  held_.erase(0, static_cast<std::size_t>(sent));
  if (Holds()) return {Moved::kAgain, static_cast<std::size_t>(sent)};
  held_ = {};  // its memory too: many connections wait, few hold
  return {Moved::kSome, 0};
}

void Transport::ShutdownWrite() {
  if (ssl_ != nullptr && SSL_is_init_finished(ssl_)) {
    ERR_clear_error();
    SSL_shutdown(ssl_);
  }
  ::shutdown(fd(), SHUT_WR);
}

void Transport::ResetOnClose() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

void Transport::WhenReadable(Executor::Task then) {
  if (ended_ || (ssl_ != nullptr && !drained_ && SSL_has_pending(ssl_) == 1)) {
    // Already taken from the socket: the system would not wake us for it.
    io_.Post([alive = alive_, t = std::move(then)]() mutable {
      if (*alive) t();
    });
    return;
  }
  watched_.WhenReadable(std::move(then));
}

}  // namespace gpuop::net::detail
