// Broken and hostile clients.
#include <sys/resource.h>

#include <latch>

#include "net/testing/server_fixture.h"

namespace gpuop::net {
namespace {

using std::chrono::milliseconds;

struct Refusal {
  const char* name;
  std::string request;
  const char* status;
};

class RefusalTest : public ServerTest, public testing::WithParamInterface<Refusal> {};

TEST_P(RefusalTest, IsAnsweredAndTheConnectionEnds) {
  ServeEcho({.max_header_bytes = 4096, .max_body_bytes = 1000});
  RawSocket c = Connect();
  c.Send(GetParam().request);
  const std::string got = c.ReadUntil("\r\n\r\n");
  EXPECT_TRUE(got.starts_with(std::string("HTTP/1.1 ") + GetParam().status) ||
              got.starts_with(std::string("HTTP/1.0 ") + GetParam().status))
      << got.substr(0, 200);
  EXPECT_TRUE(c.Ends());
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusalTest,
    testing::Values(
        Refusal{"Garbage", "\x16\x03\x01 hello\r\n\r\n", "400"}, Refusal{"NoHost", "GET / HTTP/1.1\r\n\r\n", "400"},
        Refusal{"NoVersion", "GET /\r\n\r\n", "400"},
        Refusal{"LengthThatIsNone", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ten\r\n\r\n", "400"},
        Refusal{"TwoLengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "400"},
        Refusal{"LengthAndChunks",
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "400"},
        Refusal{"BadChunk", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "400"},
        Refusal{"LongTarget", "GET /" + std::string(10'000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", "431"},
        Refusal{"LongHeader", "GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(10'000, 'a') + "\r\n\r\n", "431"},
        Refusal{"EndlessHeader", "GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(100'000, 'a'), "431"},
        Refusal{"GigabyteByItsLength", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1073741824\r\n\r\n", "413"},
        Refusal{"TooMuchInChunks",
                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" + std::string(2000, 'a'),
                "413"}),
    [](const auto& c) { return std::string(c.param.name); });

TEST_F(ServerTest, AGigabyteUploadIsRefusedInBoundedMemory) {
  ServeEcho();
  RawSocket c = Connect();
  c.Send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "100000\r\n" + std::string(1 << 20, 'a') + "\r\n";
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  int sent = 0;
  while (sent < 1024 && c.Send(chunk)) ++sent;
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024);  // kB
  EXPECT_TRUE(Eventually([&] { return server_->Connections() == 0; }));
}

TEST_F(ServerTest, ASlowHeaderIsCutOff) {
  ServeEcho({.header_timeout = milliseconds(100)});
  RawSocket c = Connect();
  c.Send("GET / HTTP/1.1\r\nHo");
  EXPECT_TRUE(c.ReadAll().starts_with("HTTP/1.1 408 "));
}

TEST_F(ServerTest, ASlowBodyIsCutOff) {
  ServeEcho({.body_timeout = milliseconds(100)});
  RawSocket c = Connect();
  c.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_TRUE(c.ReadAll().starts_with("HTTP/1.1 408 "));
}

TEST_F(ServerTest, AnIdleConnectionIsClosedSilently) {
  ServeEcho({.idle_timeout = milliseconds(100)});
  RawSocket c = Connect();
  c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(c.ReadAll().ends_with("GET / "));
}

TEST_F(ServerTest, ManyIdleConnectionsCostLittleAndHurtNobody) {
  ServeEcho();
  std::vector<RawSocket> idle;
  for (int i = 0; i < 900; ++i) idle.push_back(Connect());
  EXPECT_TRUE(Eventually([&] { return server_->Connections() == 900; }));
  RawSocket c = Connect();
  c.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(c.ReadAll().ends_with("GET / "));
  c.Close();
  idle.clear();
  EXPECT_TRUE(Eventually([&] { return server_->Connections() == 0; }));
}

TEST_F(ServerTest, ConnectionsBeyondTheLimitAreClosed) {
  ServeEcho({.max_connections = 2});
  RawSocket a = Connect();
  RawSocket b = Connect();
  EXPECT_TRUE(Eventually([&] { return server_->Connections() == 2; }));
  EXPECT_TRUE(Connect().Ends());
}

TEST_F(ServerTest, AStreamTellsWhenItsClientHasTakenEnough) {
  std::latch room(1), full(1);
  std::unique_ptr<ResponseStream> stream;
  std::size_t left = 0;
  Serve([&](Request, Responder r) {
    stream = r.Stream({});
    stream->Write(MakePiece(std::string(12U << 20U, 'x')));
    stream->WhenAtMost(1000, [] { ADD_FAILURE() << "a later wait replaces this one"; });
    stream->WhenAtMost(2U << 20U, [&] {
      left = stream->Queued();
      stream->End();
      room.count_down();
    });
    io_.Post([&] { full.count_down(); });
  });
  RawSocket c = Connect();
  c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  full.wait();
  io_.RunAndWait([&] { EXPECT_GT(stream->Queued(), 2U << 20U) << "nothing was read yet"; });
  EXPECT_FALSE(room.try_wait());
  EXPECT_GT(c.ReadUntil("\r\n0\r\n\r\n").size(), 12U << 20U);
  room.wait();
  EXPECT_LE(left, 2U << 20U);
  io_.RunAndWait([&] { stream.reset(); });
}

TEST_F(ServerTest, ASlowReaderCannotHoldMemory) {
  std::latch gone(1);
  std::unique_ptr<ResponseStream> stream;
  std::size_t most = 0;
  std::function<void()> more;
  Serve(
      [&](Request, Responder r) {
        stream = r.Stream({});
        stream->WhenGone([&] { gone.count_down(); });
        more = [&] {
          stream->Write(MakePiece(std::string(64 * 1024, 'x')));
          most = std::max(most, stream->Queued());
          if (!stream->Gone()) io_.Post(more);
        };
        more();
      },
      {.max_queued_bytes = 1024 * 1024});
  RawSocket c = Connect();
  c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  gone.wait();
  io_.RunAndWait([&] {
    EXPECT_GT(most, 512U * 1024);
    EXPECT_LE(most, 1100U * 1024);
    stream.reset();
  });
}

TEST_F(ServerTest, AClientThatNeverReadsItsAnswerIsCutAfterAWhile) {
  Serve([](Request, Responder r) { r.Send(Text(std::string(64 << 20, 'x'))); }, {.write_timeout = milliseconds(200)});
  RawSocket c = Connect();
  c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(Eventually([&] { return server_->Connections() == 1; }));
  EXPECT_TRUE(Eventually([&] { return server_->Connections() == 0; }));
}

}  // namespace
}  // namespace gpuop::net
