#include "sim/http/http_door.h"

#include <fmt/core.h>

#include "base/text.h"
#include "net/url.h"
#include "sim/parse_request.h"

namespace gpuop::sim {
namespace {

/// Small pieces of a body are sent together, in parcels of about this size.
constexpr std::size_t kParcelBytes = 256U << 10U;
/// A watch is told no more when this much waits for its client, until half of it has gone.
constexpr std::size_t kQueuedBytes = 1U << 20U;

net::ServerOptions Limits() {
  net::ServerOptions options;
  options.max_queued_bytes = 8U << 20U;
  return options;
}

net::Body ParcelsOf(const Body& body) {
  net::Body out;
  std::string parcel;
  for (const Body::Piece& piece : body.pieces()) {
    if (!parcel.empty() && parcel.size() + piece.bytes.size() > kParcelBytes)
      out.push_back(net::MakePiece(std::exchange(parcel, {})));
    if (parcel.empty()) parcel.reserve(std::min(kParcelBytes, body.size()));
    parcel += piece.bytes;
  }
  if (!parcel.empty()) out.push_back(net::MakePiece(std::move(parcel)));
  return out;
}

net::Response ToHttp(const Response& response) {
  net::Response out;
  out.status = response.status;
  out.headers.Add("Content-Type", response.content_type);
  out.headers.Add("Cache-Control", "no-cache, private");
  for (const std::string& warning : response.warnings) out.headers.Add("Warning", "299 - " + Quote(warning));
  if (response.retry_after)
    out.headers.Add("Retry-After",
                    std::to_string(std::chrono::ceil<std::chrono::seconds>(*response.retry_after).count()));
  out.body = ParcelsOf(response.body);
  return out;
}

bool ForPeople(std::string_view agent) {
  return agent.starts_with("curl/") || agent.starts_with("Wget/") || agent.starts_with("Mozilla/");
}

kube::ApiRequest ToApi(net::Request& request) {
  kube::ApiRequest api;
  api.method = request.method;
  api.path = request.Path();
  api.query = net::DecodeQuery(request.Query()).value_or(net::QueryPairs{});
  api.accept = request.headers.Get("Accept");
  api.content_type = request.headers.Get("Content-Type");
  api.user_agent = request.headers.Get("User-Agent");
  api.body = std::move(request.body);
  if (ForPeople(api.user_agent) && !FindParam(api, "pretty")) api.query.emplace_back("pretty", "true");
  return api;
}

}  // namespace

/// One watch over HTTP: a chunked answer that grows by an event a piece.
class HttpDoor::WatchSession final : public WatchSink, public std::enable_shared_from_this<WatchSession> {
 public:
  WatchSession(HttpDoor& door, std::uint64_t id) : door_(door), id_(id) {}

  std::unique_ptr<Watch> watch;
  std::unique_ptr<net::ResponseStream> stream;

