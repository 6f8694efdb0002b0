#include "net/client.h"

#include <thread>

#include "net/testing/client_fixture.h"

namespace gpuop::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(ClientTest, CallsAndKeepsTheConnection) {
  std::set<std::string> peers;  // on the I/O thread
  const auto port = Serve([&](Request q, Responder r) {
    peers.insert(q.peer->address);
    r.Send({.status = 201,
            .headers = {{"X-Seen", std::string(q.headers.Get("X-Mine"))}},
            .body = MakeBody(q.method + " " + q.target + " " + q.body + " " + std::string(q.headers.Get("Host")))});
  });
  auto client = To(port);
  for (int i = 0; i < 5; ++i) {
    auto got = client->Call(
        {.method = "POST", .target = "/a?b", .headers = {{"X-Mine", "1"}}, .body = {MakePiece("he"), MakePiece("llo")}},
        seconds(5), {});
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_EQ(got->status, 201);
    EXPECT_EQ(got->headers.Get("x-seen"), "1");
    EXPECT_EQ(got->body, "POST /a?b hello 127.0.0.1:" + std::to_string(port));
  }
  EXPECT_EQ(peers.size(), 1U);
}

TEST_F(ClientTest, ManyThreadsShareOneClient) {
  const auto port = Serve([&](Request q, Responder r) { r.Send({.body = MakeBody(q.target)}); });
  auto client = To(port, {.max_connections = 3});
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          const std::string target = "/" + std::to_string(t) + "/" + std::to_string(i);
          if (Outcome(client->Call({.target = target}, seconds(10), {})) == target) ++good;
        }
      });
  }
  EXPECT_EQ(good, 400);
  EXPECT_LE(servers_[0]->Connections(), 3U);
}

TEST_F(ClientTest, SaysThatNobodyListens) {
  EXPECT_EQ(Outcome(To(1)->Call({}, seconds(5), {})), "connect 127.0.0.1:1: connection refused");
  auto unix = Client::Make(io_, *ParseUrl("unix:/nowhere/x.sock"));
  ASSERT_TRUE(unix);
  EXPECT_EQ(Outcome((*unix)->Call({}, seconds(5), {})), "connect unix:/nowhere/x.sock: no such file or directory");
}

TEST_F(ClientTest, SaysThatANameDoesNotExist) {
  auto client = Client::Make(io_, *ParseUrl("http://no-such-host.invalid"));
  ASSERT_TRUE(client);
  EXPECT_TRUE(Outcome((*client)->Call({}, seconds(10), {})).starts_with("look up no-such-host.invalid: "));
}

