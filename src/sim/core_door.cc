#include "sim/core_door.h"

#include "sim/faults.h"

namespace gpuop::sim {
namespace {

kube::ApiResponse Whole(const Response& response) {
  return {response.status, response.content_type, response.body.Join(), response.retry_after};
}

/// What a refused stream ends with.
Error ErrorOf(const Response& response) { return {CodeOfStatus(response.status), response.body.Join()}; }

/// Passes a watch's events on. The stream object owns the watch; tasks hold the link weakly.
class Link final : public WatchSink {
 public:
  explicit Link(std::shared_ptr<kube::StreamSink> sink) : sink_(std::move(sink)) {}

  bool OnEvent(const Text& event) override {
    // The line end belongs to the wire; the sink gets one JSON document.
    sink_->OnData(std::string_view(*event).substr(0, event->size() - 1));
    return sink_->WantsMore();
  }
  void OnEnd() override { sink_->OnEnd({}, std::nullopt); }

 private:
  std::shared_ptr<kube::StreamSink> sink_;
};

class CoreStream final : public kube::Stream {
 public:
  std::unique_ptr<Watch> watch;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);

  void Resume() override {
    if (watch) watch->Resume();
  }
};

}  // namespace

Code CodeOfStatus(int status) {
  switch (status) {
    case 400:
    case 422: return Code::kInvalid;
    case 401: return Code::kUnauthorized;
    case 403: return Code::kForbidden;
    case 404: return Code::kNotFound;
    case 409: return Code::kConflict;
    case 410: return Code::kGone;
    case 413: return Code::kTooLarge;
    case 429: return Code::kTooManyRequests;
    case 405:
    case 406:
    case 415: return Code::kUnsupported;
    case 504: return Code::kTimeout;
    default: return status >= 500 ? Code::kUnavailable : Code::kInternal;
  }
}

Result<kube::ApiResponse> CoreDoor::Call(const kube::ApiRequest& request, Duration limit, std::stop_token stop) {
  if (stop.stop_requested()) return Fail(Code::kCancelled, "stopping");
  if (faults_ != nullptr) {
    const Verdict verdict = faults_->Judge(request);
    if (verdict.delay > limit) return Fail(Code::kTimeout, "no answer in time");
    if (verdict.failure) return Whole(Response::Of(*verdict.failure));
  }
  return Whole(server_.Handle(request, user_));
}

std::unique_ptr<kube::Stream> CoreDoor::Open(const kube::ApiRequest& request, std::shared_ptr<kube::StreamSink> sink) {
  auto stream = std::make_unique<CoreStream>();
  // What is known at once is told by a task all the same: a sink is never called from inside Open.
  const auto later = [&](auto tell) {
    server_.executor().Post([alive = std::weak_ptr<bool>(stream->alive), tell = std::move(tell)] {
      if (!alive.expired()) tell();
    });
  };
  std::optional<Response> refused;
  if (faults_ != nullptr)
    if (const Verdict verdict = faults_->Judge(request); verdict.failure) refused = Response::Of(*verdict.failure);
  if (!refused && !ApiServer::IsWatch(request)) {
    Response response = server_.Handle(request, user_);
    if (response.status < 400) {
      later([sink, body = response.body.Join()] {
        if (!body.empty()) sink->OnData(body);
      });
      later([sink] { sink->OnEnd({}, std::nullopt); });
      return stream;
    }
    refused = std::move(response);
  }
  if (!refused) {
    auto opened = server_.Open(request, user_, std::make_shared<Link>(sink));
    if (opened) {
      stream->watch = *std::move(opened);
      return stream;
    }
    refused = std::move(opened.error());
  }
  later(
      [sink, error = ErrorOf(*refused), retry = refused->retry_after] { sink->OnEnd(std::unexpected(error), retry); });
  return stream;
}

}  // namespace gpuop::sim
