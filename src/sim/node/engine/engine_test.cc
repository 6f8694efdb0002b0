#include "sim/node/engine/engine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>

#include "base/thread_executor.h"
#include "os/temp_folder.h"
#include "sim/node/engine/container_root.h"
#include "sim/node/engine/log_file.h"
#include "sim/node/engine/machine_process.h"
#include "sim/node/pod/capabilities.h"

namespace gpuop::sim::node {
namespace {

using testing::HasSubstr;

constexpr std::chrono::seconds kSoon{20};

/// A machine and what it told.
struct EngineTest : testing::Test {
  EngineTest() {
    std::filesystem::create_directories(root);
    executor.Post([this] {
      auto started = Engine::Start(
          executor,
          {.program = {"/proc/self/exe", kMachineApplet}, .folder = root, .name = "box", .address = "10.0.0.1"},
          {.ready = [this](Result<os::Fd> r) { up.set_value(r ? Result<>() : std::unexpected(r.error())); },
           .exited = [this](const std::string& id, int status, const std::string&) { exits[id].set_value(status); },
           .gone = [this] { gone.set_value(); }});
      EXPECT_TRUE(started) << started.error().text;
      engine = *std::move(started);
    });
    auto ready = up.get_future();
    EXPECT_EQ(ready.wait_for(kSoon), std::future_status::ready);
    const auto how = ready.get();
    EXPECT_TRUE(how) << how.error().text;
  }
  ~EngineTest() override {
    std::promise<void> done;
    executor.Post([&] {
      engine.reset();
      done.set_value();
    });
    done.get_future().wait();
  }

  Result<EngineAnswer> Ask(EngineRequest request, const std::vector<int>& fds = {}) {
    std::promise<Result<EngineAnswer>> answer;
    executor.Post([&] { engine->Ask(request, [&](Result<EngineAnswer> a) { answer.set_value(std::move(a)); }, fds); });
    auto future = answer.get_future();
    if (future.wait_for(kSoon) != std::future_status::ready) std::abort();
    return future.get();
  }
  Result<EngineAnswer> MakeSandbox(SandboxSpec spec) {
    EngineRequest r;
    r.verb = "sandbox";
    r.sandbox = std::move(spec);
    return Ask(std::move(r));
  }
  /// A container that runs a shell script.
  ContainerSpec Script(const std::string& id, const std::string& script) {
    ContainerSpec spec;
    spec.id = id, spec.sandbox = "pod";
    spec.process.argv = {"/bin/sh", "-c", script};
    spec.process.env = {"PATH=/usr/bin:/bin", "HELLO=world"};
    spec.process.user.capabilities = AllCapabilities();
    spec.mounts = {{"/proc", "proc", "proc", {"nosuid"}}};
    spec.log = "/var/log/pods/" + id + "/0.log";
    return spec;
  }
  Result<EngineAnswer> Start(ContainerSpec spec) {
    EngineRequest r;
    r.verb = "start";
    r.container = std::move(spec);
    executor.Post([this, id = r.container->id] { exits[id]; });
    return Ask(std::move(r));
  }
  int ExitOf(const std::string& id) {
    std::promise<std::future<int>> take;
    executor.Post([&] { take.set_value(exits[id].get_future()); });
    auto exit = take.get_future().get();
    if (exit.wait_for(kSoon) != std::future_status::ready) return -1;
    return exit.get();
  }
  std::string LogOf(const std::string& id) {
    std::ifstream file(root + "/var/log/pods/" + id + "/0.log");
    std::string out;
    for (std::string line; std::getline(file, line);)
      if (LogRecord r; ParseLogRecord(line, r)) out.append(r.text).append(r.partial ? "" : "\n");
    return out;
  }

