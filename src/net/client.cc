#include "net/client.h"

#include <fmt/core.h>

#include <condition_variable>

#include "base/check.h"
#include "base/mutex.h"
#include "base/text.h"
#include "net/detail/exchange.h"
#include "net/detail/websocket_core.h"

namespace gpuop::net {
namespace {

using detail::Exchange;

// Where a blocking caller waits for its answer.
template <class T>
struct Slot {
  Mutex mu;
  std::condition_variable_any ready;
  std::optional<Result<T>> answer GUARDED_BY(mu);

  void Set(Result<T> r) {
    Lock l(mu);
    if (!answer) answer.emplace(std::move(r));
    ready.notify_all();
  }

  Result<T> Wait(Duration limit, const std::stop_token& stop) {
    Lock l(mu);
    constexpr Duration kLongest = std::chrono::hours(24 * 365);  // now + limit must not overflow
    ready.wait_for(mu, stop, std::min(limit, kLongest), [this]() REQUIRES(mu) { return answer.has_value(); });
    if (answer) return *std::move(answer);
    if (stop.stop_requested()) return Fail(Code::kCancelled, "cancelled");
    return Fail(Code::kTimeout, fmt::format("no answer within {} ms",
                                            std::chrono::duration_cast<std::chrono::milliseconds>(limit).count()));
  }
};

// Collects a whole answer.
class Collector final : public ResponseSink {
 public:
  explicit Collector(std::shared_ptr<Slot<ClientResponse>> slot) : slot_(std::move(slot)) {}

  void OnHead(int status, const Headers& headers) override {
    response_.status = status;
    response_.headers = headers;
  }
  void OnData(std::string_view bytes) override { response_.body.append(bytes); }
  void OnEnd(Result<> why) override {
    if (why)
      slot_->Set(std::move(response_));
    else
      slot_->Set(std::unexpected(std::move(why).error()));
  }

 private:
  std::shared_ptr<Slot<ClientResponse>> slot_;
  ClientResponse response_;
};

using Upgraded = std::unique_ptr<WebSocket>;

// The server's answer when it is not 101: an error.
class Refusal final : public ResponseSink {
 public:
  explicit Refusal(std::shared_ptr<Slot<Upgraded>> slot) : slot_(std::move(slot)) {}

  void OnHead(int status, const Headers&) override { status_ = status; }
  void OnData(std::string_view bytes) override {
    body_.append(bytes.substr(0, kMostText - std::min(kMostText, body_.size())));
  }
  void OnEnd(Result<> why) override {
    if (!why && status_ == 0) return slot_->Set(std::unexpected(std::move(why).error()));
    const Code code = status_ == 401   ? Code::kUnauthorized
                      : status_ == 403 ? Code::kForbidden
                      : status_ == 404 ? Code::kNotFound
                      : status_ >= 500 ? Code::kUnavailable
                                       : Code::kInvalid;
    slot_->Set(Fail(
        code, fmt::format("server answered {} {} and no WebSocket: {}", status_, ReasonPhrase(status_), Trim(body_))));
  }

