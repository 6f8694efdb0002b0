#include "kube/http_door.h"

#include "kube/http_door_bed_test.h"
#include "net/certificates.h"

namespace gpuop::kube {
namespace {

using std::chrono::seconds;

using HttpDoorTest = HttpDoorBed;

TEST_F(HttpDoorTest, SendsWhatTheConfigurationSays) {
  net::Request seen;
  Serve([&](net::Request q, net::Responder r) {
    seen = std::move(q);
    r.Send({.status = 429,
            .headers = {{"Content-Type", "application/json"}, {"Retry-After", "7"}},
            .body = net::MakeBody("{}")});
  });
  config_.server.path = "/k8s";
  config_.token = "t";
  config_.user_agent = "test/1";
  config_.impersonation = {.user = "jane", .uid = "7", .groups = {"g1", "g2"}, .extra = {{"a/b", {"1", "2"}}}};
  auto got = Call({.method = "PATCH",
                   .path = "/api/v1/nodes/n",
                   .query = {{"fieldManager", "a b"}, {"force", "true"}},
                   .accept = "application/json;as=Table",
                   .content_type = "application/apply-patch+yaml",
                   .body = "x: y"});
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_EQ(got->status, 429);
  EXPECT_EQ(got->content_type, "application/json");
  EXPECT_EQ(got->body, "{}");
  EXPECT_EQ(got->retry_after, Duration(seconds(7)));
  EXPECT_EQ(seen.method, "PATCH");
  EXPECT_EQ(seen.target, "/k8s/api/v1/nodes/n?fieldManager=a%20b&force=true");
  EXPECT_EQ(seen.body, "x: y");
  std::string headers;
  for (const net::Header& h : seen.headers)
    if (h.name != "Host" && h.name != "Content-Length") headers += h.name + "=" + h.value + "\n";
  EXPECT_EQ(
      headers,
      "Accept=application/json;as=Table\nContent-Type=application/apply-patch+yaml\nUser-Agent=test/1\n"
      "Authorization=Bearer t\nImpersonate-User=jane\nImpersonate-Uid=7\nImpersonate-Group=g1\nImpersonate-Group=g2\n"
      "Impersonate-Extra-a%2Fb=1\nImpersonate-Extra-a%2Fb=2\n");
}

TEST_F(HttpDoorTest, SaysWhatWasAskedOfWhom) {
  Use("127.0.0.1:1");
  auto got = Call({.path = "/api/v1/nodes", .query = {{"limit", "1"}}});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error(), (Error{Code::kUnavailable,
                                "GET http://127.0.0.1:1/api/v1/nodes: connect 127.0.0.1:1: connection refused"}));
}

TEST_F(HttpDoorTest, RefreshesARefusedTokenOnce) {
  config_.token_file = "/token";
  fs_.Put("/token", "old");
  std::atomic<int> calls = 0;
  Serve([&](net::Request q, net::Responder r) {
    ++calls;
    const bool good = q.headers.Get("Authorization") == "Bearer new";
    r.Send({.status = good ? 200 : 401, .body = net::MakeBody(good ? "welcome" : "who?")});
  });
  EXPECT_EQ(Call({.path = "/"})->status, 401);  // expired, and nothing newer there
  EXPECT_EQ(calls, 1);
  fs_.Put("/token", "new");
  EXPECT_EQ(Call({.path = "/"})->body, "welcome");
  EXPECT_EQ(calls, 3);
}

TEST_F(HttpDoorTest, AStreamRefreshesARefusedTokenToo) {
  config_.token_file = "/token";
  fs_.Put("/token", "old");
  Serve([&](net::Request q, net::Responder r) {
    const bool good = q.headers.Get("Authorization") == "Bearer new";
    if (q.headers.Get("Authorization") == "Bearer old") fs_.Put("/token", "new");
    if (!good) return r.Send({.status = 401, .body = net::MakeBody("who?")});
    r.Stream({.body = net::MakeBody("{\"a\":1}\n")})->End();
  });
  std::unique_ptr<Stream> stream;
  auto notes = Watch(stream);
  EXPECT_EQ(notes->End().text, "");
  EXPECT_EQ(notes->Pieces(), (std::vector<std::string>{"{\"a\":1}"}));
}

TEST_F(HttpDoorTest, AnExpiredTokenEndsAStreamWithTheServersWords) {
  config_.token = "expired";
  Serve([](net::Request, net::Responder r) {
    r.Send(
        {.status = 401,
         .headers = {{"Content-Type", "application/json"}},
         .body = net::MakeBody(
             R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401})")});
  });
  std::unique_ptr<Stream> stream;
  auto notes = Watch(stream);
  EXPECT_EQ(notes->End(), (Error{Code::kUnauthorized, "GET http://" + address_ + "/api/v1/pods: Unauthorized"}));
}

TEST_F(HttpDoorTest, RunsAPluginOffTheIoThread) {
  config_.exec = ExecPlugin{.command = "login", .api_version = "client.authentication.k8s.io/v1"};
  std::atomic<int> runs = 0;
  processes_.Install("login", [&](const os::Command&) -> Result<os::Exit> {
    EXPECT_FALSE(io_.OnThread());
    ++runs;
    return os::Exit{
        .out = R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t"}})"};
  });
  Serve([](net::Request q, net::Responder r) {
    r.Send({.body = net::MakeBody(std::string(q.headers.Get("Authorization")) + "\n")});
  });
  Door();
  std::unique_ptr<Stream> stream;
  std::shared_ptr<Notes> notes;
  io_.RunAndWait([&] { notes = Watch(stream); });
  EXPECT_EQ(notes->End().text, "");
  EXPECT_EQ(notes->Pieces(), (std::vector<std::string>{"Bearer t"}));
  EXPECT_EQ(Call({.path = "/"})->body, "Bearer t\n");
  EXPECT_EQ(runs, 1);
}

TEST_F(HttpDoorTest, APluginThatIsNotThereIsAClearError) {
  config_.exec =
      ExecPlugin{.command = "aws", .api_version = "client.authentication.k8s.io/v1", .install_hint = "Install aws."};
  Use("127.0.0.1:1");
  const std::string want = "GET http://127.0.0.1:1/api/v1/pods: exec plugin aws: no such program\nInstall aws.";
  EXPECT_EQ(Call({.path = "/api/v1/pods"}).error().text, want);
  std::unique_ptr<Stream> stream;
  EXPECT_EQ(Watch(stream)->End().text, want);
}

TEST_F(HttpDoorTest, AGigabyteAnswerIsRefused) {
  Peer("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n{");
  auto got = Call({.path = "/x"});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::kTooLarge);
}

TEST_F(HttpDoorTest, AWrongAuthorityIsAClearError) {
  const WallTime now = io_.Wall();
  auto ca = net::MakeAuthority("real-ca", now - seconds(60), now + std::chrono::hours(1));
  auto other = net::MakeAuthority("other-ca", now - seconds(60), now + std::chrono::hours(1));
  auto pair = net::MakeCertificate(*ca, {.common_name = "kube-apiserver",
                                         .organizations = {},
                                         .hosts = {"127.0.0.1"},
                                         .not_before = now - seconds(60),
                                         .not_after = now + std::chrono::hours(1)});
  ASSERT_TRUE(pair) << pair.error().text;
  server_ =
      std::make_unique<net::Server>(io_, [](net::Request, net::Responder r) { r.Send({.body = net::MakeBody("ok")}); });
  address_ = server_
                 ->Listen("127.0.0.1:0", net::TlsServerOptions{.certificate = {.text = pair->certificate, .file = {}},
                                                               .key = {.text = pair->key, .file = {}},
                                                               .client_ca = {}})
                 .value();
  config_.server = *net::ParseUrl("https://" + address_);
  config_.tls.ca.text = other->certificate;
  EXPECT_EQ(Call({.path = "/x"}).error().text,
            "GET https://" + address_ + "/x: TLS: certificate is signed by an unknown authority (real-ca)");
  door_.reset();
  config_.tls.ca.text = ca->certificate;
  EXPECT_EQ(Call({.path = "/x"})->body, "ok");
}

}  // namespace
}  // namespace gpuop::kube