  bool OnEvent(const Text& event) override {
    stream->Write(event);
    if (door_.faults_.bytes_per_second > 0) {
      const auto wait = std::chrono::nanoseconds(event->size() * 1'000'000'000ULL / door_.faults_.bytes_per_second);
      door_.io_.PostAfter(wait, [self = weak_from_this()] {
        if (const auto me = self.lock(); me && me->watch && me->HasRoom()) me->watch->Resume();
      });
      return false;
    }
    return HasRoom();
  }
  void OnEnd() override {
    stream->End();
    Forget();
  }
  /// Ends it from a task of its own: the watch may be the caller.
  void Forget() {
    door_.io_.Post([&door = door_, id = id_, alive = std::weak_ptr<int>(door_.alive_)] {
      if (!alive.expired()) door.Forget(id);
    });
  }

 private:
  /// Whether the client keeps up. If not, the watch goes on as soon as it has taken enough.
  bool HasRoom() {
    if (stream->Queued() <= kQueuedBytes) return true;
    stream->WhenAtMost(kQueuedBytes / 2, [self = weak_from_this()] {
      if (const auto me = self.lock(); me && me->watch) me->watch->Resume();
    });
    return false;
  }

  HttpDoor& door_;
  const std::uint64_t id_;
};

HttpDoor::HttpDoor(net::IoThread& io, ApiServer& server, Faults& faults, Control control, Identify identify)
    : io_(io),
      server_(server),
      faults_(faults),
      control_(std::move(control)),
      identify_(std::move(identify)),
      http_(
          io,
          [this](net::Request request, net::Responder responder) { Take(std::move(request), std::move(responder)); },
          Limits()) {}

HttpDoor::~HttpDoor() { ForgetAll(); }

/// The watch refers to its session and the session to it: the watch goes first.
void HttpDoor::Forget(std::uint64_t id) {
  const auto found = watches_.extract(id);
  if (!found.empty()) found.mapped()->watch.reset();
}

void HttpDoor::ForgetAll() {
  while (!watches_.empty()) Forget(watches_.begin()->first);
}

Result<std::shared_ptr<void>> HttpDoor::Adopt(os::Fd listening, std::optional<net::TlsServerOptions> tls) {
  return http_.Adopt(std::move(listening), std::move(tls));
}

Result<std::string> HttpDoor::Listen(const std::string& address, std::optional<net::TlsServerOptions> tls) {
  return http_.Listen(address, std::move(tls));
}

void HttpDoor::Stop(Duration grace, Executor::Task done) {
  for (auto& [id, session] : watches_) session->stream->End();
  ForgetAll();
  http_.Stop(grace, std::move(done));
}

void HttpDoor::Take(net::Request request, net::Responder responder) {
  kube::ApiRequest api = ToApi(request);
  if (Control::Owns(api.path)) {
    responder.Send(ToHttp(control_.Handle(api)));
    return;
  }
  const Verdict verdict = faults_.Judge(api);
  if (verdict.delay == Duration{} && !verdict.failure) {
    Reply(request, std::move(api), std::move(responder));
    return;
  }
  io_.PostAfter(verdict.delay,
                [this, alive = std::weak_ptr<int>(alive_), failure = verdict.failure, request = std::move(request),
                 api = std::move(api), responder = std::move(responder)]() mutable {
                  if (alive.expired()) return;
                  if (failure)
                    responder.Send(ToHttp(Response::Of(*failure)));
                  else
                    Reply(request, std::move(api), std::move(responder));
                });
}

void HttpDoor::Reply(const net::Request& request, kube::ApiRequest api, net::Responder responder) {
  User user = User::Admin();
  if (identify_) {
    auto known = identify_(request, api);
    if (!known) {
      responder.Send(ToHttp(Response::Of(known.error())));
      return;
    }
    user = *std::move(known);
  }
  if (ApiServer::IsWatch(api)) return OpenWatch(api, user, std::move(responder));
  const Response response = server_.Handle(api, user);
  if (response.takeover)
    response.takeover(request, std::move(responder));
  else
    responder.Send(ToHttp(response));
}

void HttpDoor::OpenWatch(const kube::ApiRequest& api, const User& user, net::Responder responder) {
  const std::uint64_t id = next_watch_++;
  auto session = std::make_shared<WatchSession>(*this, id);
  auto opened = server_.Open(api, user, session);
  if (!opened) {
    responder.Send(ToHttp(opened.error()));
    return;
  }
  net::Response head;
  head.headers.Add("Content-Type", "application/json");
  head.headers.Add("Cache-Control", "no-cache, private");
  session->stream = responder.Stream(std::move(head));
  session->watch = *std::move(opened);
  session->stream->WhenGone([session = std::weak_ptr(session)] {
    if (const auto alive = session.lock()) alive->Forget();
  });
  watches_.emplace(id, std::move(session));
}

}  // namespace gpuop::sim