 private:
  static constexpr std::size_t kMostText = 1024;
  std::shared_ptr<Slot<Upgraded>> slot_;
  int status_ = 0;
  std::string body_;
};

Result<Upgraded> Accept(IoThread& io, std::unique_ptr<detail::Transport> transport, const detail::MessageHead& head,
                        std::string leftover, std::string_view key, const std::vector<std::string>& offered,
                        std::shared_ptr<WebSocketSink> sink) {
  if (!head.headers.Lists("Upgrade", "websocket") ||
      head.headers.Get("Sec-WebSocket-Accept") != detail::WebSocketAccept(key))
    return Fail(Code::kInvalid, "server switched to something that is not our WebSocket");
  std::string chosen(head.headers.Get("Sec-WebSocket-Protocol"));
  if (!chosen.empty() && std::ranges::find(offered, chosen) == offered.end())
    return Fail(Code::kInvalid, fmt::format("server chose subprotocol {}, which was not offered", Quote(chosen)));
  auto core = std::make_shared<WebSocket::Core>(io, /*is_client=*/true, std::move(sink));
  core->Adopt(std::move(transport), "", std::move(leftover));
  return std::make_unique<WebSocket>(std::move(core), std::move(chosen));
}

}  // namespace

ClientStream::~ClientStream() {
  exchange_->Silence();
  IoThread& io = exchange_->io();
  io.Dispatch([e = std::move(exchange_)] { e->Cancel(); });
}

void ClientStream::Pause() {
  exchange_->io().Dispatch([e = exchange_] { e->SetPaused(true); });
}

void ClientStream::Resume() {
  exchange_->io().Dispatch([e = exchange_] { e->SetPaused(false); });
}

Result<std::unique_ptr<Client>> Client::Make(IoThread& io, Url server, ClientOptions options) {
  detail::Route route{.server = std::move(server), .proxy = {}};
  if (!options.proxy.empty() && route.server.scheme != "unix") {
    const std::string scheme(std::string_view(options.proxy).substr(0, options.proxy.find("://")));
    if (options.proxy.find("://") != std::string::npos && scheme != "http")
      return Fail(Code::kUnsupported, fmt::format("proxy: scheme \"{}\" is not supported, only http is", scheme));
    auto proxy = ParseUrl(options.proxy);
    if (!proxy) return std::unexpected(std::move(proxy).error().During("proxy"));
    route.proxy = *std::move(proxy);
  }
  return std::unique_ptr<Client>(
      new Client(std::make_shared<detail::ClientCore>(io, std::move(route), std::move(options))));
}

Client::~Client() {
  core_->io.RunAndWait([this] { core_->Close(); });
}

std::unique_ptr<ClientStream> Client::Open(ClientRequest request, std::shared_ptr<ResponseSink> sink) {
  auto exchange = std::make_shared<Exchange>(core_, std::move(request), std::move(sink));
  core_->io.Post([exchange] { exchange->Start(); });
  return std::make_unique<ClientStream>(std::move(exchange));
}

Result<ClientResponse> Client::Call(ClientRequest request, Duration limit, std::stop_token stop) {
  GPUOP_CHECK(!core_->io.OnThread());
  auto slot = std::make_shared<Slot<ClientResponse>>();
  const auto stream = Open(std::move(request), std::make_shared<Collector>(slot));
  return slot->Wait(limit, stop);
}

Result<std::unique_ptr<WebSocket>> Client::OpenWebSocket(ClientRequest request, std::vector<std::string> subprotocols,
                                                         std::shared_ptr<WebSocketSink> sink, Duration limit,
                                                         std::stop_token stop) {
  GPUOP_CHECK(!core_->io.OnThread());
  const std::string key = detail::WebSocketKey();
  request.headers.Set("Connection", "Upgrade");
  request.headers.Set("Upgrade", "websocket");
  request.headers.Set("Sec-WebSocket-Version", "13");
  request.headers.Set("Sec-WebSocket-Key", key);
  if (!subprotocols.empty()) request.headers.Set("Sec-WebSocket-Protocol", Join(subprotocols, ", "));
  auto slot = std::make_shared<Slot<Upgraded>>();
  auto exchange = std::make_shared<Exchange>(core_, std::move(request), std::make_shared<Refusal>(slot));
  exchange->SetOnSwitch(
      [&io = core_->io, slot, key, offered = std::move(subprotocols), sink = std::move(sink)](
          std::unique_ptr<detail::Transport> transport, detail::MessageHead head, std::string leftover) mutable {
        slot->Set(Accept(io, std::move(transport), head, std::move(leftover), key, offered, std::move(sink)));
      });
  core_->io.Post([exchange] { exchange->Start(); });
  const ClientStream stream(std::move(exchange));
  return slot->Wait(limit, stop);
}

const Url& Client::server() const { return core_->route.server; }

}  // namespace gpuop::net
