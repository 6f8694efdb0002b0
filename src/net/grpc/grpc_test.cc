#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <latch>
#include <set>
#include <thread>

#include "base/rng.h"
#include "base/thread_executor.h"
#include "net/grpc/client.h"
#include "net/grpc/echo_test.pb.h"
#include "net/grpc/server.h"
#include "net/unix_socket.h"
#include "os/temp_folder.h"

namespace gpuop::net {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr const char* kEcho = "/gpuop.test.Echo/Echo";
constexpr const char* kCount = "/gpuop.test.Echo/Count";

std::string Request(const std::string& text, int times = 0) {
  test::EchoRequest request;
  request.set_text(text);
  request.set_times(times);
  return request.SerializeAsString();
}

Result<std::string> Echo(const std::string& bytes, const std::stop_token&) {
  test::EchoRequest request;
  if (!request.ParseFromString(bytes)) return Fail(Code::kInvalid, "not an EchoRequest");
  if (request.text() == "refuse") return Fail(Code::kConflict, "100% refused \u2603");
  test::EchoResponse response;
  response.set_text(request.text());
  return response.SerializeAsString();
}

void Count(const std::string& bytes, const std::shared_ptr<GrpcStream>& answers) {
  test::EchoRequest request;
  if (!request.ParseFromString(bytes)) return answers->Finish(Fail(Code::kInvalid, "not an EchoRequest"));
  for (int i = 1; i <= request.times(); ++i) {
    test::EchoResponse response;
    response.set_text(request.text());
    response.set_number(i);
    answers->Send(response.SerializeAsString());
  }
  if (request.text() == "refuse") return answers->Finish(Fail(Code::kGone, "no more"));
  if (request.text() != "drop") answers->Finish({});
}

struct GrpcTest : testing::Test {
  std::unique_ptr<GrpcServer> Serve(GrpcMethods more = {}) {
    more[kEcho] = GrpcUnary(Echo);
    more[kCount] = GrpcStreaming(Count);
    auto server = GrpcServer::Start({.path = path}, std::move(more), executor);
    EXPECT_TRUE(server) << server.error().text;
    return *std::move(server);
  }

