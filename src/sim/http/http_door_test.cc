#include "sim/http/http_door.h"

#include <semaphore>
#include <thread>

#include "base/mutex.h"
#include "data/json.h"
#include "net/certificates.h"
#include "net/client.h"
#include "sim/cluster.h"

namespace gpuop::sim {
namespace {

using boost::json::value;
using namespace std::chrono_literals;
using testing::HasSubstr;

/// Keeps a stream's lines and counts them.
class Lines final : public net::ResponseSink {
 public:
  void OnHead(int status, const net::Headers&) override {
    Lock l(mu_);
    status_ = status;
  }
  void OnData(std::string_view bytes) override {
    Lock l(mu_);
    text_ += bytes;
    changed_.notify_all();
  }
  void OnEnd(Result<>) override {
    Lock l(mu_);
    ended_ = true;
    changed_.notify_all();
  }
  /// Waits until `count` whole lines have come, or the end.
  std::vector<std::string> Wait(std::size_t count) {
    Lock l(mu_);
    changed_.wait_for(mu_, 10s, [&]() REQUIRES(mu_) {
      return ended_ || static_cast<std::size_t>(std::ranges::count(text_, '\n')) >= count;
    });
    std::vector<std::string> lines;
    for (std::string_view rest = text_; rest.contains('\n'); rest.remove_prefix(rest.find('\n') + 1))
      lines.emplace_back(rest.substr(0, rest.find('\n')));
    return lines;
  }
  bool WaitForEnd() {
    Lock l(mu_);
    return changed_.wait_for(mu_, 10s, [&]() REQUIRES(mu_) { return ended_; });
  }

 private:
  Mutex mu_;
  std::condition_variable_any changed_;
  std::string text_ GUARDED_BY(mu_);
  int status_ GUARDED_BY(mu_) = 0;
  bool ended_ GUARDED_BY(mu_) = false;
};

/// The embedded API server on a thread of its own, as `gpu-operator sim` runs it, and a client of it.
class HttpDoorTest : public testing::Test {
 protected:
  void Begin(std::optional<net::TlsServerOptions> tls = {}, HttpDoor::Identify identify = {},
             const net::ClientOptions& options = {}) {
    plane_.Bootstrap();
    door_ = std::make_unique<HttpDoor>(io_, plane_.server(), plane_.faults(), Control(plane_.server(), plane_.faults()),
                                       std::move(identify));
    const bool secure = tls.has_value();
    const auto address = door_->Listen("127.0.0.1:0", std::move(tls));
    ASSERT_TRUE(address);
    io_.Start();
    client_io_.Start();
    client_ = *net::Client::Make(client_io_, *net::ParseUrl((secure ? "https://" : "http://") + *address), options);
  }
  void TearDown() override {
    if (!door_) return;
    client_.reset();
    std::binary_semaphore stopped(0);
    io_.Post([&] { door_->Stop(1s, [&] { stopped.release(); }); });
    ASSERT_TRUE(stopped.try_acquire_for(5s));
    io_.Stop();
    door_.reset();
  }
  net::ClientResponse Do(const std::string& method, const std::string& target, const std::string& body = {},
                         net::Headers headers = {}) {
    net::ClientRequest request;
    request.method = method, request.target = target, request.headers = std::move(headers);
    if (!body.empty()) {
      request.body = net::MakeBody(body);
      if (request.headers.Find("Content-Type") == nullptr) request.headers.Add("Content-Type", "application/json");
    }
    auto answer = client_->Call(std::move(request), 10s, {});
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().text);
    return answer ? *std::move(answer) : net::ClientResponse{};
  }
  std::unique_ptr<net::ClientStream> Watch(const std::string& target, std::shared_ptr<Lines> lines) {
    net::ClientRequest request;
    request.target = target;
    return client_->Open(std::move(request), std::move(lines));
  }

