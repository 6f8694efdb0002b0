#include <latch>

#include "kube/http_door_bed_test.h"

namespace gpuop::kube {
namespace {

using std::chrono::seconds;

using HttpDoorStreamTest = HttpDoorBed;

TEST_F(HttpDoorStreamTest, OneDocumentIsOnePieceWhateverTheChunks) {
  std::shared_ptr<net::ResponseStream> out;
  std::latch asked(1);
  Serve([&](net::Request, net::Responder r) {
    out = r.Stream({});
    asked.count_down();
  });
  std::unique_ptr<Stream> stream;
  auto notes = Watch(stream);
  const std::string big = "{\"b\":\"" + std::string(300'000, 'x') + "\"}";
  const std::string all = "{\"a\":1}\n{\"a\":2}\n\n  \n" + big + "\n{\"c\":3}\r\n";
  asked.wait();
  for (std::size_t at = 0; at < all.size(); at += 7001) out->Write(net::MakePiece(all.substr(at, 7001)));
  for (const char c : std::string("{\"d\":4}\n")) {
    out->Write(net::MakePiece(std::string(1, c)));
    io_.RunAndWait([] {});
  }
  out->End();
  EXPECT_EQ(notes->End().text, "");
  EXPECT_EQ(notes->Pieces(), (std::vector<std::string>{"{\"a\":1}", "{\"a\":2}", big, "{\"c\":3}\r", "{\"d\":4}"}));
}

// Takes three events, then none until it is told to.
class Reluctant final : public StreamSink {
 public:
  void OnData(std::string_view) override { ++taken; }
  bool WantsMore() override { return willing || taken < 3; }
  void OnEnd(Result<>, std::optional<Duration>) override { ended.count_down(); }

  std::atomic<int> taken = 0;
  std::atomic<bool> willing = false;
  std::latch ended{1};
};

TEST_F(HttpDoorStreamTest, ASinkThatWantsNoMoreHoldsTheServerBack) {
  constexpr int kEvents = 4000;
  std::atomic<int> sent = 0;
  Peer("HTTP/1.1 200 OK\r\n\r\n", [&](net::RawSocket& s) {
    const std::string event = "{\"a\":\"" + std::string(10'000, 'x') + "\"}\n";
    while (sent < kEvents && s.Send(event)) ++sent;
    s.Close();
  });
  auto sink = std::make_shared<Reluctant>();
  auto stream = Door().Open({.path = "/api/v1/pods", .query = {{"watch", "true"}}}, sink);
  // The sockets' own buffers fill, and then nothing moves.
  for (int before = -1; before != sent || sink->taken < 3; std::this_thread::sleep_for(std::chrono::milliseconds(100)))
    before = sent;
  EXPECT_LT(sent, kEvents);
  EXPECT_LT(sink->taken, 3 + 10) << "what was read already still comes, at most 64 KiB";
  sink->willing = true;
  stream->Resume();
  sink->ended.wait();
  EXPECT_EQ(sink->taken, kEvents);
}

TEST_F(HttpDoorStreamTest, ALogIsPassedOnAsItComes) {
  Peer("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nline one\nand");
  auto notes = std::make_shared<Notes>();
  auto stream = Door().Open({.path = "/log", .query = {{"follow", "true"}}}, notes);
  EXPECT_EQ(notes->End().text, "");
  std::string all;
  for (const std::string& p : notes->Pieces()) all += p;
  EXPECT_EQ(all, "line one\nand");
}

TEST_F(HttpDoorStreamTest, ARefusedStreamTellsTheCodeAndWhenToComeBack) {
  const std::string body =
      R"({"kind":"Status","status":"Failure","message":"too old resource version: 1","reason":"Expired","code":410})";
  Peer("HTTP/1.1 410 Gone\r\nContent-Type: application/json\r\nRetry-After: 3\r\nContent-Length: " +
       std::to_string(body.size()) + "\r\n\r\n" + body);
  std::unique_ptr<Stream> stream;
  auto notes = Watch(stream);
  EXPECT_EQ(notes->End().code, Code::kGone);
  EXPECT_TRUE(notes->End().text.ends_with("/api/v1/pods: too old resource version: 1")) << notes->End().text;
  EXPECT_EQ(notes->RetryAfterTold(), Duration(seconds(3)));
}

TEST_F(HttpDoorStreamTest, AServerThatVanishesMidStreamIsAnError) {
  Peer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"a\":1}\n\r\n3\r\n{\"a\r\n");
  std::unique_ptr<Stream> stream;
  auto notes = Watch(stream);
  const Error end = notes->End();
  EXPECT_EQ(end.code, Code::kUnavailable);
  EXPECT_EQ(end.text, "GET http://" + address_ +
                          "/api/v1/pods: server closed the connection in the middle of the answer after 11 bytes");
  EXPECT_EQ(notes->Pieces().size(), 1U);
}

TEST_F(HttpDoorStreamTest, AStreamThatEndsInTheMiddleOfADocumentIsAnError) {
  Peer("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"a\":1}\n{\"a");
  std::unique_ptr<Stream> stream;
  auto notes = Watch(stream);
  EXPECT_EQ(notes->End().text,
            "GET http://" + address_ + "/api/v1/pods: the watch ended in the middle of an event, after 3 bytes of it");
}

TEST_F(HttpDoorStreamTest, AHalfClosedServerStillCounts) {
  Peer("HTTP/1.1 200 OK\r\n\r\n{\"a\":1}\n", [](net::RawSocket& s) {
    s.ShutdownWrite();
    s.ReadAll();
  });
  std::unique_ptr<Stream> stream;
  auto notes = Watch(stream);
  EXPECT_EQ(notes->End().text, "");
  EXPECT_EQ(notes->Pieces().size(), 1U);
}

TEST_F(HttpDoorStreamTest, AGigabyteInOneEventIsCutOffEarly) {
  std::atomic<int> sent_mib = 0;
  Peer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", [&](net::RawSocket& s) {
    const std::string chunk = "100000\r\n" + std::string(1 << 20, 'x') + "\r\n";
    while (sent_mib < 1024 && s.Send(chunk)) ++sent_mib;
  });
  std::unique_ptr<Stream> stream;
  auto notes = Watch(stream);
  EXPECT_EQ(notes->End(), (Error{Code::kTooLarge,
                                 "GET http://" + address_ + "/api/v1/pods: an event is larger than 67108864 bytes"}));
  peer_.join();
  EXPECT_LT(sent_mib, 100);
}

class Suicide final : public StreamSink {
 public:
  explicit Suicide(std::latch& done) : done_(done) {}
  std::unique_ptr<Stream> stream;
  std::atomic<int> calls = 0;
  void OnData(std::string_view) override {
    ++calls;
    stream.reset();
    done_.count_down();
  }
  void OnEnd(Result<>, std::optional<Duration>) override { calls += 100; }