  os::TempFolder folder = std::move(os::TempFolder::Make().value());
  std::string path = folder.path() + "/echo.sock";
  ThreadExecutor executor{4};
  GrpcClient client{path};
};

TEST_F(GrpcTest, AnswersACall) {
  auto server = Serve();
  auto bytes = client.Call(kEcho, Request("hello"), 10s);
  ASSERT_TRUE(bytes) << bytes.error().text;
  test::EchoResponse response;
  ASSERT_TRUE(response.ParseFromString(*bytes));
  EXPECT_EQ(response.text(), "hello");
  EXPECT_EQ(client.Call(kEcho, "", 10s).value(), "");
}

TEST_F(GrpcTest, AnErrorKeepsItsCodeAndText) {
  auto server = Serve();
  EXPECT_EQ(client.Call(kEcho, Request("refuse"), 10s).error(),
            (Error{Code::kConflict, "/gpuop.test.Echo/Echo: 100% refused \u2603"}));
  EXPECT_EQ(client.Call("/no.Such/Method", "", 10s).error(),
            (Error{Code::kUnsupported, "/no.Such/Method: unknown method /no.Such/Method"}));
  EXPECT_EQ(client.Call(kEcho, "\xff", 10s).error().code, Code::kInvalid);
}

TEST_F(GrpcTest, StreamsInOrderAndSaysHowItEnded) {
  auto server = Serve();
  int last = 0;
  const auto count = [&](const std::string& bytes) {
    test::EchoResponse response;
    EXPECT_TRUE(response.ParseFromString(bytes));
    EXPECT_EQ(response.number(), ++last);
    return true;
  };
  EXPECT_TRUE(client.Stream(kCount, Request("x", 200), count, 10s));
  EXPECT_EQ(last, 200);
  last = 0;
  EXPECT_EQ(client.Stream(kCount, Request("refuse", 2), count, 10s).error(),
            (Error{Code::kGone, "/gpuop.test.Echo/Count: no more"}));
  EXPECT_EQ(last, 2);
  last = 0;
  EXPECT_EQ(client.Stream(kCount, Request("drop", 1), count, 10s).error().text,
            "/gpuop.test.Echo/Count: the server let go of the stream");
  EXPECT_EQ(last, 1);
}

TEST_F(GrpcTest, AClientThatHasEnoughEndsTheStreamAndTheServerNotices) {
  std::latch noticed(1);
  std::optional<std::stop_callback<std::function<void()>>> callback;
  std::shared_ptr<GrpcStream> kept;
  auto server = Serve({{"/t/Watch", GrpcStreaming([&](auto&, std::shared_ptr<GrpcStream> answers) {
                          kept = answers;
                          callback.emplace(answers->over(), [&] { noticed.count_down(); });
                          answers->Send("first");
                        })}});
  EXPECT_TRUE(client.Stream("/t/Watch", "", [](const std::string& m) { return m != "first"; }, std::nullopt));
  noticed.wait();
  EXPECT_FALSE(kept->Send("too late"));
}

TEST_F(GrpcTest, AStreamIsFedFromAnywhereForAsLongAsItLives) {
  std::shared_ptr<GrpcStream> kept;
  std::latch opened(1);
  auto server = Serve({{"/t/Watch", GrpcStreaming([&](auto&, std::shared_ptr<GrpcStream> answers) {
                          kept = std::move(answers);
                          opened.count_down();
                        })}});
  std::jthread feeder([&] {
    opened.wait();
    for (int i = 0; i < 100; ++i) kept->Send(std::to_string(i));
    kept->Finish({});
    kept->Finish(Fail(Code::kInternal, "does not count"));
  });
  std::size_t seen = 0;
  EXPECT_TRUE(client.Stream("/t/Watch", "", [&](auto& m) { return m == std::to_string(seen++); }, 10s));
  EXPECT_EQ(seen, 100U);
}

TEST_F(GrpcTest, ACallThatTakesTooLongEndsOnBothSides) {
  std::latch noticed(1);
  auto server = Serve({{"/t/Slow", GrpcUnary([&](auto&, const std::stop_token& over) -> Result<std::string> {
                          std::latch ended(1);
                          std::stop_callback callback(over, [&] { ended.count_down(); });
                          ended.wait();
                          noticed.count_down();
                          return "nobody reads this";
                        })}});
  EXPECT_EQ(client.Call("/t/Slow", "", 50ms).error().code, Code::kTimeout);
  noticed.wait();
}

TEST_F(GrpcTest, ACallCanBeStopped) {
  std::stop_source stop;
  auto server = Serve({{"/t/Slow", GrpcUnary([&](auto&, const std::stop_token& over) -> Result<std::string> {
                          std::latch ended(1);
                          std::stop_callback callback(over, [&] { ended.count_down(); });
                          stop.request_stop();
                          ended.wait();
                          return "";
                        })}});
  EXPECT_EQ(client.Call("/t/Slow", "", 10s, stop.get_token()).error(),
            (Error{Code::kCancelled, "/t/Slow: " + path + ": stopped"}));
}

TEST_F(GrpcTest, HandlersRunSideBySide) {
  std::latch both(2);
  auto server = Serve({{"/t/Meet", GrpcUnary([&](auto&, auto) -> Result<std::string> {
                          both.arrive_and_wait();
                          return "met";
                        })}});
  std::jthread other([&] { EXPECT_TRUE(client.Call("/t/Meet", "", 10s)); });
  EXPECT_EQ(client.Call("/t/Meet", "", 10s).value(), "met");
}

TEST_F(GrpcTest, HandlersMayRunOnTheServersThread) {
  std::set<std::thread::id> threads;
  const auto note = [&] { threads.insert(std::this_thread::get_id()); };
  auto server = GrpcServer::Start({.path = path, .on_own_thread = true},
                                  {{"/t/One", GrpcUnary([&](const std::string& m, auto) -> Result<std::string> {
                                      note();
                                      return m;
                                    })},
                                   {"/t/Many", GrpcStreaming([&](auto&, const std::shared_ptr<GrpcStream>& answers) {
                                      note();
                                      for (int i = 0; i < 10; ++i) answers->Send(std::to_string(i));
                                      answers->Finish({});
                                    })}},
                                  executor);
  ASSERT_TRUE(server);
  std::jthread other([&] {
    for (int i = 0; i < 50; ++i) EXPECT_EQ(client.Call("/t/One", "x", 10s).value(), "x");
  });
  int seen = 0;
  EXPECT_TRUE(client.Stream("/t/Many", "", [&](auto& m) { return m == std::to_string(seen++); }, 10s));
  other.join();
  EXPECT_EQ(seen, 10);
  EXPECT_EQ(threads.size(), 1U);
}

TEST_F(GrpcTest, ManyCallsAtOnceAllGetTheirOwnAnswer) {
  auto server = Serve();
  std::vector<std::jthread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string text = std::to_string(t) + "/" + std::to_string(i);
        auto bytes = client.Call(kEcho, Request(text), 10s);
        test::EchoResponse response;
        if (bytes && response.ParseFromString(*bytes) && response.text() == text) ++right;
      }
    });
  threads.clear();
  EXPECT_EQ(right, 400);
}