  os::TempFolder folder = std::move(os::TempFolder::Make().value());
  std::string root = folder.path() + "/root";
  std::promise<Result<>> up;
  std::promise<void> gone;
  std::map<std::string, std::promise<int>> exits;  // on the executor
  std::unique_ptr<Engine> engine;
  ThreadExecutor executor{1};
};

TEST_F(EngineTest, RunsAProgramInNamespacesOfItsOwn) {
  ASSERT_TRUE(MakeSandbox({.id = "pod", .hostname = "web-0", .address = "10.64.0.9"}));
  auto started = Start(
      Script("c", "hostname; echo $$ $HELLO; ls /proc | grep -c '^[0-9]'; cat /proc/net/dev | grep -c :; exit 3"));
  ASSERT_TRUE(started) << started.error().text;
  EXPECT_EQ(WEXITSTATUS(ExitOf("c")), 3);
  // Process 1, and with it only the programs of its own pipes; a loopback interface alone.
  EXPECT_THAT(LogOf("c"), testing::MatchesRegex("web-0\n1 world\n[123]\n1\n"));
}

TEST_F(EngineTest, AProgramThatIsNotThereIsToldInTheRuntimesWords) {
  ASSERT_TRUE(MakeSandbox({.id = "pod", .hostname = "h", .address = "10.64.0.9"}));
  ContainerSpec spec = Script("c", "");
  spec.process.argv = {"no-such-program"};
  auto started = Start(spec);
  ASSERT_FALSE(started);
  EXPECT_EQ(
      started.error().text,
      "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
      "unable to start container process: error during container init: exec: \"no-such-program\": executable file "
      "not found in $PATH: unknown");
}

TEST_F(EngineTest, AnotherArchitecturesProgramEndsAsTheKernelHasIt) {
  ASSERT_TRUE(MakeSandbox({.id = "pod", .hostname = "h", .address = "10.64.0.9"}));
  ContainerSpec spec = Script("c", "echo never");
  spec.wrong_architecture = true;
  ASSERT_TRUE(Start(spec));
  EXPECT_EQ(WEXITSTATUS(ExitOf("c")), 255);
  EXPECT_EQ(LogOf("c"), "exec /bin/sh: exec format error\n");
}

TEST_F(EngineTest, MountsShowTheMachinesFilesAndNothingIsLeftOfThem) {
  ASSERT_TRUE(MakeSandbox({.id = "pod", .hostname = "h", .address = "10.64.0.9"}));
  std::filesystem::create_directories(root + "/data");
  std::ofstream(root + "/data/file") << "hello\n";
  std::ofstream(root + "/dev/nvidia0") << "state";
  ContainerSpec spec = Script("c",
                              "cat /mnt/in/file; { echo x > /mnt/in/file; } 2>/dev/null || echo read-only; cat "
                              "/dev/nvidia0; ls /dev | grep -c nvidia");
  spec.mounts.push_back({"/mnt/in", "bind", "/data", {"rbind", "ro"}});
  spec.devices = {{"/dev/nvidia0", "/dev/nvidia0"}};
  auto started = Start(spec);
  ASSERT_TRUE(started) << started.error().text;
  EXPECT_EQ(WEXITSTATUS(ExitOf("c")), 0);
  EXPECT_EQ(LogOf("c"), "hello\nread-only\nstate1\n");
  std::ifstream mounts("/proc/self/mountinfo");
  std::stringstream text;
  text << mounts.rdbuf();
  EXPECT_THAT(text.str(), Not(HasSubstr(folder.path())));
}

TEST_F(EngineTest, APropagatedMountIsSeenByTheMachineAndByLaterContainers) {
  ASSERT_TRUE(MakeSandbox({.id = "pod", .hostname = "h", .address = "10.64.0.9"}));
  std::filesystem::create_directories(root + "/run/driver");
  ContainerSpec maker =
      Script("maker", "mkdir -p /out/d && mount -t tmpfs t /out/d && echo yes > /out/d/f && sleep 60");
  maker.mounts.push_back({"/out", "bind", "/run/driver", {"rbind", "rshared"}});
  auto made = Start(maker);
  ASSERT_TRUE(made) << made.error().text;
  // One that begins just as the mount is made may miss it, as under runc; a later one sees it.
  std::string name;
  bool seen = false;
  for (int i = 0; i < 500 && !seen; ++i) {
    name = "reader" + std::to_string(i);
    ContainerSpec reader = Script(name, "cat /in/d/f");
    reader.mounts.push_back({"/in", "bind", "/run/driver", {"rbind", "rslave"}});
    ASSERT_TRUE(Start(reader));
    seen = WEXITSTATUS(ExitOf(name)) == 0;
  }
  EXPECT_TRUE(seen);
  EXPECT_EQ(LogOf(name), "yes\n");
}

TEST_F(EngineTest, ANeighbourSharesTheContainersWorld) {
  ASSERT_TRUE(MakeSandbox({.id = "pod", .hostname = "h", .address = "10.64.0.9"}));
  ASSERT_TRUE(Start(Script("c", "echo here > /tmp/mark; sleep 60")));
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  os::Fd read(ends[0]), write(ends[1]);
  EngineRequest r;
  r.verb = "exec", r.target = "c", r.name = "c/exec-1";
  r.process.emplace();
  r.process->argv = {"sh", "-c",
                     "while ! cat /tmp/mark 2>/dev/null; do sleep 0.01; done; readlink /proc/self/ns/pid; exit 7"};
  r.process->env = {"PATH=/usr/bin:/bin"};
  auto started = Ask(r, {read.get(), write.get(), write.get()});
  ASSERT_TRUE(started) << started.error().text;
  write.Close();
  EXPECT_EQ(WEXITSTATUS(ExitOf("c/exec-1")), 7);
  char buffer[256];
  const ssize_t n = ::read(read.get(), buffer, sizeof buffer);
  EXPECT_THAT(std::string(buffer, static_cast<std::size_t>(std::max<ssize_t>(n, 0))), HasSubstr("here\n"));
}

TEST_F(EngineTest, TermDoesNotEndAFirstProcessThatDoesNotHearItAndKillDoes) {
  ASSERT_TRUE(MakeSandbox({.id = "pod", .hostname = "h", .address = "10.64.0.9"}));
  ASSERT_TRUE(Start(Script("c", "sleep 60; true")));
  EngineRequest r;
  r.verb = "signal", r.target = "c", r.signal = SIGTERM;
  ASSERT_TRUE(Ask(r));
  r.signal = SIGKILL;
  ASSERT_TRUE(Ask(r));
  const int status = ExitOf("c");
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(LogFileTest, LinesAreStampedAndLongOnesCut) {
  const os::TempFolder folder = std::move(os::TempFolder::Make().value());
  const std::string path = folder.path() + "/a/b/0.log";
  {
    LogFile log(path);
    log.Take("stdout", "one\ntw", FakeClock::kStart);
    log.Take("stderr", "err\n", FakeClock::kStart);
    log.Take("stdout", "o\n" + std::string(LogFile::kLongestPart + 1, 'x'), FakeClock::kStart);
    log.Finish(FakeClock::kStart);
  }
  std::ifstream file(path);
  std::vector<std::string> seen;
  for (std::string line; std::getline(file, line);) {
    LogRecord r;
    ASSERT_TRUE(ParseLogRecord(line, r)) << line;
    EXPECT_EQ(r.time.size(), std::string("2026-01-01T00:00:00.000000000Z").size());
    seen.push_back(std::string(r.stream) + (r.partial ? " P " : " F ") + std::to_string(r.text.size()));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"stdout F 3", "stderr F 3", "stdout F 3", "stdout P 16384", "stdout P 1"}));
}

TEST(MountOptionsTest, AreReadAsMountDoes) {
  const MountOptions o = ReadMountOptions({"rbind", "ro", "nosuid", "rslave", "size=64k", "mode=755", "rw"});
  EXPECT_EQ(o.flags, static_cast<unsigned long>(MS_RDONLY | MS_NOSUID));
  EXPECT_EQ(o.propagation, static_cast<unsigned long>(MS_SLAVE));
  EXPECT_TRUE(o.recursive);
  EXPECT_EQ(o.data, "size=64k,mode=755");
}

}  // namespace
}  // namespace gpuop::sim::node
