#include "net/ttrpc/trunk.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "net/grpc/status.h"
#include "net/ttrpc/ttrpc.pb.h"
#include "net/unix_socket.h"
#include "os/system_error.h"

namespace gpuop::net {
namespace {

constexpr std::size_t kFrameHeader = 8, kMessageHeader = 10;
/// The caller has said all that it has to say: each call is one request.
constexpr std::uint8_t kRemoteClosed = 1;
constexpr Duration kConnectLimit = std::chrono::seconds(10);

void PutNumber(std::string& to, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(value >> static_cast<unsigned>(shift) & 0xffU);
}

std::uint32_t NumberAt(std::string_view from, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) out = out << 8U | static_cast<unsigned char>(from[at + i]);
  return out;
}

Result<> WriteAll(const os::Fd& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Fail(Code::kUnavailable, std::string("the other side has gone: ") + std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<TtrpcTrunk>> TtrpcTrunk::Connect(const std::string& path) {
  ASSIGN(os::Fd socket, ConnectUnix(path, kConnectLimit));
  return std::make_unique<TtrpcTrunk>(std::move(socket));
}

Result<> TtrpcTrunk::Send(std::uint32_t connection, std::uint32_t stream, Type type, std::uint8_t flags,
                          const std::string& body) {
  if (body.size() > kMaxMessage) return Fail(Code::kTooLarge, "a ttrpc message of more than 4 MiB");
  std::string out;
  PutNumber(out, connection);
  PutNumber(out, static_cast<std::uint32_t>(kMessageHeader + body.size()));
  PutNumber(out, static_cast<std::uint32_t>(body.size()));
  PutNumber(out, stream);
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  return WriteAll(socket_, out + body);
}

Result<> TtrpcTrunk::Unpack() {
  while (raw_.size() >= kFrameHeader) {
    const std::size_t length = NumberAt(raw_, 4);
    if (length > kMaxMessage + kMessageHeader) return Fail(Code::kTooLarge, "a frame of more than 4 MiB");
    if (raw_.size() < kFrameHeader + length) break;
    const std::uint32_t connection = NumberAt(raw_, 0);
    std::string& stream = streams_[connection];
    stream.append(raw_, kFrameHeader, length);
    raw_.erase(0, kFrameHeader + length);
    while (stream.size() >= kMessageHeader) {
      const std::size_t body = NumberAt(stream, 0);
      if (body > kMaxMessage) return Fail(Code::kTooLarge, "a ttrpc message of more than 4 MiB");
      if (stream.size() < kMessageHeader + body) break;
      ready_.push_back(
          {connection, NumberAt(stream, 4), static_cast<std::uint8_t>(stream[8]), stream.substr(kMessageHeader, body)});
      stream.erase(0, kMessageHeader + body);
    }
  }
  return {};
}

Result<TtrpcTrunk::Message> TtrpcTrunk::Next(std::optional<TimePoint> until, const std::stop_token& stop) {
  const os::Fd wake(::eventfd(0, EFD_CLOEXEC));
  const std::stop_callback ring(stop, [&] { ::eventfd_write(wake.get(), 1); });
  while (ready_.empty()) {
    int left = -1;
    if (until) {
      const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(*until - SystemClock().Now());
      if (wait.count() <= 0) return Fail(Code::kTimeout, "no answer in time");
      left = static_cast<int>(wait.count()) + 1;
    }
    pollfd fds[] = {{socket_.get(), POLLIN, 0}, {wake.get(), POLLIN, 0}};
    if (::poll(fds, 2, left) < 0 && errno != EINTR) return os::FailErrno(errno, "wait for the engine");
    if (stop.stop_requested()) return Fail(Code::kCancelled, "stopping");
    if (fds[0].revents == 0) continue;
    char buffer[65536];
    const ssize_t n = ::read(socket_.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Fail(Code::kUnavailable, "the other side has gone");
    raw_.append(buffer, static_cast<std::size_t>(n));
    TRY(Unpack());
  }
  Message out = std::move(ready_.front());
  ready_.pop_front();
  return out;
}

Result<std::string> TtrpcTrunk::Call(std::uint32_t connection, const std::string& service, const std::string& method,
                                     const std::string& request, Duration limit, const std::stop_token& stop) {
  ttrpc::Request envelope;
  envelope.set_service(service);
  envelope.set_method(method);
  envelope.set_payload(request);
  envelope.set_timeout_nano(std::chrono::nanoseconds(limit).count());
  // A client's streams are odd and rise.
  const std::uint32_t stream = std::exchange(next_stream_, next_stream_ + 2);
  TRY(Send(connection, stream, kRequest, kRemoteClosed, envelope.SerializeAsString()));
  const TimePoint until = SystemClock().Now() + limit;
  for (;;) {
    ASSIGN(Message message, Next(until, stop));
    if (message.connection != connection || message.type != kResponse || message.stream != stream) {
      waiting_.push_back(std::move(message));
      continue;
    }
    ttrpc::Response response;
    if (!response.ParseFromString(message.body)) return Fail(Code::kInvalid, method + ": the answer is no Response");
    if (response.status().code() != 0) return Fail(CodeOfGrpc(response.status().code()), response.status().message());
    return response.payload();
  }
}

Result<> TtrpcTrunk::Answer(const Message& message, const Handler& handler) {
  ttrpc::Request request;
  ttrpc::Response response;
  if (!request.ParseFromString(message.body)) return Fail(Code::kInvalid, "the request is no Request");
  auto answer = handler(request.service() + "/" + request.method(), request.payload());
  if (answer) {
    response.set_payload(*std::move(answer));
  } else {
    response.mutable_status()->set_code(GrpcCodeOf(answer.error().code));
    response.mutable_status()->set_message(answer.error().text);
  }
  return Send(message.connection, message.stream, kResponse, 0, response.SerializeAsString());
}

Result<> TtrpcTrunk::Serve(std::uint32_t connection, const Handler& handler, const std::stop_token& stop) {
  // What came during calls is older than what is read next.
  ready_.insert(ready_.begin(), std::make_move_iterator(waiting_.begin()), std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  for (;;) {
    const auto message = Next(std::nullopt, stop);
    if (!message && message.error().code == Code::kCancelled) return {};
    if (!message) return std::unexpected(message.error());
    if (message->connection == connection && message->type == kRequest) TRY(Answer(*message, handler));
  }
}

}  // namespace gpuop::net