TEST_F(GrpcTest, TheSocketHasItsModeAndGoesWithTheServer) {
  auto server = Serve();
  struct stat st{};
  ASSERT_EQ(::lstat(path.c_str(), &st), 0);
  EXPECT_TRUE(S_ISSOCK(st.st_mode));
  EXPECT_EQ(st.st_mode & 07777, 0600U);
  server.reset();
  EXPECT_NE(::lstat(path.c_str(), &st), 0);
  EXPECT_EQ(::rmdir(folder.path().c_str()), 0) << "something is left in the folder";
  ASSERT_EQ(::mkdir(folder.path().c_str(), 0700), 0);
}

TEST_F(GrpcTest, NamesTheSocketThatIsNotThere) {
  EXPECT_EQ(client.Call(kEcho, "", 10s).error(), (Error{Code::kUnavailable, "no such socket " + path}));
  std::ofstream(path) << "a file";
  EXPECT_EQ(client.Call(kEcho, "", 10s).error().text, path + " is no socket");
  EXPECT_EQ(GrpcServer::Start({.path = path}, {}, executor).error(),
            (Error{Code::kAlreadyExists, path + ": is there and no socket"}));
  EXPECT_EQ(GrpcServer::Start({.path = "/no/such/folder/x.sock"}, {}, executor).error().code, Code::kNotFound);
  EXPECT_EQ(GrpcServer::Start({.path = "/tmp/" + std::string(120, 'x')}, {}, executor).error().code, Code::kInvalid);
}

TEST_F(GrpcTest, ReplacesASocketThatADeadServerLeftAndSaysThatNobodyListens) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
  auto refused = client.Call(kEcho, Request("x"), 10s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_THAT(refused.error().text, HasSubstr("Connection refused"));
  auto server = Serve();
  EXPECT_TRUE(client.Call(kEcho, Request("x"), 10s));
}

TEST_F(GrpcTest, TheClientFindsAServerThatCameBack) {
  for (int round = 0; round < 5; ++round) {
    auto server = Serve();
    ASSERT_TRUE(client.Call(kEcho, Request("x"), 10s)) << round;
    server.reset();
    ASSERT_EQ(client.Call(kEcho, Request("x"), 10s).error().text, "no such socket " + path);
  }
}

TEST_F(GrpcTest, TheClientFindsAServerThatCameBackWhileItWasNotLooking) {
  for (int round = 0; round < 20; ++round) {
    auto server = Serve();
    ASSERT_TRUE(client.Call(kEcho, Request("x"), 10s)) << round;
    server.reset();
    // A process takes at least this long to start; file times tick as slowly.
    std::this_thread::sleep_for(10ms);
  }
}

TEST_F(GrpcTest, ANewServerTakesOverAndTheOldOneLeavesItsSocketAlone) {
  auto old_server = Serve();
  ASSERT_TRUE(client.Call(kEcho, Request("x"), 10s));
  auto new_server = Serve();
  old_server.reset();
  EXPECT_TRUE(client.Call(kEcho, Request("x"), 10s));
}

TEST_F(GrpcTest, StoppingEndsStreamsAndLetsCallsFinish) {
  std::latch begun(2);
  std::atomic<bool> stopping = false;
  std::shared_ptr<GrpcStream> kept;
  auto server = Serve({{"/t/Watch", GrpcStreaming([&](auto&, std::shared_ptr<GrpcStream> answers) {
                          kept = std::move(answers);
                          begun.count_down();
                        })},
                       {"/t/Slow", GrpcUnary([&](auto&, auto) -> Result<std::string> {
                          begun.count_down();
                          while (!stopping) std::this_thread::yield();
                          return "finished";
                        })}});
  std::jthread watch([&] {
    EXPECT_EQ(client.Stream(
                        "/t/Watch", "", [](auto&) { return true; }, 10s)
                  .error(),
              (Error{Code::kUnavailable, "/t/Watch: the server is stopping"}));
    stopping = true;
  });
  std::jthread slow([&] { EXPECT_EQ(client.Call("/t/Slow", "", 10s).value(), "finished"); });
  begun.wait();
  server->Stop(10s);
}

