#include "net/tls.h"

#include <fstream>
#include <latch>
#include <thread>

#include "net/certificates.h"
#include "net/client.h"
#include "net/server.h"
#include "net/testing/raw_peer.h"
#include "os/temp_folder.h"

namespace gpuop::net {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class TlsTest : public testing::Test {
 protected:
  void SetUp() override {
    io_.Start();
    auto ca = MakeAuthority("test-ca", now_ - hours(48), now_ + hours(48));
    ASSERT_TRUE(ca) << ca.error().text;
    ca_ = *ca;
  }
  KeyPair Issue(std::vector<std::string> hosts, WallTime not_after, WallTime not_before, std::string name = "server",
                std::vector<std::string> organizations = {}) {
    auto made = MakeCertificate(ca_, {.common_name = std::move(name),
                                      .organizations = std::move(organizations),
                                      .hosts = std::move(hosts),
                                      .not_before = not_before,
                                      .not_after = not_after});
    EXPECT_TRUE(made) << made.error().text;
    return *made;
  }
  KeyPair Issue(std::vector<std::string> hosts) { return Issue(std::move(hosts), now_ + hours(1), now_ - hours(1)); }
  static Pem Text(const std::string& text) { return {.text = text, .file = {}}; }

  std::uint16_t Serve(const KeyPair& pair, const std::string& client_ca = "") {
    servers_.push_back(std::make_unique<Server>(io_, [](Request q, Responder r) {
      std::string who = "nobody";
      if (const auto& c = q.peer->certificate) {
        who = c->common_name;
        for (const std::string& o : c->organizations) who += " " + o;
      }
      r.Send({.body = MakeBody(who + q.body)});
    }));
    auto address = servers_.back()->Listen(
        "127.0.0.1:0",
        TlsServerOptions{.certificate = Text(pair.certificate), .key = Text(pair.key), .client_ca = Text(client_ca)});
    EXPECT_TRUE(address) << address.error().text;
    return PortOf(*address);
  }
  std::string Get(std::uint16_t port, TlsClientOptions tls, ClientRequest request = {}) {
    auto client = Client::Make(io_, *ParseUrl("https://127.0.0.1:" + std::to_string(port)), {.tls = std::move(tls)});
    EXPECT_TRUE(client);
    auto got = (*client)->Call(std::move(request), seconds(10), {});
    return got ? got->body : got.error().text;
  }
  TlsClientOptions Trusting() { return {.ca = Text(ca_.certificate), .certificate = {}, .key = {}, .server_name = {}}; }

