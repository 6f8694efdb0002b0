#include "kube/counting_door.h"

#include "base/text.h"
#include "kube/resource.h"

namespace gpuop::kube {
namespace {

std::string VerbOf(const ApiRequest& r, const RequestPath& path) {
  if (r.method == "GET") {
    for (const auto& [name, value] : r.query)
      if (name == "watch" && (value == "true" || value == "1")) return "watch";
    return path.name.empty() ? "list" : "get";
  }
  if (r.method == "POST") return "create";
  if (r.method == "PUT") return "update";
  if (r.method == "PATCH") return r.content_type.starts_with("application/apply-patch") ? "apply" : "patch";
  if (r.method == "DELETE") return path.name.empty() ? "deletecollection" : "delete";
  return ToLower(r.method);
}

}  // namespace

RequestKind KindOf(const ApiRequest& request) {
  const auto path = ParsePath(request.path);
  if (!path || path->plural.empty()) return {ToLower(request.method), request.path};
  std::string resource = path->plural;
  if (!path->group.empty()) resource.append(".").append(path->group);
  if (!path->subresource.empty()) resource.append("/").append(path->subresource);
  return {VerbOf(request, *path), std::move(resource)};
}

/// Counts a stream's first word.
class CountedSink final : public StreamSink {
 public:
  CountedSink(CountingDoor& door, RequestKind kind, std::shared_ptr<StreamSink> sink)
      : door_(door), kind_(std::move(kind)), sink_(std::move(sink)) {}
  void OnData(std::string_view piece) override {
    Count("200");
    sink_->OnData(piece);
  }
  bool WantsMore() override { return sink_->WantsMore(); }
  void OnEnd(Result<> why, std::optional<Duration> retry_after) override {
    Count(why ? "200" : std::string(CodeName(why.error().code)));
    sink_->OnEnd(std::move(why), retry_after);
  }

 private:
  void Count(const std::string& code) {
    if (!std::exchange(counted_, true)) door_.CountAnswer(kind_, code);
  }

  CountingDoor& door_;
  const RequestKind kind_;
  const std::shared_ptr<StreamSink> sink_;
  bool counted_ = false;
};

Result<ApiResponse> CountingDoor::Call(const ApiRequest& request, Duration limit, std::stop_token stop) {
  const RequestKind kind = KindOf(request);
  CountSent(kind);
  Result<ApiResponse> answer = door_.Call(request, limit, std::move(stop));
  CountAnswer(kind, answer ? std::to_string(answer->status) : std::string(CodeName(answer.error().code)));
  return answer;
}

std::unique_ptr<Stream> CountingDoor::Open(const ApiRequest& request, std::shared_ptr<StreamSink> sink) {
  RequestKind kind = KindOf(request);
  CountSent(kind);
  return door_.Open(request, std::make_shared<CountedSink>(*this, std::move(kind), std::move(sink)));
}

void CountingDoor::CountSent(const RequestKind& kind) {
  Lock l(mu_);
  ++sent_[kind];
}

void CountingDoor::CountAnswer(const RequestKind& kind, const std::string& code) {
  {
    Lock l(mu_);
    ++answered_[{kind, code}];
  }
  if (metrics_ == nullptr) return;
  metrics_
      ->counter("kube_requests_total", "Requests to the Kubernetes API.",
                {{"verb", kind.verb}, {"resource", kind.resource}, {"code", code}})
      .Add();
}

std::map<RequestKind, std::uint64_t> CountingDoor::Sent() const {
  Lock l(mu_);
  return sent_;
}

std::uint64_t CountingDoor::Answered(const RequestKind& kind, const std::string& code) const {
  Lock l(mu_);
  const auto it = answered_.find({kind, code});
  return it == answered_.end() ? 0 : it->second;
}

std::map<RequestKind, std::uint64_t> CallScope::Since() const {
  std::map<RequestKind, std::uint64_t> since = door_.Sent();
  for (const auto& [kind, count] : before_) since[kind] -= count;
  std::erase_if(since, [](const auto& entry) { return entry.second == 0; });
  return since;
}

std::uint64_t CallScope::Reads() const {
  std::uint64_t reads = 0;
  for (const auto& [kind, count] : Since())
    if (kind.read()) reads += count;
  return reads;
}

std::uint64_t CallScope::Writes() const {
  std::uint64_t writes = 0;
  for (const auto& [kind, count] : Since())
    if (!kind.read()) writes += count;
  return writes;
}

std::string CallScope::ToString() const {
  std::vector<std::string> out;
  for (const auto& [kind, count] : Since())
    out.push_back(std::to_string(count) + " " + kind.verb + " " + kind.resource);
  return Join(out, ", ");
}

}  // namespace gpuop::kube
