#include "kube/http_door.h"

#include "base/text.h"
#include "kube/http_door_core.h"

namespace gpuop::kube {
namespace {

// client-go's escaping of extra keys: what a header name cannot hold, as %XX.
std::string HeaderKey(std::string_view key) { return net::PercentEncode(key, "!#$&'*+^`|"); }

}  // namespace

Result<std::shared_ptr<net::Client>> HttpDoor::Core::ClientFor(const ShownCredentials& shown) {
  Lock l(mu_);
  const std::string certificate = shown.certificate.text + shown.key.text;
  if (client_ && certificate == certificate_) return client_;
  net::ClientOptions options{.tls = config.tls, .proxy = config.proxy};
  if (!certificate.empty()) {
    options.tls.certificate = shown.certificate;
    options.tls.key = shown.key;
  }
  ASSIGN(client_, net::Client::Make(io, config.server, std::move(options)));
  certificate_ = certificate;
  return client_;
}

net::ClientRequest HttpDoor::Core::Request(const ApiRequest& request, const ShownCredentials& shown) const {
  net::ClientRequest out{.method = request.method, .target = config.server.path + request.path};
  if (!request.query.empty()) out.target += "?" + net::EncodeQuery(request.query);
  if (!request.accept.empty()) out.headers.Add("Accept", request.accept);
  if (!request.content_type.empty()) out.headers.Add("Content-Type", request.content_type);
  out.headers.Add("User-Agent", config.user_agent);
  if (!shown.authorization.empty()) out.headers.Add("Authorization", shown.authorization);
  const Impersonation& as = config.impersonation;
  if (!as.user.empty()) out.headers.Add("Impersonate-User", as.user);
  if (!as.uid.empty()) out.headers.Add("Impersonate-Uid", as.uid);
  for (const std::string& group : as.groups) out.headers.Add("Impersonate-Group", group);
  for (const auto& [key, values] : as.extra)
    for (const std::string& value : values) out.headers.Add("Impersonate-Extra-" + HeaderKey(key), value);
  out.body = net::MakeBody(request.body);
  return out;
}

std::string HttpDoor::Core::Doing(const ApiRequest& request) const {
  return request.method + " " + config.server.Origin() + config.server.path + request.path;
}

std::optional<Duration> RetryAfter(const net::Headers& headers) {
  const auto seconds = ParseInt(Trim(headers.Get("Retry-After")));
  constexpr std::int64_t kDay = 86'400;
  if (!seconds || *seconds < 0) return std::nullopt;
  return std::chrono::seconds(std::min(*seconds, kDay));
}

Result<std::unique_ptr<HttpDoor>> HttpDoor::Make(net::IoThread& io, Executor& workers, const os::Fs& fs,
                                                 os::Processes& processes, ApiConfig config) {
  auto core = std::make_shared<Core>(io, workers, fs, processes, std::move(config));
  auto client = core->ClientFor({});
  if (!client) return std::unexpected(std::move(client).error().During(core->config.source));
  return std::unique_ptr<HttpDoor>(new HttpDoor(std::move(core)));
}

HttpDoor::~HttpDoor() = default;

const ApiConfig& HttpDoor::config() const { return core_->config; }

Result<ApiResponse> HttpDoor::Call(const ApiRequest& request, Duration limit, std::stop_token stop) {
  const TimePoint begun = core_->io.Now();
  for (bool again = false;; again = true) {
    auto shown = core_->credentials.Get(stop);
    if (!shown) return std::unexpected(std::move(shown).error().During(core_->Doing(request)));
    ASSIGN(const std::shared_ptr<net::Client> client, core_->ClientFor(*shown));
    const Duration left = limit - (core_->io.Now() - begun);
    auto got = client->Call(core_->Request(request, *shown), std::max(left, Duration::zero()), stop);
    if (!got) return std::unexpected(std::move(got).error().During(core_->Doing(request)));
    if (got->status == 401 && !again && core_->credentials.Refused(shown->serial)) continue;
    return ApiResponse{.status = got->status,
                       .content_type = std::string(got->headers.Get("Content-Type")),
                       .body = std::move(got->body),
                       .retry_after = RetryAfter(got->headers)};
  }
}

std::unique_ptr<Stream> HttpDoor::Open(const ApiRequest& request, std::shared_ptr<StreamSink> sink) {
  return OpenHttpStream(core_, request, std::move(sink));
}

}  // namespace gpuop::kube
