#include <fmt/core.h>

#include "base/text.h"
#include "kube/http_door_core.h"
#include "kube/status.h"
#include "net/sink_gate.h"

namespace gpuop::kube {
namespace {

constexpr std::size_t kLargestDocument = 64U << 20;
constexpr std::size_t kLargestRefusal = 1U << 20;
constexpr Duration kHeadLimit = std::chrono::seconds(60);

bool IsWatch(const ApiRequest& request) {
  return std::ranges::any_of(request.query,
                             [](const auto& q) { return q.first == "watch" && ParseBool(q.second).value_or(false); });
}

// One open stream: gets credentials, opens, passes documents on, and on a 401 does so once more.
class Opening final : public net::ResponseSink, public std::enable_shared_from_this<Opening> {
 public:
  Opening(std::shared_ptr<HttpDoor::Core> core, ApiRequest request, std::shared_ptr<StreamSink> sink)
      : core_(std::move(core)),
        request_(std::move(request)),
        watch_(IsWatch(request_)),
        gate_(core_->io, std::move(sink)) {}

  // Without waiting if that is possible, else on a worker.
  void Begin() {
    auto ready = core_->credentials.Ready();
    if (ready && *ready) return Send(**ready);
    if (!ready) return EndLater(std::move(ready).error());
    core_->workers.Post([weak = weak_from_this()] {
      auto self = weak.lock();
      if (!self) return;
      auto shown = self->core_->credentials.Get(self->stop_.get_token());
      shown ? self->Send(*shown) : self->EndLater(std::move(shown).error());
    });
  }

  void Close() {
    stop_.request_stop();
    gate_.Close();
    std::unique_ptr<net::ClientStream> stream;
    Lock l(mu_);
    closed_ = true;
    stream.swap(stream_);
  }

  void Resume() {
    Lock l(mu_);
    if (stream_) stream_->Resume();
  }

  void OnHead(int status, const net::Headers& headers) override {
    refusal_ = {.status = status,
                .content_type = std::string(headers.Get("Content-Type")),
                .body = {},
                .retry_after = RetryAfter(headers)};
  }

  void OnData(std::string_view bytes) override {
    if (broken_) return;
    if (refusal_.status >= 300) {
      refusal_.body.append(bytes.substr(0, kLargestRefusal - refusal_.body.size()));
    } else if (!watch_) {
      Pass(bytes);
    } else {
      auto added = lines_.Add(bytes, [&](std::string_view document) { Pass(document); });
      if (added) return;
      broken_ = true;
      TellEnd(std::unexpected(std::move(added).error()));
      DropStream();
    }
  }

  void OnEnd(Result<> why) override {
    if (broken_) return;
    if (!why) return TellEnd(std::move(why));
    if (refusal_.status < 300) return TellEnd(watch_ ? lines_.End() : Result<>());
    if (refusal_.status == 401 && !std::exchange(again_, true)) {
      core_->workers.Post([weak = weak_from_this(), serial = serial_.load()] {
        auto self = weak.lock();
        if (!self) return;
        if (self->core_->credentials.Refused(serial)) return self->Begin();
        self->core_->io.Post([self] { self->TellRefusal(); });
      });
      return;
    }
    TellRefusal();
  }

 private:
  void Send(const ShownCredentials& shown) {
    auto client = core_->ClientFor(shown);
    if (!client) return EndLater(std::move(client).error());
    net::ClientRequest request = core_->Request(request_, shown);
    request.max_answer_bytes = 0;
    request.head_limit = kHeadLimit;
    std::unique_ptr<net::ClientStream> before;
    Lock l(mu_);
    if (closed_) return;
    serial_ = shown.serial;
    before = std::exchange(stream_, (*client)->Open(std::move(request), shared_from_this()));
  }

  // What is in hand is passed on all the same, so a pause is of the bytes to come.
  void Pass(std::string_view piece) {
    bool more = true;
    gate_.Tell([&](StreamSink& s) {
      s.OnData(piece);
      more = s.WantsMore();
    });
    if (more) return;
    Lock l(mu_);
    if (stream_) stream_->Pause();
  }

  void DropStream() {
    std::unique_ptr<net::ClientStream> stream;
    Lock l(mu_);
    stream.swap(stream_);
  }

  void EndLater(Error error) {
    core_->io.Post([weak = weak_from_this(), e = std::move(error)]() mutable {
      if (auto self = weak.lock()) self->TellEnd(std::unexpected(std::move(e)));
    });
  }

  void TellRefusal() { TellEnd(std::unexpected(ReadStatus(refusal_).ToError())); }

  void TellEnd(Result<> why) {
    if (!why) why = std::unexpected(std::move(why).error().During(core_->Doing(request_)));
    gate_.TellLast([&](StreamSink& s) { s.OnEnd(std::move(why), refusal_.retry_after); });
  }

  const std::shared_ptr<HttpDoor::Core> core_;
  const ApiRequest request_;
  const bool watch_;
  net::SinkGate<StreamSink> gate_;
  std::stop_source stop_;

  Mutex mu_;
  std::unique_ptr<net::ClientStream> stream_ GUARDED_BY(mu_);
  bool closed_ GUARDED_BY(mu_) = false;
  std::atomic<std::uint64_t> serial_ = 0;

  // On the I/O thread only.
  ApiResponse refusal_;  // the answer's head, and its body if it is a refusal
  LineCutter lines_{kLargestDocument};
  bool again_ = false;
  bool broken_ = false;
};

class HttpStream final : public Stream {
 public:
  explicit HttpStream(std::shared_ptr<Opening> opening) : opening_(std::move(opening)) {}
  ~HttpStream() override { opening_->Close(); }
  void Resume() override { opening_->Resume(); }

 private:
  std::shared_ptr<Opening> opening_;
};

}  // namespace

Result<> LineCutter::Add(std::string_view bytes, const std::function<void(std::string_view)>& take) {
  for (;;) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (begun_.size() + part.size() > largest_)
      return Fail(Code::kTooLarge, fmt::format("an event is larger than {} bytes", largest_));
    if (end == std::string_view::npos) {
      begun_.append(part);
      return {};
    }
    if (begun_.empty()) {
      if (!Trim(part).empty()) take(part);
    } else {
      begun_.append(part);
      const std::string whole = std::exchange(begun_, {});
      if (!Trim(whole).empty()) take(whole);
    }
    bytes.remove_prefix(end + 1);
  }
}

Result<> LineCutter::End() const {
  if (Trim(begun_).empty()) return {};
  return Fail(Code::kUnavailable,
              fmt::format("the watch ended in the middle of an event, after {} bytes of it", begun_.size()));
}

std::unique_ptr<Stream> OpenHttpStream(std::shared_ptr<HttpDoor::Core> core, const ApiRequest& request,
                                       std::shared_ptr<StreamSink> sink) {
  auto opening = std::make_shared<Opening>(std::move(core), request, std::move(sink));
  opening->Begin();
  return std::make_unique<HttpStream>(std::move(opening));
}

}  // namespace gpuop::kube