  IoThread io_;
  const WallTime now_ = io_.Wall();
  KeyPair ca_;
  std::vector<std::unique_ptr<Server>> servers_;
};

TEST_F(TlsTest, TalksInBothDirections) {
  const auto port = Serve(Issue({"127.0.0.1"}));
  EXPECT_EQ(Get(port, Trusting()), "nobody");
  const std::string much(2 << 20, 'x');
  EXPECT_EQ(Get(port, Trusting(), {.method = "POST", .body = MakeBody(much)}), "nobody" + much);
}

TEST_F(TlsTest, SendsPiecesOfAnySizeInOrderThoughTheSocketTakesOnlyAPartAtATime) {
  Body pieces;
  std::string whole;
  for (int i = 0; whole.size() < (6U << 20U); ++i) {
    constexpr std::size_t kSizes[] = {1, 7, 16 * 1024 - 1, 16 * 1024, 16 * 1024 + 1, 70'000, 200'000};
    std::string piece(kSizes[i % 7], static_cast<char>('a' + i % 26));
    piece += std::to_string(i);
    whole += piece;
    pieces.push_back(MakePiece(std::move(piece)));
  }
  const KeyPair pair = Issue({"127.0.0.1"});
  Server server(io_, [&](Request, Responder r) { r.Send({.body = pieces}); });
  const auto address = server.Listen(
      "127.0.0.1:0", TlsServerOptions{.certificate = Text(pair.certificate), .key = Text(pair.key), .client_ca = {}});
  ASSERT_TRUE(address);
  EXPECT_TRUE(Get(PortOf(*address), Trusting(), {.max_answer_bytes = 0}) == whole);
}

TEST_F(TlsTest, ShowsTheServerWhoTheClientIs) {
  const auto port = Serve(Issue({"127.0.0.1"}), ca_.certificate);
  EXPECT_EQ(Get(port, Trusting()), "nobody");
  const KeyPair me = Issue({}, now_ + hours(1), now_ - hours(1), "system:node:n1", {"system:nodes", "extra"});
  TlsClientOptions tls = Trusting();
  tls.certificate = Text(me.certificate);
  tls.key = Text(me.key);
  EXPECT_EQ(Get(port, tls), "system:node:n1 system:nodes extra");
}

TEST_F(TlsTest, RefusesAClientFromAnotherAuthority) {
  const auto other = MakeAuthority("other-ca", now_ - hours(1), now_ + hours(1));
  const auto port = Serve(Issue({"127.0.0.1"}), other->certificate);
  const KeyPair me = Issue({}, now_ + hours(1), now_ - hours(1), "me");
  TlsClientOptions tls = Trusting();
  tls.certificate = Text(me.certificate);
  tls.key = Text(me.key);
  EXPECT_EQ(Get(port, tls), "TLS: the peer does not know our certificate's authority");
}

TEST_F(TlsTest, SaysWhatIsWrongWithTheServersCertificate) {
  const auto ip = std::vector<std::string>{"127.0.0.1"};
  EXPECT_EQ(Get(Serve(Issue(ip, now_ - hours(1), now_ - hours(2))), Trusting()),
            "TLS: certificate has expired (not after " + FormatTime(now_ - hours(1)) + ")");
  EXPECT_EQ(Get(Serve(Issue(ip, now_ + hours(2), now_ + hours(1))), Trusting()),
            "TLS: certificate is not yet valid (not before " + FormatTime(now_ + hours(1)) + ")");
  EXPECT_EQ(Get(Serve(Issue({"a.example", "10.0.0.1"})), Trusting()),
            "TLS: certificate is for a.example, 10.0.0.1, not for 127.0.0.1");
  TlsClientOptions named = Trusting();
  named.server_name = "b.example";
  EXPECT_EQ(Get(Serve(Issue({"a.example"})), named), "TLS: certificate is for a.example, not for b.example");
  named.server_name = "a.example";
  EXPECT_EQ(Get(Serve(Issue({"a.example"})), named), "nobody");
  const auto other = MakeAuthority("other-ca", now_ - hours(1), now_ + hours(1));
  EXPECT_EQ(Get(Serve(Issue(ip)), {.ca = Text(other->certificate), .certificate = {}, .key = {}, .server_name = {}}),
            "TLS: certificate is signed by an unknown authority (test-ca)");
}

TEST_F(TlsTest, TakesAnyCertificateWhenToldTo) {
  const auto port = Serve(Issue({"a.example"}, now_ - hours(1), now_ - hours(2)));
  EXPECT_EQ(Get(port, {.ca = {}, .certificate = {}, .key = {}, .server_name = {}, .insecure_skip_verify = true}),
            "nobody");
}

TEST_F(TlsTest, SaysThatAPeerSpeaksNoTls) {
  Server plain(io_, [](Request, Responder r) { r.Send({}); });
  const auto port = PortOf(plain.Listen("127.0.0.1:0").value());
  EXPECT_EQ(Get(port, Trusting()), "TLS: the peer does not speak TLS");
}

TEST_F(TlsTest, SaysWhatIsWrongWithItsOwnFiles) {
  const KeyPair a = Issue({});
  const KeyPair b = Issue({});
  TlsClientOptions tls = Trusting();
  tls.certificate = Text(a.certificate);
  tls.key = Text(b.key);
  EXPECT_EQ(Get(1, tls), "connect 127.0.0.1:1: connection refused");
  const auto port = Serve(Issue({"127.0.0.1"}));
  EXPECT_EQ(Get(port, tls), "TLS: key: does not belong to the certificate");
  tls.key = {};
  EXPECT_EQ(Get(port, tls), "TLS: a client certificate needs its key, and a key its certificate");
  EXPECT_EQ(Get(port, {.ca = {.text = {}, .file = "/nowhere/ca.crt"}, .certificate = {}, .key = {}, .server_name = {}}),
            "TLS: certificate authority /nowhere/ca.crt: no such file or directory");
  EXPECT_EQ(Get(port, {.ca = Text("not a certificate"), .certificate = {}, .key = {}, .server_name = {}}),
            "TLS: certificate authority: no PEM certificate in it");
}

TEST_F(TlsTest, BothSidesTakeUpRotatedFiles) {
  const os::TempFolder folder = os::TempFolder::Make().value();
  const auto write = [&](const std::string& name, const std::string& text) {
    const std::string file = folder.path() + "/" + name;
    std::ofstream(file + ".new") << text;
    std::rename((file + ".new").c_str(), file.c_str());
    return Pem{.text = {}, .file = file};
  };
  const KeyPair old_pair = Issue({"127.0.0.1"});
  const TlsServerOptions options{
      .certificate = write("crt", old_pair.certificate), .key = write("key", old_pair.key), .client_ca = {}};
  Server server(io_, [](Request, Responder r) { r.Send({.body = MakeBody("ok")}); });
  const auto port = PortOf(server.Listen("127.0.0.1:0", options).value());
  const auto new_ca = MakeAuthority("new-ca", now_ - hours(1), now_ + hours(1));
  const TlsClientOptions tls{.ca = write("ca", ca_.certificate), .certificate = {}, .key = {}, .server_name = {}};
  auto client = Client::Make(io_, *ParseUrl("https://127.0.0.1:" + std::to_string(port)), {.tls = tls, .max_idle = 0});
  ASSERT_TRUE((*client)->Call({}, seconds(5), {}));
  ca_ = *new_ca;
  const KeyPair new_pair = Issue({"127.0.0.1"});
  write("crt", new_pair.certificate);
  write("key", new_pair.key);
  auto refused = (*client)->Call({}, seconds(5), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text, "TLS: certificate is signed by an unknown authority (new-ca)");
  write("ca", ca_.certificate);
  auto again = (*client)->Call({}, seconds(5), {});
  EXPECT_TRUE(again) << again.error().text;
  write("key", "half written");  // the server goes on with what it has
  EXPECT_TRUE((*client)->Call({}, seconds(5), {}));
}

TEST_F(TlsTest, GarbageAndSilenceAreCutOff) {
  const KeyPair pair = Issue({"127.0.0.1"});
  Server server(io_, [](Request, Responder r) { r.Send({}); }, {.header_timeout = std::chrono::milliseconds(100)});
  const auto port = PortOf(
      server
          .Listen("127.0.0.1:0",
                  TlsServerOptions{.certificate = Text(pair.certificate), .key = Text(pair.key), .client_ca = {}})
          .value());
  RawSocket garbage = RawSocket::Connect(port);
  garbage.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(garbage.Ends());
  EXPECT_TRUE(RawSocket::Connect(port).Ends());
}

TEST_F(TlsTest, TunnelsThroughAProxy) {
  const auto port = Serve(Issue({"api.invalid"}));
  RawListener proxy;
  std::jthread tunnel([&] {
    RawSocket near = proxy.Accept();
    EXPECT_TRUE(near.ReadUntil("\r\n\r\n").starts_with("CONNECT api.invalid:443 HTTP/1.1\r\n"));
    RawSocket far = RawSocket::Connect(port);
    near.Send("HTTP/1.1 200 Connection established\r\n\r\n");
    pollfd fds[] = {{near.fd(), POLLIN, 0}, {far.fd(), POLLIN, 0}};
    char buffer[4096];
    for (;;) {
      if (::poll(fds, 2, 10'000) <= 0) return;
      for (int i = 0; i < 2; ++i) {
        if (fds[i].revents == 0) continue;
        const ssize_t n = ::recv(fds[i].fd, buffer, sizeof buffer, 0);
        if (n <= 0) return;
        ::send(fds[1 - i].fd, buffer, static_cast<std::size_t>(n), MSG_NOSIGNAL);
      }
    }
  });
  auto client = Client::Make(io_, *ParseUrl("https://api.invalid"),
                             {.tls = Trusting(), .proxy = "http://127.0.0.1:" + std::to_string(proxy.port())});
  ASSERT_TRUE(client);
  auto got = (*client)->Call({}, seconds(5), {});
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_EQ(got->body, "nobody");
  client->reset();
}

TEST(CertificatesTest, RefusesAHostThatIsNone) {
  const WallTime now = SystemClock().Wall();
  auto ca = MakeAuthority("ca", now, now + hours(1));
  ASSERT_TRUE(ca);
  const CertificateRequest request{
      .common_name = "x", .organizations = {}, .hosts = {"a,IP:1.2.3.4"}, .not_before = now, .not_after = now};
  EXPECT_FALSE(MakeCertificate(*ca, request));
  EXPECT_EQ(MakeCertificate({}, request).error().text, "the authority is not a PEM certificate with its key");
}

}  // namespace
}  // namespace gpuop::net