  net::IoThread io_, client_io_;
  ControlPlane plane_{io_, 1};
  std::unique_ptr<HttpDoor> door_;
  std::unique_ptr<net::Client> client_;
};

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";

TEST_F(HttpDoorTest, SpeaksToWhoeverComes) {
  Begin();
  EXPECT_EQ(Do("GET", "/healthz").body, "ok");
  const auto made = Do("POST", kMaps, R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.headers.Get("Content-Type"), "application/json");
  EXPECT_EQ(Do("GET", std::string(kMaps) + "/a").body, made.body);
  EXPECT_EQ(Do("GET", std::string(kMaps) + "/b").status, 404);
}

TEST_F(HttpDoorTest, IndentsForPeopleAlone) {
  Begin();
  EXPECT_THAT(Do("GET", "/api/v1/namespaces/default", "", {{"User-Agent", "curl/8"}}).body, HasSubstr("\n  \"kind\""));
  EXPECT_THAT(Do("GET", "/api/v1/namespaces/default", "", {{"User-Agent", "kubectl/1"}}).body,
              testing::Not(HasSubstr("\n")));
  EXPECT_THAT(Do("GET", "/api/v1/namespaces/default?pretty=true").body, HasSubstr("\n  \"kind\""));
}

TEST_F(HttpDoorTest, SendsLongListsWhole) {
  Begin();
  const std::string value(20'000, 'x');
  for (int i = 0; i < 60; ++i)
    Do("POST", kMaps, R"({"metadata":{"generateName":"x-"},"data":{"k":")" + value + R"("}})");
  const auto list = Do("GET", kMaps);
  const auto parsed = data::ParseJson(list.body);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->at("items").as_array().size(), 60u);
}

TEST_F(HttpDoorTest, StreamsAWatchUntilTheClientGoes) {
  Begin();
  auto lines = std::make_shared<Lines>();
  auto stream = Watch(std::string(kMaps) + "?watch=1", lines);
  Do("POST", kMaps, R"({"metadata":{"name":"a"}})");
  const auto told = lines->Wait(1);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(told[0], testing::StartsWith(R"({"type":"ADDED","object":{"kind":"ConfigMap")"));
  stream.reset();
  for (const auto end = std::chrono::steady_clock::now() + 5s; std::chrono::steady_clock::now() < end;)
    if (data::IntOr(*data::ParseJson(Do("GET", "/sim/v1/state").body), "watches") == 0) return;
  ADD_FAILURE() << "the watch stays open after its client has gone";
}

TEST_F(HttpDoorTest, ManyInitialEventsWaitForTheClientInsteadOfFillingMemory) {
  Begin();
  const std::string value(200'000, 'x');
  for (int i = 0; i < 100; ++i)
    Do("POST", kMaps, R"({"metadata":{"generateName":"x-"},"data":{"k":")" + value + R"("}})");
  auto lines = std::make_shared<Lines>();
  const auto stream = Watch(std::string(kMaps) + "?watch=1", lines);
  EXPECT_EQ(lines->Wait(100).size(), 100u);
}

TEST_F(HttpDoorTest, ControlSwitchesFaultsOnAndOff) {
  Begin();
  EXPECT_EQ(
      Do("POST", "/sim/v1/faults", R"({"verb":"get","resource":"namespaces","code":503,"retryAfterSeconds":2})").body,
      "{\"id\":1}\n");
  const auto failed = Do("GET", "/api/v1/namespaces/default");
  EXPECT_EQ(failed.status, 503);
  EXPECT_EQ(failed.headers.Get("Retry-After"), "2");
  EXPECT_THAT(Do("GET", "/sim/v1/faults").body, HasSubstr(R"("code":503)"));
  EXPECT_EQ(Do("DELETE", "/sim/v1/faults/1").status, 200);
  EXPECT_EQ(Do("GET", "/api/v1/namespaces/default").status, 200);
  EXPECT_EQ(Do("DELETE", "/sim/v1/faults/1").status, 404);
  EXPECT_EQ(Do("POST", "/sim/v1/faults", R"({"codes":503})").status, 400);
  EXPECT_EQ(Do("POST", "/sim/v1/faults", R"({"code":200})").status, 400);
}

TEST_F(HttpDoorTest, ControlDelaysAnswers) {
  Begin();
  Do("POST", "/sim/v1/faults", R"({"verb":"get","delayMs":80,"times":1})");
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(Do("GET", "/api/v1/namespaces/default").status, 200);
  EXPECT_GE(std::chrono::steady_clock::now() - before, 80ms);
}

TEST_F(HttpDoorTest, ControlDropsWatchesAndForgetsHistory) {
  Begin();
  auto lines = std::make_shared<Lines>();
  const auto stream = Watch(std::string(kMaps) + "?watch=1&resourceVersion=2", lines);
  Do("POST", kMaps, R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(lines->Wait(1).size(), 1u);
  EXPECT_EQ(Do("POST", "/sim/v1/drop-watches").body, "{\"dropped\":1}\n");
  EXPECT_TRUE(lines->WaitForEnd());
  EXPECT_EQ(Do("POST", "/sim/v1/compact").status, 200);
  auto again = std::make_shared<Lines>();
  const auto second = Watch(std::string(kMaps) + "?watch=1&resourceVersion=2", again);
  const auto told = again->Wait(1);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(told[0], HasSubstr(R"("reason":"Expired","code":410)"));
}

TEST_F(HttpDoorTest, ControlMakesClientsSlow) {
  Begin();
  Do("POST", "/sim/v1/slow-clients", R"({"bytesPerSecond":5000})");
  for (int i = 0; i < 5; ++i) Do("POST", kMaps, R"({"metadata":{"generateName":"x-"}})");
  auto lines = std::make_shared<Lines>();
  const auto before = std::chrono::steady_clock::now();
  const auto stream = Watch(std::string(kMaps) + "?watch=1", lines);
  EXPECT_EQ(lines->Wait(5).size(), 5u);
  // About 300 bytes each: four waits of 60 ms.
  EXPECT_GE(std::chrono::steady_clock::now() - before, 150ms);
}

TEST_F(HttpDoorTest, KnowsClientsByTheirCertificates) {
  SystemClock clock;
  const WallTime from = clock.Wall() - 1h, to = from + 24h;
  const auto ca = *net::MakeAuthority("test", from, to);
  const auto server = *net::MakeCertificate(ca, {"server", {}, {"127.0.0.1"}, from, to});
  const auto client = *net::MakeCertificate(ca, {"alice", {"readers"}, {}, from, to});
  net::ClientOptions options;
  options.tls.ca.text = ca.certificate;
  options.tls.certificate.text = client.certificate;
  options.tls.key.text = client.key;
  std::string seen;
  Begin(
      net::TlsServerOptions{{server.certificate, ""}, {server.key, ""}, {ca.certificate, ""}},
      [&seen](const net::Request& request, const kube::ApiRequest&) -> Answer<User> {
        if (!request.peer->certificate) return std::unexpected(Unauthorized());
        seen = request.peer->certificate->common_name;
        return User{seen, "", request.peer->certificate->organizations, {}};
      },
      options);
  const auto answer = Do("GET", "/api/v1/namespaces/default");
  EXPECT_EQ(answer.status, 403);
  EXPECT_NE(answer.body.find("User \\\"alice\\\" cannot get"), std::string::npos) << answer.body;
  EXPECT_EQ(seen, "alice");
}

TEST_F(HttpDoorTest, RefusesWhomNobodyKnows) {
  Begin({},
        [](const net::Request&, const kube::ApiRequest&) -> Answer<User> { return std::unexpected(Unauthorized()); });
  const auto refused = Do("GET", "/api/v1/namespaces/default");
  EXPECT_EQ(refused.status, 401);
  EXPECT_THAT(refused.body, HasSubstr(R"("reason":"Unauthorized")"));
}

}  // namespace
}  // namespace gpuop::sim
