#include "net/grpc/caller.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>

#include "base/text.h"
#include "net/grpc/status.h"
#include "os/system_error.h"

namespace gpuop::net {

bool GrpcCaller::Refresh() {
  auto received = Http2Session::Received::kMore;
  while (received == Http2Session::Received::kMore) received = session_.Receive(socket_.get());
  return received != Http2Session::Received::kEnd && session_.Flush(socket_.get()) != Http2Session::Sent::kEnd &&
         session_.takes_requests();
}

Result<> GrpcCaller::Call(const Order& order, const std::function<bool(std::string message)>& on_message) {
  reusable_ = untouched_ = false;
  if (order.request.size() > max_message_)
    return Fail(Code::kTooManyRequests, name_ + ": a request of " + std::to_string(order.request.size()) +
                                            " bytes; at most " + std::to_string(max_message_) + " are sent");
  const os::Fd wake(order.stop.stop_possible() ? ::eventfd(0, EFD_CLOEXEC) : -1);
  const std::stop_callback ring(order.stop, [&] { ::eventfd_write(wake.get(), 1); });
  Begin(order);
  for (bool first = true;; first = false) {
    const auto sent = answered_ ? Http2Session::Sent::kAll : session_.Flush(socket_.get());
    ASSIGN(const bool more, Deliver(on_message));
    if (!more) return {};
    if (answered_ || closed_) {
      reusable_ = closed_ && reset_ == Http2Session::kNoError;
      untouched_ = reset_ == Http2Session::kRefused;
      return Verdict();
    }
    if (sent == Http2Session::Sent::kEnd || ended_) {
      untouched_ = first;
      return Fail(Code::kUnavailable, name_ + ": the server closed the connection");
    }
    TRY(Wait(order, wake.get(), sent == Http2Session::Sent::kBlocked));
    ended_ = session_.Receive(socket_.get()) == Http2Session::Received::kEnd;
  }
}

void GrpcCaller::Begin(const Order& order) {
  answered_ = closed_ = ended_ = false;
  reset_ = Http2Session::kNoError;
  reader_ = MessageReader(max_message_);
  http_status_.clear();
  grpc_status_.clear();
  grpc_message_.clear();
  Http2Headers headers{{":method", "POST"},           {":scheme", "http"}, {":path", order.method},
                       {":authority", "localhost"},   {"te", "trailers"},  {"content-type", "application/grpc"},
                       {"user-agent", "gpu-operator"}};
  if (order.until) headers.emplace_back("grpc-timeout", FormatTimeout(*order.until - SystemClock().Now()));
  stream_ = session_.Request(headers);
  if (stream_ < 0) {
    ended_ = true;
    return;
  }
  session_.Write(stream_, FrameMessage(order.request));
  session_.End(stream_);
}

Result<bool> GrpcCaller::Deliver(const std::function<bool(std::string message)>& on_message) {
  for (;;) {
    auto message = reader_.Next();
    if (!message) {
      // To a caller a message that is too long is what gRPC calls it.
      if (message.error().code == Code::kTooLarge) message.error().code = Code::kTooManyRequests;
      return std::unexpected(std::move(message).error());
    }
    if (!*message) return true;
    if (!on_message(*std::move(*message))) return false;
  }
}

Result<> GrpcCaller::Wait(const Order& order, int wake, bool to_write) {
  int wait = -1;
  if (order.until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*order.until - SystemClock().Now()).count();
    if (left <= 0) return Fail(Code::kTimeout, name_ + ": no answer in time");
    wait = static_cast<int>(std::min<std::int64_t>(left, 3'600'000));
  }
  pollfd fds[] = {{socket_.get(), static_cast<short>(to_write ? POLLIN | POLLOUT : POLLIN), 0}, {wake, POLLIN, 0}};
  if (::poll(fds, 2, wait) < 0 && errno != EINTR) return os::FailErrno(errno, name_ + ": wait for the answer");
  if (order.stop.stop_requested()) return Fail(Code::kCancelled, name_ + ": stopped");
  return {};
}

Result<> GrpcCaller::Verdict() const {
  if (!grpc_status_.empty()) {
    const auto status = ParseInt(grpc_status_).value_or(-1);
    if (status != 0)
      return Fail(CodeOfGrpc(static_cast<int>(std::clamp<std::int64_t>(status, -1, 99))),
                  DecodeStatusText(grpc_message_));
    if (reader_.in_message()) return Fail(Code::kInternal, name_ + ": the answer ends inside a message");
    return {};
  }
  if (reset_ == Http2Session::kRefused) return Fail(Code::kUnavailable, name_ + ": the server refused the call");
  if (reset_ == Http2Session::kCancel) return Fail(Code::kCancelled, name_ + ": the server cancelled the call");
  if (reset_ != Http2Session::kNoError)
    return Fail(Code::kInternal,
                name_ + ": the server reset the call with error " + std::to_string(reset_) + " of HTTP/2");
  // The table of "HTTP to gRPC Status Code Mapping".
  const std::string text = name_ + ": the answer has no grpc-status; its HTTP status is " + http_status_;
  if (http_status_ == "401") return Fail(Code::kUnauthorized, text);
  if (http_status_ == "403") return Fail(Code::kForbidden, text);
  if (http_status_ == "404") return Fail(Code::kUnsupported, text);
  if (http_status_ == "429" || http_status_ == "502" || http_status_ == "503" || http_status_ == "504")
    return Fail(Code::kUnavailable, text);
  return Fail(Code::kInternal, text);
}

void GrpcCaller::OnHeader(std::int32_t stream, std::string_view name, std::string_view value) {
  if (stream != stream_) return;
  if (name == ":status") http_status_ = value;
  if (name == "grpc-status") grpc_status_ = value;
  if (name == "grpc-message") grpc_message_ = value;
}

void GrpcCaller::OnEnd(std::int32_t stream) { answered_ = answered_ || stream == stream_; }

void GrpcCaller::OnData(std::int32_t stream, std::string_view bytes) {
  if (stream == stream_) reader_.Feed(bytes);
}

void GrpcCaller::OnClose(std::int32_t stream, std::uint32_t error) {
  if (stream != stream_) return;
  closed_ = true;
  reset_ = error;
}

}  // namespace gpuop::net
