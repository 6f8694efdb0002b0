#include "operands/toolkit/program/engine.h"

#include "base/thread_executor.h"
#include "kube/kubelet/cri.pb.h"
#include "net/grpc/server.h"
#include "operands/toolkit/program/docker.h"
#include "os/testing/memory_folder.h"

namespace gpuop::operands::toolkit {
namespace {

namespace cri = kube::cri;

/// An engine that has sandboxes, of which some carry labels, and lets them be taken away.
class FakeEngine {
 public:
  explicit FakeEngine(const std::string& socket) {
    const std::string service = "/runtime.v1.RuntimeService/";
    net::GrpcMethods methods;
    methods[service + "ListPodSandbox"] =
        net::GrpcUnary([this](const std::string& text, std::stop_token) -> Result<std::string> {
          cri::ListPodSandboxRequest request;
          if (!request.ParseFromString(text)) return Fail(Code::kInvalid, "no ListPodSandboxRequest");
          return List(request).SerializeAsString();
        });
    methods[service + "StopPodSandbox"] =
        net::GrpcUnary([](const std::string&, std::stop_token) -> Result<std::string> { return std::string(); });
    methods[service + "RemovePodSandbox"] =
        net::GrpcUnary([this](const std::string& text, std::stop_token) -> Result<std::string> {
          cri::RemovePodSandboxRequest request;
          if (!request.ParseFromString(text)) return Fail(Code::kInvalid, "no RemovePodSandboxRequest");
          Lock l(mu_);
          if (failures_ > 0 && failures_-- > 0) return Fail(Code::kUnavailable, "server is not initialized yet");
          sandboxes_.erase(request.pod_sandbox_id());
          return std::string();
        });
    server_ = net::GrpcServer::Start({.path = socket}, std::move(methods), executor_).value();
  }

  /// As the engine would keep what was asked of it.
  void Run(const std::string& id, const std::string& request) {
    cri::RunPodSandboxRequest made;
    ASSERT_TRUE(made.ParseFromString(request));
    Lock l(mu_);
    for (const auto& [key, value] : made.config().labels()) sandboxes_[id][key] = value;
    sandboxes_.try_emplace(id);
  }
  void FailNext(int times) {
    Lock l(mu_);
    failures_ = times;
  }
  std::vector<std::string> sandboxes() {
    Lock l(mu_);
    std::vector<std::string> out;
    for (const auto& [id, labels] : sandboxes_) out.push_back(id);
    return out;
  }

 private:
  cri::ListPodSandboxResponse List(const cri::ListPodSandboxRequest& request) {
    Lock l(mu_);
    cri::ListPodSandboxResponse out;
    for (const auto& [id, labels] : sandboxes_)
      if (std::ranges::all_of(request.filter().label_selector(), [&labels](const auto& wanted) {
            const auto it = labels.find(wanted.first);
            return it != labels.end() && it->second == wanted.second;
          }))
        out.add_items()->set_id(id);
    return out;
  }

  Mutex mu_;
  std::map<std::string, std::map<std::string, std::string>> sandboxes_ GUARDED_BY(mu_);
  int failures_ GUARDED_BY(mu_) = 0;
  ThreadExecutor executor_{1};
  std::unique_ptr<net::GrpcServer> server_;
};

struct SocketEngineTest : testing::Test {
  SocketEngineTest() {
    options.engine = container::EngineKind::kContainerd;
    options.restart_mode = "signal";
    options.socket = folder.path() + "/c.sock";
  }

  const os::TempFolder folder = os::MemoryFolder();
  Options options;
  os::RealProcesses processes;
  os::FakeWatcher watcher;
  FakeLog log;
};

TEST_F(SocketEngineTest, TakesAwayTheSandboxesThatAKilledToolkitLeftAndNoOthers) {
  FakeEngine engine(options.socket);
  engine.Run("tried", SandboxRequest("nvidia", false));
  engine.Run("tried-by-default", SandboxRequest("", true));
  engine.Run("a-users", cri::RunPodSandboxRequest().SerializeAsString());
  SocketEngine(options, processes, watcher, log, {}).RemoveLeftSandboxes();
  EXPECT_EQ(engine.sandboxes(), std::vector<std::string>{"a-users"});
}

TEST_F(SocketEngineTest, AsksAgainAnEngineThatCannotTakeThemAwayYet) {
  FakeEngine engine(options.socket);
  engine.Run("tried", SandboxRequest("nvidia", false));
  engine.FailNext(2);
  SocketEngine(options, processes, watcher, log, {}).RemoveLeftSandboxes();
  EXPECT_TRUE(engine.sandboxes().empty());
}

TEST_F(SocketEngineTest, AsksNoEngineForSandboxesThatItWouldNotTry) {
  FakeEngine engine(options.socket);
  engine.Run("tried", SandboxRequest("", false));
  options.restart_mode = "none";
  SocketEngine(options, processes, watcher, log, {}).RemoveLeftSandboxes();
  EXPECT_EQ(engine.sandboxes(), std::vector<std::string>{"tried"});
}

TEST(DockerInfoTest, IsBelievedOnlyWhenItRunsWithWhatTheFileSays) {
  const std::string known = R"("runc":{"path":"runc"},"nvidia":{"path":"/n/nvidia-container-runtime"})";
  const struct {
    std::string name, info, error;
    bool cdi = false;
  } cases[] = {{"as it should be",
                R"({"Runtimes":{)" + known + R"(},"DefaultRuntime":"nvidia","CDISpecDirs":["/etc/cdi"]})", "", true},
               {"no CDI", R"({"Runtimes":{)" + known + R"(},"DefaultRuntime":"nvidia","CDISpecDirs":[]})", ""},
               {"a runtime of another kind", R"({"Runtimes":{"nvidia":{"runtimeType":"io.containerd.runc.v2"}}})", ""},
               {"unknown", R"({"Runtimes":{"runc":{}},"DefaultRuntime":"runc"})",
                "the engine does not know the handler nvidia; it has runc"},
               {"other program", R"({"Runtimes":{"nvidia":{"path":"/old"}}})",
                "the engine's handler nvidia still runs /old instead of /n/nvidia-container-runtime"},
               {"other default", R"({"Runtimes":{)" + known + R"(},"DefaultRuntime":"runc"})",
                "the engine's default handler is still runc instead of nvidia"}};
  container::EngineConfig expected;
  expected.runtimes = {{"nvidia", "/n/nvidia-container-runtime", {}}};
  expected.default_runtime = "nvidia";
  for (const auto& c : cases) {
    const EngineStatus status = ReadDockerInfo(c.info).value();
    const auto checked = CheckEngineStatus(status, expected);
    EXPECT_EQ(checked ? "" : checked.error().text, c.error) << c.name;
    EXPECT_EQ(status.cdi, c.cdi) << c.name;
  }
  EXPECT_FALSE(ReadDockerInfo("{}"));
  EXPECT_FALSE(ReadDockerInfo("<html>"));
}

}  // namespace
}  // namespace gpuop::operands::toolkit
