#include "net/grpc/connection.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "net/grpc/status.h"

namespace gpuop::net {
namespace {

/// A client that sends without end lets others have their turn.
constexpr int kReadsInTurn = 16;
constexpr std::string_view kContentType = "application/grpc";
constexpr std::size_t kLongestHeader = 4096;

class Stream final : public GrpcStream {
 public:
  Stream(std::shared_ptr<GrpcConnection> connection, std::int32_t id, std::stop_token over)
      : connection_(std::move(connection)), id_(id), over_(std::move(over)) {}
  ~Stream() override { connection_->Finish(id_, Fail(Code::kUnavailable, "the server let go of the stream")); }

  bool Send(std::string message) override { return connection_->Send(id_, message); }
  void Finish(Result<> how) override { connection_->Finish(id_, how); }
  std::stop_token over() const override { return over_; }

 private:
  const std::shared_ptr<GrpcConnection> connection_;
  const std::int32_t id_;
  const std::stop_token over_;
};

Http2Headers StatusOf(const Result<>& how) {
  Http2Headers out{{"grpc-status", std::to_string(how ? 0 : GrpcCodeOf(how.error().code))}};
  if (!how) out.emplace_back("grpc-message", EncodeStatusText(how.error().text));
  return out;
}

Http2Headers ResponseHeaders() { return {{":status", "200"}, {"content-type", std::string(kContentType)}}; }

}  // namespace

void GrpcService::Wake() const { ::eventfd_write(wake.get(), 1); }

bool GrpcConnection::Open() {
  Lock l(mu_);
  epoll_event event{.events = EPOLLIN, .data = {.fd = socket_.get()}};
  return ::epoll_ctl(service_->epoll.get(), EPOLL_CTL_ADD, socket_.get(), &event) == 0 && Flush();
}

bool GrpcConnection::OnReady() {
  bool alive = true;
  std::vector<Executor::Task> starts;
  {
    Lock l(mu_);
    auto received = Http2Session::Received::kMore;
    for (int i = 0; i < kReadsInTurn && received == Http2Session::Received::kMore; ++i)
      received = session_.Receive(socket_.get());
    alive = Flush() && received != Http2Session::Received::kEnd;
    starts.swap(starts_);
  }
  for (Executor::Task& start : starts) {
    if (service_->on_own_thread)
      start();
    else
      service_->executor.Post(std::move(start));
  }
  return alive;
}

std::optional<TimePoint> GrpcConnection::OnTime(TimePoint now) {
  std::optional<TimePoint> next;
  std::vector<std::stop_source> overs;
  {
    Lock l(mu_);
    bool late = false;
    for (auto& [stream, call] : calls_) {
      if (!call.until || call.ended) continue;
      if (*call.until <= now) {
        Conclude(stream, call, Fail(Code::kTimeout, "the call's deadline has passed"));
        overs_.push_back(call.over);
        late = true;
      } else {
        next = next ? std::min(*next, *call.until) : *call.until;
      }
    }
    if (late) FlushFromAnywhere();
    overs.swap(overs_);
  }
  for (std::stop_source& over : overs) over.request_stop();
  return next;
}

void GrpcConnection::Quiesce(const Result<>& how) {
  Lock l(mu_);
  session_.GoAway();
  for (auto& [stream, call] : calls_)
    if (call.handler != nullptr && std::holds_alternative<GrpcStreaming>(*call.handler)) Conclude(stream, call, how);
  FlushFromAnywhere();
}

bool GrpcConnection::has_calls() const {
  Lock l(mu_);
  return !calls_.empty();
}

void GrpcConnection::Close() {
  std::vector<std::stop_source> overs;
  {
    Lock l(mu_);
    overs.swap(overs_);
    for (auto& [stream, call] : calls_)
      if (!call.answered) overs.push_back(std::move(call.over));
    calls_.clear();
    socket_.Close();
  }
  for (std::stop_source& over : overs) over.request_stop();
}

bool GrpcConnection::Send(std::int32_t stream, const std::string& message) {
  Lock l(mu_);
  const auto it = calls_.find(stream);
  if (it == calls_.end() || it->second.ended) return false;
  Call& call = it->second;
  Result<> fits;
  if (message.size() > service_->max_message)
    fits = Fail(Code::kTooLarge, "an answer of " + std::to_string(message.size()) + " bytes; at most " +
                                     std::to_string(service_->max_message) + " are sent");
  else if (session_.waiting(stream) >= GrpcStream::kMostWaiting)
    fits = Fail(Code::kTooManyRequests, "the client does not read its stream");
  if (fits) {
    Respond(stream, call);
    session_.Write(stream, FrameMessage(message));
  } else {
    session_.DropWaiting(stream);
    Conclude(stream, call, fits);
  }
  FlushFromAnywhere();
  return fits.has_value();
}

void GrpcConnection::Finish(std::int32_t stream, const Result<>& how) {
  Lock l(mu_);
  const auto it = calls_.find(stream);
  if (it == calls_.end() || it->second.ended) return;
  Conclude(stream, it->second, how);
  FlushFromAnywhere();
}

void GrpcConnection::Answer(std::int32_t stream, const Result<std::string>& answer) {
  Lock l(mu_);
  const auto it = calls_.find(stream);
  if (it == calls_.end() || it->second.ended) return;
  Call& call = it->second;
  call.answered = true;
  Result<> how;
  if (!answer) {
    how = std::unexpected(answer.error());
  } else if (answer->size() > service_->max_message) {
    how = Fail(Code::kTooLarge, "an answer of " + std::to_string(answer->size()) + " bytes; at most " +
                                    std::to_string(service_->max_message) + " are sent");
  } else {
    Respond(stream, call);
    session_.Write(stream, FrameMessage(*answer));
  }
  Conclude(stream, call, how);
  FlushFromAnywhere();
}

void GrpcConnection::OnOpen(std::int32_t stream) { calls_.try_emplace(stream, service_->max_message); }

void GrpcConnection::OnHeader(std::int32_t stream, std::string_view name, std::string_view value) {
  const auto it = calls_.find(stream);
  if (it == calls_.end() || it->second.handler != nullptr || value.size() > kLongestHeader) return;
  Call& call = it->second;
  if (name == ":method") call.http_method = value;
  if (name == ":path") call.path = value;
  if (name == "content-type") call.content_type = value;
  if (name == "grpc-timeout") call.timeout = value;
}

void GrpcConnection::OnHeaders(std::int32_t stream) {
  const auto it = calls_.find(stream);
  if (it == calls_.end() || it->second.handler != nullptr || it->second.ended) return;
  Call& call = it->second;
  const bool post = call.http_method == "POST";
  if (!post || !call.content_type.starts_with(kContentType)) {
    call.ended = true;
    return session_.RespondAtOnce(stream, {{":status", post ? "415" : "405"}});
  }
  const auto method = service_->methods.find(call.path);
  if (method == service_->methods.end())
    return Conclude(stream, call, Fail(Code::kUnsupported, "unknown method " + call.path));
  if (!call.timeout.empty()) {
    const auto limit = ParseTimeout(call.timeout);
    if (!limit) return Conclude(stream, call, Fail(Code::kInvalid, "grpc-timeout: " + call.timeout + " is none"));
    call.until = service_->executor.Now() + *limit;
  }
  call.handler = &method->second;
}

void GrpcConnection::OnData(std::int32_t stream, std::string_view bytes) {
  const auto it = calls_.find(stream);
  if (it == calls_.end() || it->second.handler == nullptr || it->second.begun || it->second.ended) return;
  it->second.reader.Feed(bytes);
  auto message = it->second.reader.Next();
  if (!message) return Conclude(stream, it->second, std::unexpected(std::move(message).error()));
  if (*message) Begin(stream, it->second, *std::move(*message));
}

void GrpcConnection::OnEnd(std::int32_t stream) {
  const auto it = calls_.find(stream);
  if (it == calls_.end()) return;
  it->second.received = true;
  if (it->second.handler != nullptr && !it->second.begun)
    Conclude(stream, it->second, Fail(Code::kInvalid, "the call holds no request"));
}

void GrpcConnection::OnClose(std::int32_t stream, std::uint32_t) {
  auto call = calls_.extract(stream);
  if (call.empty() || call.mapped().answered || !call.mapped().begun) return;
  overs_.push_back(std::move(call.mapped().over));
  service_->Wake();
}

void GrpcConnection::Begin(std::int32_t stream, Call& call, std::string request) {
  call.begun = true;
  starts_.emplace_back([self = shared_from_this(), stream, handler = call.handler, over = call.over.get_token(),
                        request = std::move(request)]() mutable {
    if (self->service_->closed) return;
    if (const auto* streaming = std::get_if<GrpcStreaming>(handler))
      return (*streaming)(request, std::make_shared<Stream>(self, stream, std::move(over)));
    self->Answer(stream, std::get<GrpcUnary>(*handler)(request, std::move(over)));
  });
}

void GrpcConnection::Respond(std::int32_t stream, Call& call) {
  if (!std::exchange(call.responded, true)) session_.Respond(stream, ResponseHeaders());
}

void GrpcConnection::Conclude(std::int32_t stream, Call& call, const Result<>& how) {
  if (std::exchange(call.ended, true)) return;
  if (call.responded) return session_.End(stream, StatusOf(how));
  Http2Headers headers = ResponseHeaders();
  std::ranges::move(StatusOf(how), std::back_inserter(headers));
  session_.RespondAtOnce(stream, headers);
  // A reset at once would overtake the answer.
  if (!call.received) cut_short_.push_back(stream);
}

void GrpcConnection::ResetCutShort() {
  for (const std::int32_t stream : std::exchange(cut_short_, {}))
    if (const auto it = calls_.find(stream); it != calls_.end() && !it->second.received)
      session_.Reset(stream, Http2Session::kNoError);
}

bool GrpcConnection::Flush() {
  if (!socket_.valid()) return false;
  auto sent = session_.Flush(socket_.get());
  if (sent == Http2Session::Sent::kAll && !cut_short_.empty()) {
    ResetCutShort();
    sent = session_.Flush(socket_.get());
  }
  if (const bool blocked = sent == Http2Session::Sent::kBlocked; blocked != wants_to_write_) {
    wants_to_write_ = blocked;
    epoll_event event{.events = blocked ? EPOLLIN | EPOLLOUT : EPOLLIN, .data = {.fd = socket_.get()}};
    ::epoll_ctl(service_->epoll.get(), EPOLL_CTL_MOD, socket_.get(), &event);
  }
  return sent != Http2Session::Sent::kEnd;
}

void GrpcConnection::FlushFromAnywhere() {
  if (!Flush() && socket_.valid()) ::shutdown(socket_.get(), SHUT_RDWR);
}

}  // namespace gpuop::net