 private:
  std::latch& done_;
};

TEST_F(HttpDoorStreamTest, ASinkMayDestroyItsStreamFromInsideACall) {
  Serve([](net::Request, net::Responder r) { r.Stream({.body = net::MakeBody("{}\n{}\n{}\n")})->End(); });
  Door();
  std::latch done(1);
  auto sink = std::make_shared<Suicide>(done);
  io_.RunAndWait([&] { sink->stream = Door().Open({.path = "/", .query = {{"watch", "1"}}}, sink); });
  done.wait();
  io_.RunAndWait([] {});
  EXPECT_EQ(sink->calls, 1);
}

TEST_F(HttpDoorStreamTest, StreamsMayBeDroppedAtAnyMomentFromAnyThread) {
  Serve([this](net::Request, net::Responder r) {
    std::shared_ptr<net::ResponseStream> s = r.Stream({.body = net::MakeBody("{}\n")});
    for (int i = 0; i < 5; ++i)
      io_.PostAfter(std::chrono::microseconds(200 * i), [s] { s->Write(net::MakePiece("{}\n")); });
  });
  for (int i = 0; i < 100; ++i) {
    std::unique_ptr<Stream> stream;
    auto notes = Watch(stream);
    std::this_thread::sleep_for(std::chrono::microseconds(i * 20));
    stream.reset();
    const std::size_t before = notes->Pieces().size();
    io_.RunAndWait([] {});
    EXPECT_EQ(notes->Pieces().size(), before);
  }
}

}  // namespace
}  // namespace gpuop::kube
