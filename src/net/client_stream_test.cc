#include <latch>
#include <thread>

#include "net/testing/client_fixture.h"

namespace gpuop::net {
namespace {

using std::chrono::milliseconds;

TEST_F(ClientTest, StreamsAndStops) {
  std::shared_ptr<ResponseStream> stream;
  const auto port = Serve([&](Request, Responder r) { stream = r.Stream({.body = MakeBody("first ")}); });
  auto client = To(port);
  auto notes = std::make_shared<StreamNotes>();
  auto open = client->Open({}, notes);
  ASSERT_TRUE(notes->WaitFor("first "));
  io_.RunAndWait([&] { stream->Write(MakePiece("second")); });
  ASSERT_TRUE(notes->WaitFor("first second"));
  std::latch gone(1);
  stream->WhenGone([&] { gone.count_down(); });
  open.reset();
  gone.wait();
  EXPECT_FALSE(notes->ended());
  io_.RunAndWait([&] { stream.reset(); });
}

TEST_F(ClientTest, AStreamThatTheServerEndsInGoodOrderEndsWithoutAnError) {
  const auto port = Serve([&](Request, Responder r) { r.Stream({.body = MakeBody("x")})->End(); });
  auto client = To(port);
  auto notes = std::make_shared<StreamNotes>();
  auto open = client->Open({}, notes);
  EXPECT_EQ(notes->End(), "");
}

TEST_F(ClientTest, APausedStreamHoldsTheServerBack) {
  std::shared_ptr<ResponseStream> stream;
  const auto port = Serve([&](Request, Responder r) { stream = r.Stream({.body = MakeBody("first")}); });
  auto client = To(port);
  auto notes = std::make_shared<StreamNotes>();
  auto open = client->Open({.max_answer_bytes = 0}, notes);
  ASSERT_TRUE(notes->WaitFor("first"));
  open->Pause();
  constexpr std::size_t kMuch = 12 << 20;
  io_.RunAndWait([&] { stream->Write(MakePiece(std::string(kMuch, 'x'))); });
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_LE(notes->size(), 5U + 64 * 1024);
  EXPECT_GT(stream->Queued(), 0U);
  open->Resume();
  io_.RunAndWait([&] {
    stream->Write(MakePiece("last"));
    stream->End();
    stream.reset();
  });
  EXPECT_EQ(notes->End(), "");
  EXPECT_EQ(notes->size(), 5 + kMuch + 4);
}

// Destroys its own stream from inside a call.
class Suicide final : public ResponseSink {
 public:
  explicit Suicide(std::latch& done) : done_(done) {}
  std::unique_ptr<ClientStream> stream;
  int calls = 0;
  void OnHead(int, const Headers&) override {}
  void OnData(std::string_view) override {
    ++calls;
    stream.reset();
    done_.count_down();
  }
  void OnEnd(Result<>) override { calls += 100; }

 private:
  std::latch& done_;
};

TEST_F(ClientTest, ASinkMayDestroyItsStream) {
  const auto port = Serve([&](Request, Responder r) { r.Stream({.body = {MakePiece("a"), MakePiece("b")}})->End(); });
  auto client = To(port);
  std::latch done(1);
  auto sink = std::make_shared<Suicide>(done);
  io_.RunAndWait([&] { sink->stream = client->Open({}, sink); });
  done.wait();
  io_.RunAndWait([] {});
  EXPECT_EQ(sink->calls, 1);
}

TEST_F(ClientTest, StreamsMayBeDroppedAtAnyMoment) {
  const auto port = Serve([this](Request, Responder r) {
    std::shared_ptr<ResponseStream> s = r.Stream({.body = MakeBody("x")});
    for (int i = 0; i < 5; ++i) io_.PostAfter(std::chrono::microseconds(200 * i), [s] { s->Write(MakePiece("y")); });
  });
  auto client = To(port);
  for (int i = 0; i < 200; ++i) {
    auto notes = std::make_shared<StreamNotes>();
    auto open = client->Open({}, notes);
    std::this_thread::sleep_for(std::chrono::microseconds(i * 10));
  }
}

}  // namespace
}  // namespace gpuop::net