TEST_F(GrpcTest, AHandlerThatOutlivesItsServerIsHarmless) {
  std::latch begun(1), go(1), done(1);
  auto server = Serve({{"/t/Slow", GrpcUnary([&](auto&, auto) -> Result<std::string> {
                          begun.count_down();
                          go.wait();
                          done.count_down();
                          return "late";
                        })}});
  std::jthread caller([&] { EXPECT_FALSE(client.Call("/t/Slow", "", 10s)); });
  begun.wait();
  server.reset();
  go.count_down();
  done.wait();
}

TEST_F(GrpcTest, BoundsMessagesAndWaitingOnes) {
  auto server = GrpcServer::Start({.path = path, .max_message = 1000},
                                  {{"/t/Flood", GrpcStreaming([](auto&, const std::shared_ptr<GrpcStream>& answers) {
                                      while (answers->Send(std::string(900, 'x'))) {
                                      }
                                    })},
                                   {kEcho, GrpcUnary(Echo)}},
                                  executor);
  ASSERT_TRUE(server);
  EXPECT_TRUE(client.Call(kEcho, Request(std::string(900, 'x')), 10s));
  EXPECT_EQ(client.Call(kEcho, Request(std::string(1100, 'x')), 10s).error().code, Code::kTooManyRequests);
  auto flooded = client.Stream("/t/Flood", "", [](auto&) { return true; }, 10s);
  EXPECT_EQ(flooded.error(), (Error{Code::kTooManyRequests, "/t/Flood: the client does not read its stream"}));
}

/// A client's socket that is connected with `path`, waiting for its turn.
os::Fd Connected(const std::string& path) {
  auto socket = ConnectUnix(path, 10s);
  EXPECT_TRUE(socket) << socket.error().text;
  return *std::move(socket);
}

TEST_F(GrpcTest, ACallerWaitsItsTurnWhereTheConnectionsAreManyAndStopsWhenToldTo) {
  auto server = Serve();
  std::vector<os::Fd> others;
  for (int i = 0; i < 128; ++i) others.push_back(Connected(path));
  // The server has all it takes: whoever comes now is in its queue, and after 128 of those nobody is.
  EXPECT_EQ(client.Call(kEcho, Request("early"), 50ms).error().code, Code::kTimeout);
  std::jthread caller([&] { EXPECT_TRUE(client.Call(kEcho, Request("in turn"), 10s)); });
  others.pop_back();
  caller.join();
  while (true) {
    auto more = ConnectUnix(path, 10ms);
    if (!more) {
      EXPECT_EQ(more.error().code, Code::kTimeout) << more.error().text;
      break;
    }
    others.push_back(*std::move(more));
    ASSERT_LT(others.size(), 400u);
  }
  GrpcClient second(path);
  EXPECT_EQ(second.Call(kEcho, Request("late"), 120ms).error(),
            (Error{Code::kTimeout, path + ": its server does not take new connections"}));
  std::stop_source stop;
  std::jthread stopped(
      [&] { EXPECT_EQ(second.Call(kEcho, Request(""), 10s, stop.get_token()).error().code, Code::kCancelled); });
  stop.request_stop();
  stopped.join();
  others.clear();
  EXPECT_TRUE(second.Call(kEcho, Request("after all"), 10s));
}

TEST_F(GrpcTest, BytesThatAreNoHttp2DoNoHarm) {
  auto server = Serve();
  Rng rng(7);
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  for (int i = 0; i < 300; ++i) {
    const os::Fd socket = Connected(path);
    std::string bytes = i % 3 == 0 ? "GET / HTTP/1.1\r\n\r\n" : preface;
    if (i % 3 == 1) bytes.append(std::string("\0\0\0\4\0\0\0\0\0", 9));  // a good SETTINGS frame first
    for (std::uint64_t n = rng.Below(400); n > 0; --n) bytes += static_cast<char>(rng.Next());
    EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  const auto answer = client.Call(kEcho, Request("still here"), 10s);
  EXPECT_TRUE(answer) << answer.error().text;
}

}  // namespace
}  // namespace gpuop::net
