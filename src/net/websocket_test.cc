#include "net/websocket.h"

#include <thread>

#include "base/mutex.h"
#include "net/client.h"
#include "net/detail/websocket_frames.h"
#include "net/server.h"
#include "net/testing/raw_peer.h"

namespace gpuop::net {
namespace {

using detail::MaskKey;
using detail::Opcode;
using detail::ReadFrameHead;
using detail::WriteFrame;
using std::chrono::seconds;

TEST(WebSocketFramesTest, ReadsWhatItWrites) {
  for (const std::size_t size : {0U, 1U, 125U, 126U, 65535U, 65536U, 100'000U}) {
    for (const bool masked : {false, true}) {
      const std::string payload(size, 'p');
      const auto mask = masked ? std::optional<MaskKey>({1, 2, 3, 250}) : std::nullopt;
      std::string frame = WriteFrame(Opcode::kText, payload, mask);
      auto head = ReadFrameHead(frame);
      ASSERT_TRUE(head && *head);
      EXPECT_EQ((*head)->payload_size, size);
      EXPECT_EQ((*head)->mask, mask);
      const std::span<char> body = std::span(frame).subspan((*head)->head_size);
      if (mask) detail::ApplyMask(body, *mask);
      EXPECT_EQ(std::string(body.begin(), body.end()), payload);
      for (std::size_t cut = 0; cut < (*head)->head_size; ++cut) {
        auto part = ReadFrameHead(std::string_view(frame).substr(0, cut));
        EXPECT_TRUE(part && !*part) << cut;
      }
    }
  }
}

TEST(WebSocketFramesTest, RefusesWhatTheProtocolForbids) {
  const std::string bad[] = {std::string("\xf2\x00", 2), std::string("\x83\x00", 2), std::string("\x09\x00", 2),
                             std::string("\x89\x7e\x01\x00", 4),
                             std::string("\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 10)};
  for (const std::string& frame : bad) EXPECT_FALSE(ReadFrameHead(frame)) << frame;
}

// Notes what comes, as text: "text:hello", "binary:…", "close:1000:bye", "error:…".
class Notes final : public WebSocketSink {
 public:
  void OnMessage(bool binary, std::string_view message) override {
    Add((binary ? "binary:" : "text:") + std::string(message));
  }
  void OnClose(Result<std::uint16_t> code, std::string_view reason) override {
    Add(code ? "close:" + std::to_string(*code) + ":" + std::string(reason) : "error:" + code.error().text);
  }
  std::string Next() {
    Lock l(mu_);
    if (!changed_.wait_for(mu_, seconds(10), [&]() REQUIRES(mu_) { return !all_.empty(); })) return "nothing";
    std::string first = std::move(all_.front());
    all_.erase(all_.begin());
    return first;
  }

 private:
  void Add(std::string what) {
    Lock l(mu_);
    all_.push_back(std::move(what));
    changed_.notify_all();
  }
  Mutex mu_;
  std::condition_variable_any changed_;
  std::vector<std::string> all_ GUARDED_BY(mu_);
};

// Sends back what it gets.
class Echo final : public WebSocketSink {
 public:
  std::unique_ptr<WebSocket> socket;
  void OnMessage(bool binary, std::string_view message) override {
    if (message == "close me")
      socket->Close(4000, "as you wish");
    else
      socket->Send(binary, std::string(message));
  }
  void OnClose(Result<std::uint16_t>, std::string_view) override { socket.reset(); }
};

class WebSocketTest : public testing::Test {
 protected:
  void SetUp() override {
    server_ = std::make_unique<Server>(io_, [this](Request q, Responder r) {
      auto echo = std::make_shared<Echo>();
      auto socket = r.Upgrade(q, q.target == "/k8s" ? "v5.channel.k8s.io" : "", echo);
      if (!socket) return r.Send({.status = 400, .body = MakeBody(socket.error().text)});
      echo->socket = *std::move(socket);
      echoes_.push_back(echo);
    });
    port_ = PortOf(server_->Listen("127.0.0.1:0").value());
    io_.Start();
    client_ = Client::Make(io_, *ParseUrl("http://127.0.0.1:" + std::to_string(port_))).value();
  }
  // An Echo and its socket hold each other until the peer's close arrives, which the I/O thread may not live to see.
  void TearDown() override {
    io_.RunAndWait([this] {
      for (const std::weak_ptr<Echo>& each : echoes_)
        if (auto echo = each.lock()) echo->socket.reset();
    });
  }
  Result<std::unique_ptr<WebSocket>> Open(std::string target, std::vector<std::string> offer = {}) {
    return client_->OpenWebSocket({.target = std::move(target)}, std::move(offer), notes_, seconds(10), {});
  }
  RawSocket OpenRaw() {
    RawSocket s = RawSocket::Connect(port_);
    s.Send(
        "GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    // The example of RFC 6455 §1.3.
    EXPECT_NE(s.ReadUntil("\r\n\r\n").find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"),
              std::string::npos);
    return s;
  }

  std::vector<std::weak_ptr<Echo>> echoes_;  // on the I/O thread
  IoThread io_;
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Client> client_;
  std::shared_ptr<Notes> notes_ = std::make_shared<Notes>();
};

constexpr MaskKey kMask = {7, 8, 9, 10};

TEST_F(WebSocketTest, CarriesMessagesBothWaysAndCloses) {
  auto socket = Open("/k8s", {"v4.channel.k8s.io", "v5.channel.k8s.io"});
  ASSERT_TRUE(socket) << socket.error().text;
  EXPECT_EQ((*socket)->subprotocol(), "v5.channel.k8s.io");
  (*socket)->Send(false, "hällo");
  EXPECT_EQ(notes_->Next(), "text:hällo");
  const std::string much(3 << 20, 'x');
  (*socket)->Send(true, much);
  EXPECT_EQ(notes_->Next(), "binary:" + much);
  (*socket)->Close(1000, "bye");
  EXPECT_EQ(notes_->Next(), "close:1000:");
}

TEST_F(WebSocketTest, TellsThePeersCodeAndReason) {
  auto socket = Open("/");
  ASSERT_TRUE(socket);
  (*socket)->Send(false, "close me");
  EXPECT_EQ(notes_->Next(), "close:4000:as you wish");
}

TEST_F(WebSocketTest, ARefusedUpgradeCarriesTheServersAnswer) {
  auto socket = Open("/k8s", {"other"});
  ASSERT_FALSE(socket);
  EXPECT_EQ(
      socket.error().text,
      "server answered 400 Bad Request and no WebSocket: the client does not offer subprotocol \"v5.channel.k8s.io\"");
}

TEST_F(WebSocketTest, AnOrdinaryRequestIsNotUpgraded) {
  auto got = client_->Call({}, seconds(5), {});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->body, "not a WebSocket request");
}

TEST_F(WebSocketTest, AnswersPingsAndJoinsParts) {
  RawSocket s = OpenRaw();
  std::string parts = WriteFrame(Opcode::kText, "one ", kMask);
  parts[0] = 0x01;  // not final
  parts += WriteFrame(Opcode::kPing, "now", kMask);
  parts += WriteFrame(Opcode::kContinue, "two", kMask);
  for (const char c : parts) s.Send({&c, 1});
  EXPECT_EQ(s.ReadUntil("one two"), WriteFrame(Opcode::kPong, "now", {}) + WriteFrame(Opcode::kText, "one two", {}));
}

TEST_F(WebSocketTest, ProtocolErrorsEndTheConnection) {
  std::string unfinished = WriteFrame(Opcode::kText, "a", kMask);
  unfinished[0] = 0x01;
  std::string huge = WriteFrame(Opcode::kBinary, std::string(70'000, 'x'), kMask).substr(0, 14);
  huge[2] = 0x00;
  huge[3] = 0x01;  // 1 TiB
  const std::pair<std::string, unsigned> cases[] = {
      {WriteFrame(Opcode::kText, "not masked", {}), 1002},
      {WriteFrame(Opcode::kText, "\xff\xfe", kMask), 1002},
      {WriteFrame(Opcode::kContinue, "of nothing", kMask), 1002},
      {unfinished + WriteFrame(Opcode::kText, "b", kMask), 1002},
      {WriteFrame(Opcode::kClose, std::string("\x03\xed", 2), kMask), 1002},
      {WriteFrame(Opcode::kClose, "x", kMask), 1002},
      {huge, 1009},
  };
  for (const auto& [frame, code] : cases) {
    RawSocket s = OpenRaw();
    s.Send(frame);
    const std::string end = s.ReadAll();
    ASSERT_EQ(end.size(), 4U);
    EXPECT_EQ(static_cast<unsigned char>(end[2]) * 256U + static_cast<unsigned char>(end[3]), code);
  }
}

TEST_F(WebSocketTest, SaysThatThePeerVanished) {
  RawListener listener;
  std::jthread peer([&] {
    RawSocket s = listener.Accept();
    const std::string head = s.ReadUntil("\r\n\r\n");
    s.Send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
        "wrong\r\n\r\n");
  });
  auto client = Client::Make(io_, *ParseUrl("http://127.0.0.1:" + std::to_string(listener.port()))).value();
  auto wrong = client->OpenWebSocket({}, {}, notes_, seconds(5), {});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().text, "server switched to something that is not our WebSocket");
  auto socket = Open("/");
  ASSERT_TRUE(socket);
  io_.RunAndWait([&] { server_.reset(); });
  (*socket)->Send(false, "still served: an upgraded connection is no longer the server's");
  EXPECT_EQ(notes_->Next(), "text:still served: an upgraded connection is no longer the server's");
}

}  // namespace
}  // namespace gpuop::net
