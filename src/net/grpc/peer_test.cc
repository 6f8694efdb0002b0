// Our client and server against another implementation's: grpcio for Python, where the machine has it
// (GPUOP_PYTHON names the interpreter; python3 otherwise).
#include <cstdlib>
#include <thread>

#include "base/testing/source_dir.h"
#include "base/thread_executor.h"
#include "net/grpc/client.h"
#include "net/grpc/echo_test.pb.h"
#include "net/grpc/server.h"
#include "os/process.h"
#include "os/temp_folder.h"

namespace gpuop::net {
namespace {

using namespace std::chrono_literals;

std::string Request(const std::string& text, int times = 0) {
  test::EchoRequest request;
  request.set_text(text);
  request.set_times(times);
  return request.SerializeAsString();
}

struct GrpcPeerTest : testing::Test {
  void SetUp() override {
    auto found = processes.Run({.argv = {python, "-c", "import grpc"}}, {});
    if (!found || !found->ok()) GTEST_SKIP() << "no grpcio for " << python;
  }

  std::vector<std::string> Peer(std::vector<std::string> args) const {
    args.insert(args.begin(), {python, std::string(SourceDir()) + "/src/net/grpc/testing/peer.py"});
    return args;
  }
  /// What the peer's client prints for a call to our server.
  std::string PeerCalls(const std::string& method, const std::string& text, int times = 0) {
    auto exit = processes.Run({.argv = Peer({"call", path, method, text, std::to_string(times)})}, {});
    return !exit ? exit.error().text : exit->ok() ? exit->out : exit->Describe();
  }

  const char* env = std::getenv("GPUOP_PYTHON");
  const std::string python = env != nullptr ? env : "python3";
  os::RealProcesses processes;
  os::TempFolder folder = std::move(os::TempFolder::Make().value());
  const std::string path = folder.path() + "/peer.sock";
};

TEST_F(GrpcPeerTest, ItsClientUnderstandsOurServer) {
  ThreadExecutor executor(2);
  GrpcMethods methods;
  methods["/gpuop.test.Echo/Echo"] = GrpcUnary([](const std::string& bytes, auto) -> Result<std::string> {
    if (bytes == Request("refuse")) return Fail(Code::kForbidden, "50% no \u2603");
    return bytes;
  });
  methods["/gpuop.test.Echo/Count"] = GrpcStreaming([](const std::string& bytes, const auto& answers) {
    test::EchoRequest request;
    ASSERT_TRUE(request.ParseFromString(bytes));
    for (int i = 1; i <= request.times(); ++i) answers->Send(Request(request.text(), i));
    answers->Finish(request.text() == "refuse" ? Fail(Code::kGone, "no more") : Result<>());
  });
  auto server = GrpcServer::Start({.path = path}, std::move(methods), executor);
  ASSERT_TRUE(server) << server.error().text;
  EXPECT_EQ(PeerCalls("/gpuop.test.Echo/Echo", "hello"), "hello 0\n");
  EXPECT_EQ(PeerCalls("/gpuop.test.Echo/Echo", "refuse"), "PERMISSION_DENIED 50% no \u2603\n");
  EXPECT_EQ(PeerCalls("/gpuop.test.Echo/Other", "x"), "UNIMPLEMENTED unknown method /gpuop.test.Echo/Other\n");
  EXPECT_EQ(PeerCalls("/gpuop.test.Echo/Count", "x", 3), "x 1\nx 2\nx 3\n");
  EXPECT_EQ(PeerCalls("/gpuop.test.Echo/Count", "refuse", 1), "refuse 1\nOUT_OF_RANGE no more\n");
}

TEST_F(GrpcPeerTest, OurClientUnderstandsItsServer) {
  const std::jthread serving([&](const std::stop_token& stop) {
    (void)processes.Run({.argv = Peer({"serve", path}), .limit = 60s}, stop).has_value();
  });
  GrpcClient client(path);
  Result<std::string> hello = Fail(Code::kUnavailable, "not tried");
  for (int tries = 0; !hello && tries < 500; ++tries) {
    hello = client.Call("/gpuop.test.Echo/Echo", Request("hello"), 5s);
    if (!hello) std::this_thread::sleep_for(20ms);
  }
  ASSERT_TRUE(hello) << hello.error().text;
  EXPECT_EQ(*hello, Request("hello"));
  EXPECT_EQ(client.Call("/gpuop.test.Echo/Echo", Request("refuse"), 5s).error(),
            (Error{Code::kNotFound, "/gpuop.test.Echo/Echo: no such text: 100% sure \u2603"}));
  EXPECT_EQ(client.Call("/gpuop.test.Echo/Other", "", 5s).error().code, Code::kUnsupported);
  EXPECT_EQ(client.Call("/gpuop.test.Echo/Echo", Request("sleep"), 100ms).error().code, Code::kTimeout);
  int seen = 0;
  EXPECT_TRUE(client.Stream(
      "/gpuop.test.Echo/Count", Request("x", 50), [&](auto& m) { return m == Request("x", ++seen); }, 5s));
  EXPECT_EQ(seen, 50);
  EXPECT_TRUE(client.Stream("/gpuop.test.Echo/Count", Request("hang", 1), [](auto&) { return false; }, 5s));
  EXPECT_EQ(client.Stream(
                      "/gpuop.test.Echo/Count", Request("hang", 1), [](auto&) { return true; }, 100ms)
                .error()
                .code,
            Code::kTimeout);
}

}  // namespace
}  // namespace gpuop::net