TEST_F(ClientTest, SaysWhereAnAnswerBrokeOff) {
  EXPECT_EQ(GetFrom([](RawSocket&) {}), "server closed the connection without an answer");
  EXPECT_EQ(GetFrom([](RawSocket& s) { s.Send("HTTP/1.1 200 OK\r\nContent-"); }),
            "server closed the connection in the middle of the answer's head");
  EXPECT_EQ(GetFrom([](RawSocket& s) { s.Send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n0123456789"); }),
            "server closed the connection in the middle of the answer after 10 bytes");
  EXPECT_EQ(
      GetFrom([](RawSocket& s) { s.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n"); }),
      "server closed the connection in the middle of the answer after 5 bytes");
  EXPECT_EQ(GetFrom([](RawSocket& s) { s.Reset(); }), "connection reset by peer");
}

TEST_F(ClientTest, SaysWhatIsNotHttp) {
  EXPECT_EQ(GetFrom([](RawSocket& s) { s.Send("SSH-2.0-OpenSSH_9.2\r\n"); }),
            "the server's answer: not HTTP: bad version");
  EXPECT_EQ(GetFrom([](RawSocket& s) {
              s.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
              s.ReadAll();
            }),
            "the server's answer: not HTTP: bad chunk");
  EXPECT_EQ(GetFrom([](RawSocket& s) {
              s.Send("HTTP/1.1 200 OK\r\nA: " + std::string(300'000, 'a') + "\r\n\r\n");
              s.ReadAll();
            }),
            "the server's answer: the header is too large");
}

TEST_F(ClientTest, ReadsAnAnswerThatEndsWithTheConnectionAndOneAfterAHint) {
  EXPECT_EQ(GetFrom([](RawSocket& s) { s.Send("HTTP/1.0 200 OK\r\n\r\nall of it"); }), "all of it");
  EXPECT_EQ(GetFrom([](RawSocket& s) {
              s.Send("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
            }),
            "ok");
  EXPECT_EQ(GetFrom([](RawSocket& s) { s.Send("HTTP/1.1 204 No Content\r\n\r\n"); }), "");
  EXPECT_EQ(GetFrom([](RawSocket& s) { s.Send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"); }, {.method = "HEAD"}),
            "");
}

TEST_F(ClientTest, ATooLargeAnswerIsRefusedWithoutReadingIt) {
  const ClientRequest small{.max_answer_bytes = 1000};
  EXPECT_EQ(GetFrom([](RawSocket& s) { s.Send("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n"); }, small),
            "the answer is larger than 1000 bytes");
  EXPECT_EQ(GetFrom(
                [](RawSocket& s) {
                  s.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                  while (s.Send("400\r\n" + std::string(1024, 'a') + "\r\n")) {
                  }
                },
                small),
            "the answer is larger than 1000 bytes");
}

TEST_F(ClientTest, AnAnswerBeforeTheBodyIsSentCounts) {
  RawListener listener;
  std::jthread peer([&] {
    RawSocket s = listener.Accept();
    s.ReadUntil("\r\n\r\n");
    s.Send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno!");
    s.ShutdownWrite();
    s.ReadAll();
  });
  auto got =
      To(listener.port())->Call({.method = "POST", .body = MakeBody(std::string(64 << 20, 'x'))}, seconds(10), {});
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_EQ(got->status, 413);
  EXPECT_EQ(got->body, "no!");
}

TEST_F(ClientTest, GivesUpInTime) {
  RawListener silent;
  auto client = To(silent.port());
  const auto begin = std::chrono::steady_clock::now();
  auto got = client->Call({}, milliseconds(100), {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error(), (Error{Code::kTimeout, "no answer within 100 ms"}));
  auto notes = std::make_shared<StreamNotes>();
  auto stream = client->Open({.head_limit = milliseconds(100)}, notes);
  EXPECT_EQ(notes->End(), "no answer in time");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(5));
}

TEST_F(ClientTest, ACancelledCallReturnsAtOnce) {
  RawListener silent;
  auto client = To(silent.port());
  std::stop_source stop;
  std::jthread canceller([&] {
    RawSocket s = silent.Accept();
    s.ReadUntil("\r\n\r\n");
    stop.request_stop();
    EXPECT_TRUE(s.Ends());  // the connection goes with it
  });
  auto got = client->Call({}, std::chrono::hours(1), stop.get_token());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::kCancelled);
}

// A peer that answers one request on each connection and then closes it without a word.
void AnswerOnceEach(RawListener& listener, int connections) {
  for (int i = 0; i < connections; ++i) {
    RawSocket s = listener.Accept();
    s.ReadUntil("\r\n\r\n");
    s.Send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + std::to_string(i));
    // Closed only with the next request on its way: the client cannot know beforehand.
    s.ReadUntil("\r\n\r\n");
  }
}

TEST_F(ClientTest, RepeatsAGetOnceWhenAPooledConnectionWasDead) {
  RawListener listener;
  std::jthread peer([&] { AnswerOnceEach(listener, 2); });
  auto client = To(listener.port());
  EXPECT_EQ(Outcome(client->Call({}, seconds(5), {})), "0");
  EXPECT_EQ(Outcome(client->Call({}, seconds(5), {})), "1");
  client.reset();
}

TEST_F(ClientTest, NeverRepeatsAPost) {
  RawListener listener;
  std::jthread peer([&] { AnswerOnceEach(listener, 1); });
  auto client = To(listener.port());
  EXPECT_EQ(Outcome(client->Call({.method = "POST"}, seconds(5), {})), "0");
  EXPECT_EQ(Outcome(client->Call({.method = "POST"}, seconds(5), {})),
            "server closed the connection without an answer");
}

TEST_F(ClientTest, ForgetsAConnectionThatTheServerCloses) {
  RawListener listener;
  std::jthread peer([&] {
    for (int i = 0; i < 2; ++i) {
      RawSocket s = listener.Accept();
      s.ReadUntil("\r\n\r\n");
      s.Send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + std::to_string(i));
    }
  });
  auto client = To(listener.port());
  EXPECT_EQ(Outcome(client->Call({.method = "POST"}, seconds(5), {})), "0");
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(Outcome(client->Call({.method = "POST"}, seconds(5), {})), "1");
}

TEST_F(ClientTest, IdleConnectionsExpire) {
  const auto port = Serve([&](Request, Responder r) { r.Send({}); });
  auto client = To(port, {.idle_timeout = milliseconds(50)});
  ASSERT_TRUE(client->Call({}, seconds(5), {}));
  for (int i = 0; i < 500 && servers_[0]->Connections() > 0; ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(servers_[0]->Connections(), 0U);
}

TEST_F(ClientTest, RefusesWhatCannotBeSent) {
  auto client = To(1);
  for (const ClientRequest& bad :
       {ClientRequest{.method = "G T"}, ClientRequest{.target = "/a b"}, ClientRequest{.target = "a"},
        ClientRequest{.headers = {{"A", "b\r\nC: d"}}}, ClientRequest{.headers = {{"A B", "c"}}}}) {
    auto got = client->Call(bad, seconds(5), {});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, Code::kInvalid);
  }
}

TEST_F(ClientTest, GoesThroughAProxy) {
  RawListener proxy;
  std::string head;
  std::jthread peer([&] {
    RawSocket s = proxy.Accept();
    head = s.ReadUntil("\r\n\r\n");
    s.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  auto client = Client::Make(io_, *ParseUrl("http://api.invalid/"),
                             {.proxy = "http://me:pw@127.0.0.1:" + std::to_string(proxy.port())});
  ASSERT_TRUE(client);
  EXPECT_EQ(Outcome((*client)->Call({.target = "/x"}, seconds(5), {})), "ok");
  peer.join();
  EXPECT_EQ(head,
            "GET http://api.invalid/x HTTP/1.1\r\nHost: api.invalid\r\nProxy-Authorization: Basic bWU6cHc=\r\n\r\n");
}

TEST_F(ClientTest, SaysWhatAProxyAnswers) {
  RawListener proxy;
  std::jthread peer([&] {
    RawSocket s = proxy.Accept();
    EXPECT_EQ(s.ReadUntil("\r\n\r\n"), "CONNECT api.invalid:443 HTTP/1.1\r\nHost: api.invalid:443\r\n\r\n");
    s.Send("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
  });
  const std::string at = "127.0.0.1:" + std::to_string(proxy.port());
  auto client = Client::Make(io_, *ParseUrl("https://api.invalid/"), {.proxy = "http://" + at});
  ASSERT_TRUE(client);
  EXPECT_EQ(Outcome((*client)->Call({}, seconds(5), {})),
            "connect api.invalid:443 through proxy " + at + ": the proxy answered 407 Proxy Authentication Required");
  auto socks = Client::Make(io_, *ParseUrl("https://api.invalid/"), {.proxy = "socks5://" + at});
  ASSERT_FALSE(socks);
  EXPECT_EQ(socks.error().text, "proxy: scheme \"socks5\" is not supported, only http is");
}

TEST_F(ClientTest, ATimedOutHandshakeSaysSo) {
  RawListener silent;
  auto client = Client::Make(io_, *ParseUrl("https://127.0.0.1:" + std::to_string(silent.port())),
                             {.connect_timeout = milliseconds(100)});
  ASSERT_TRUE(client);
  EXPECT_EQ(Outcome((*client)->Call({}, seconds(5), {})),
            "TLS handshake with 127.0.0.1:" + std::to_string(silent.port()) + ": no answer within 100 ms");
}

}  // namespace
}  // namespace gpuop::net
