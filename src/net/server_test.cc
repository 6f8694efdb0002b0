#include "net/server.h"

#include <fstream>
#include <latch>
#include <sstream>
#include <thread>

#include "net/testing/server_fixture.h"

namespace gpuop::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(ServerTest, AnswersAndKeepsTheConnection) {
  ServeEcho();
  RawSocket c = Connect();
  for (int i = 0; i < 3; ++i) {
    c.Send("GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::string got = c.ReadUntil("GET /a?b=c ");
    EXPECT_TRUE(got.starts_with("HTTP/1.1 200 OK\r\n")) << got;
    EXPECT_NE(got.find("Content-Length: 11\r\n"), std::string::npos) << got;
    EXPECT_EQ(got.find("Connection: close"), std::string::npos);
  }
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredInOrderEvenWhenAnswersComeLate) {
  Serve([this](Request q, Responder r) {
    const bool slow = q.target == "/1";
    io_.PostAfter(milliseconds(slow ? 30 : 0), [q, r = std::move(r)]() mutable { r.Send(Text("<" + q.target + ">")); });
  });
  RawSocket c = Connect();
  std::string all;
  for (int i = 1; i <= 5; ++i) all += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
  c.Send(all);
  const std::string got = c.ReadUntil("</5>");
  std::size_t at = 0;
  for (int i = 1; i <= 5; ++i) {
    const std::size_t next = got.find("</" + std::to_string(i) + ">", at);
    ASSERT_NE(next, std::string::npos) << i << got;
    at = next;
  }
}

TEST_F(ServerTest, SendsABodyInPiecesAndNoneForHead) {
  Serve([](Request, Responder r) { r.Send({.body = {MakePiece("one "), MakePiece("two "), MakePiece("three")}}); });
  RawSocket c = Connect();
  c.Send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string got = c.ReadAll();
  EXPECT_TRUE(got.ends_with("\r\n\r\none two three")) << got;
  EXPECT_EQ(got.find("one two"), got.rfind("one two"));
  const std::size_t length = got.find("Content-Length: 13");
  EXPECT_NE(length, std::string::npos);
  EXPECT_NE(got.find("Content-Length: 13", length + 1), std::string::npos);
}

TEST_F(ServerTest, ReadsBodiesByLengthAndInChunks) {
  ServeEcho();
  RawSocket c = Connect();
  c.Send("POST /l HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel");
  c.Send("loPOST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n");
  EXPECT_NE(c.ReadUntil("POST /c abcdefg").find("POST /l hello"), std::string::npos);
}

TEST_F(ServerTest, AsksForABodyThatTheClientHoldsBack) {
  ServeEcho();
  RawSocket c = Connect();
  c.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(c.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  c.Send("ok");
  EXPECT_NE(c.ReadUntil("POST / ok").find("POST / ok"), std::string::npos);
}

TEST_F(ServerTest, AnOldClientGetsAPlainAnswerAndTheEnd) {
  ServeEcho();
  RawSocket c = Connect();
  c.Send("GET /old HTTP/1.0\r\n\r\n");
  const std::string got = c.ReadAll();
  EXPECT_TRUE(got.starts_with("HTTP/1.0 200 OK")) << got;
  EXPECT_TRUE(got.ends_with("GET /old "));
}

TEST_F(ServerTest, AHalfClosedClientStillGetsItsAnswer) {
  Serve([this](Request, Responder r) {
    io_.PostAfter(milliseconds(30), [r = std::move(r)]() mutable { r.Send(Text("late")); });
  });
  RawSocket c = Connect();
  c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  c.ShutdownWrite();
  EXPECT_TRUE(c.ReadAll().ends_with("late"));
}

TEST_F(ServerTest, ADroppedRequestIsAnswered500) {
  Serve([](Request, Responder) {});
  RawSocket c = Connect();
  c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(c.ReadUntil("dropped").starts_with("HTTP/1.1 500 "));
}

TEST_F(ServerTest, StreamsInChunksAndThenTakesTheNextRequest) {
  Serve([this](Request, Responder r) {
    std::shared_ptr<ResponseStream> s = r.Stream({.body = MakeBody("head;")});
    io_.PostAfter(milliseconds(10), [s] { s->Write(MakePiece("tail")); });
    io_.PostAfter(milliseconds(20), [s] { s->End(); });
  });
  RawSocket c = Connect();
  for (int i = 0; i < 2; ++i) {
    c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::string got = c.ReadUntil("\r\n0\r\n\r\n");
    EXPECT_TRUE(got.ends_with("\r\n\r\n5\r\nhead;\r\n4\r\ntail\r\n0\r\n\r\n")) << got;
    EXPECT_NE(got.find("Transfer-Encoding: chunked"), std::string::npos);
  }
}

TEST_F(ServerTest, AStreamThatIsDroppedEndsWithoutTheLastChunk) {
  Serve([](Request, Responder r) { r.Stream({})->Write(MakePiece("abc")); });
  RawSocket c = Connect();
  c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(c.ReadAll().find("\r\n0\r\n"), std::string::npos);
}

TEST_F(ServerTest, NoticesThatAStreamsClientHasGone) {
  for (const bool reset : {false, true}) {
    IoThread io;
    std::latch gone(1);
    std::unique_ptr<ResponseStream> stream;
    Server server(io, [&](Request, Responder r) {
      stream = r.Stream({});
      stream->Write(MakePiece("x"));
      stream->WhenGone([&] { gone.count_down(); });
    });
    auto address = server.Listen("127.0.0.1:0");
    ASSERT_TRUE(address);
    io.Start();
    RawSocket c = RawSocket::Connect(PortOf(*address));
    c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    c.ReadUntil("x\r\n");
    reset ? c.Reset() : c.Close();
    gone.wait();
    EXPECT_TRUE(stream->Gone());
    stream->Write(MakePiece("nobody reads this"));
    io.RunAndWait([&] { stream.reset(); });
  }
}

TEST_F(ServerTest, NoticesThatAClientLeavesBeforeItsAnswer) {
  for (const bool before_the_handler : {false, true}) {
    IoThread io;
    std::latch asked(1), gone(1);
    std::optional<Responder> kept;
    Server server(io, [&](Request, Responder r) {
      kept.emplace(std::move(r));
      kept->WhenGone([&] { gone.count_down(); });  // at once when the client has left already
      asked.count_down();
    });
    auto address = server.Listen("127.0.0.1:0");
    ASSERT_TRUE(address);
    if (!before_the_handler) io.Start();
    RawSocket c = RawSocket::Connect(PortOf(*address));
    c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    if (!before_the_handler) asked.wait();
    c.Close();
    if (before_the_handler) io.Start();
    gone.wait();
    asked.wait();
    kept->Send(Text("to nobody"));
  }
}

TEST_F(ServerTest, AnswersMayComeFromOtherThreads) {
  std::vector<std::jthread> workers;
  Serve([&](Request q, Responder r) {
    workers.emplace_back([q = std::move(q), r = std::move(r)]() mutable {
      if (q.target == "/stream") {
        auto s = r.Stream({});
        for (int i = 0; i < 100; ++i) s->Write(MakePiece("0123456789"));
        s->End();
      } else {
        r.Send(Text("from a worker"));
      }
    });
  });
  RawSocket c = Connect();
  c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_NE(c.ReadUntil("from a worker").find("from a worker"), std::string::npos);
  c.Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(c.ReadUntil("\r\n0\r\n\r\n").ends_with("\r\n0\r\n\r\n"));
}

TEST_F(ServerTest, StopsGracefully) {
  std::optional<Responder> kept;
  std::latch asked(1);
  Serve([&](Request, Responder r) {
    kept.emplace(std::move(r));
    asked.count_down();
  });
  RawSocket idle = Connect();
  RawSocket busy = Connect();
  busy.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  asked.wait();
  std::latch stopped(1);
  server_->Stop(seconds(10), [&] { stopped.count_down(); });
  EXPECT_TRUE(idle.Ends());
  kept->Send(Text("the last answer"));
  const std::string got = busy.ReadAll();
  EXPECT_TRUE(got.ends_with("the last answer"));
  EXPECT_NE(got.find("Connection: close"), std::string::npos);
  busy.Close();
  stopped.wait();
}

TEST_F(ServerTest, CutsWhatOutlivesTheGraceOfAStop) {
  std::unique_ptr<ResponseStream> stream;
  Serve([&](Request, Responder r) { stream = r.Stream({.body = MakeBody("on and on")}); });
  RawSocket c = Connect();
  c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  c.ReadUntil("on and on");
  std::latch stopped(1);
  server_->Stop(milliseconds(50), [&] { stopped.count_down(); });
  stopped.wait();
  EXPECT_TRUE(c.Ends());
  EXPECT_TRUE(stream->Gone());
  io_.RunAndWait([&] { stream.reset(); });
}

TEST_F(ServerTest, ServesUnixSocketsAndRemovesThem) {
  const std::string path = testing::TempDir() + "gpuop-net-server-" + std::to_string(::getpid()) + ".sock";
  IoThread io;
  {
    Server server(io, [](Request q, Responder r) { r.Send(Text(q.peer->address)); });
    ASSERT_TRUE(server.Listen("unix:" + path));
    auto again = server.Listen("unix:" + path);  // an old socket is replaced
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_EQ(*again, "unix:" + path);
    io.Start();
    RawSocket c(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    path.copy(to.sun_path, sizeof to.sun_path - 1);
    ASSERT_EQ(::connect(c.fd(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    c.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(c.ReadAll().ends_with("unix:"));
  }
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST_F(ServerTest, AClientWhoseRequestIsItsLastIsNotWaitedFor) {
  ServeEcho();
  for (const char* request : {"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    RawSocket c = Connect();
    c.Send(request);
    EXPECT_TRUE(c.ReadAll().ends_with("GET / "));
    EXPECT_EQ(server_->Connections(), 0U) << "though it has not closed its side";
  }
}

TEST_F(ServerTest, APeerThatVanishedIsNoticedInTime) {
  ServeEcho();
  RawSocket c = Connect();
  c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  c.ReadUntil("GET / ");
  // Our end, established, with the timer of keep-alive running (proc_net_tcp: 01, then 02).
  char here[16];
  std::snprintf(here, sizeof here, ":%04X ", port_);
  std::ifstream table("/proc/net/tcp");
  bool kept = false;
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string slot, local, remote, state, queues, timer;
    words >> slot >> local >> remote >> state >> queues >> timer;
    kept |= (local + " ").ends_with(here) && state == "01" && timer.starts_with("02:");
  }
  EXPECT_TRUE(kept);
}

TEST(ServerListenTest, SaysWhatIsWrongWithAnAddress) {
  IoThread io;
  Server a(io, [](Request, Responder) {});
  auto first = a.Listen("127.0.0.1:0");
  ASSERT_TRUE(first);
  EXPECT_EQ(a.Listen(*first).error().text, "listen on " + *first + ": address already in use");
  EXPECT_EQ(a.Listen("here").error().text, "listen on here: not an address with a port");
  EXPECT_EQ(a.Listen("example:80").error().text, "listen on example:80: \"example\" is not an IP address");
  EXPECT_EQ(a.Listen("127.0.0.1:0", TlsServerOptions{}).error().text, "certificate: no PEM certificate in it");
}

}  // namespace
}  // namespace gpuop::net
