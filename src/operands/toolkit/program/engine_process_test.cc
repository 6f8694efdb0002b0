#include "operands/toolkit/program/engine_process.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "operands/toolkit/program/engine.h"
#include "os/fake_fs.h"
#include "os/real_fs.h"
#include "os/testing/memory_folder.h"

namespace gpuop::operands::toolkit {
namespace {

using container::EngineKind;

/// A socket on which somebody listens.
os::Fd ListenAt(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  os::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::listen(fd.get(), 8);
  return fd;
}

/// A process that answers whoever comes with `answer`, and does with SIGHUP what it is told. It is ready once made.
class EngineChild {
 public:
  EngineChild(const os::Fd& listener, const char* answer, sighandler_t on_hangup = SIG_DFL) {
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe(ready.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) Live(listener.get(), answer, on_hangup, ready[1]);
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
  }
  ~EngineChild() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  EngineChild(const EngineChild&) = delete;
  EngineChild& operator=(const EngineChild&) = delete;

  int pid() const { return pid_; }

 private:
  /// Only what is allowed after fork(2) beside other threads.
  [[noreturn]] static void Live(int listener, const char* answer, sighandler_t on_hangup, int ready) {
    ::signal(SIGHUP, on_hangup);
    ::listen(listener, 8);  // so it listens, too; by the kernel's word it is who listened last
    (void)!::write(ready, "r", 1);
    for (;;) {
      const int client = ::accept(listener, nullptr, nullptr);
      if (client < 0) continue;
      char question = 0;
      if (*answer != 0 && ::read(client, &question, 1) == 1) (void)!::write(client, answer, std::strlen(answer));
      ::close(client);
    }
  }

  pid_t pid_ = -1;
};

void Catch(int) {}

constexpr const char* kPong = "HTTP/1.1 200 OK\r\n\r\n";

struct EngineProcessTest : testing::Test {
  const os::TempFolder folder = os::MemoryFolder();
  const std::string socket = folder.path() + "/e.sock";
  const os::Fd listener = ListenAt(socket);
  const std::unique_ptr<os::RealFs> host = std::move(os::RealFs::Open("/").value());
};

TEST_F(EngineProcessTest, DockerIsWhoAnswersAndNotWhoMadeItsSocket) {
  const EngineChild dockerd(listener, kPong);
  ASSERT_EQ(::listen(listener.get(), 8), 0);  // as systemd does for docker.socket: again the one who listened last
  EXPECT_EQ(ProcessBehind(socket, EngineKind::kContainerd).value(), ::getpid());
  EXPECT_EQ(ProcessBehind(socket, EngineKind::kDocker).value(), dockerd.pid());
}

TEST_F(EngineProcessTest, WhoDoesNotAnswerIsNobody) {
  const EngineChild mute(listener, "");
  EXPECT_EQ(ProcessBehind(socket, EngineKind::kDocker).error().code, Code::kUnavailable);
  EXPECT_EQ(ProcessBehind(folder.path() + "/gone.sock", EngineKind::kDocker).error().code, Code::kUnavailable);
}

TEST(TakesHangupTest, AnIgnoredSignalIsLostUnlessItIsBlocked) {
  struct Case {
    const char* status;
    bool takes;
  };
  for (const Case& c : {Case{"Name:\tcontainerd\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000001\n", false},
                        Case{"SigIgn:\t0000000000001001\n", false}, Case{"SigIgn:\t0000000000001000\n", true},
                        Case{"SigBlk:\t0000000000004003\nSigIgn:\t0000000000000001\n", true}, Case{"SigIgn:\n", true},
                        Case{"", true}}) {
    os::FakeFs host;
    host.Put("/proc/812/status", c.status);
    host.Put("/proc/812/comm", "containerd\n");
    const auto takes = TakesHangup(host, 812);
    EXPECT_EQ(takes.has_value(), c.takes) << c.status;
    if (takes) continue;
    EXPECT_EQ(takes.error().code, Code::kUnsupported);
    for (const char* word : {"process 812 (containerd)", "/proc/812/status", "RUNTIME_RESTART_MODE to systemd"})
      EXPECT_TRUE(takes.error().text.contains(word)) << takes.error().text;
  }
  EXPECT_TRUE(TakesHangup(os::FakeFs(), 1)) << "what cannot be seen is tried";
}

TEST_F(EngineProcessTest, ASignalThatChangesNothingIsAnError) {
  constexpr auto kSoon = std::chrono::milliseconds(20);
  const EngineChild ignores(listener, kPong, SIG_IGN), catches(listener, kPong, &Catch);
  EXPECT_EQ(SendHangup(*host, LookAtProcess(ignores.pid()), false, kSoon).error().code, Code::kUnsupported);
  EXPECT_TRUE(SendHangup(*host, LookAtProcess(catches.pid()), false, kSoon)) << "dockerd reads its file and runs on";
  const auto runs_on = SendHangup(*host, LookAtProcess(catches.pid()), true, kSoon);
  ASSERT_FALSE(runs_on);
  EXPECT_EQ(runs_on.error().code, Code::kUnavailable);
  EXPECT_TRUE(runs_on.error().text.contains("got SIGHUP and runs on as before")) << runs_on.error().text;
  const EngineChild ends(listener, kPong);
  EXPECT_TRUE(SendHangup(*host, LookAtProcess(ends.pid()), true, SocketEngine::kLimit));
}

TEST_F(EngineProcessTest, ARestartOfAnotherUnitIsAnError) {
  EngineProcess before;
  {
    const EngineChild engine(listener, kPong);
    before = LookAtProcess(engine.pid());
    const auto same = AwaitRestart(*host, before, "containerd", std::chrono::milliseconds(20));
    ASSERT_FALSE(same);
    EXPECT_TRUE(same.error().text.starts_with("systemctl restart containerd went well, but process "))
        << same.error().text;
  }
  EXPECT_TRUE(AwaitRestart(*host, before, "containerd", SocketEngine::kLimit));
}

TEST_F(EngineProcessTest, AnEngineThatIgnoresTheSignalIsKnownBeforeAChangeAndNeedsNothingAfterTheUndo) {
  const EngineChild engine(listener, kPong, SIG_IGN);
  Options options;
  options.engine = EngineKind::kContainerd;
  options.restart_mode = "signal";
  options.socket = socket;
  os::FakeProcesses processes;
  os::FakeWatcher watcher;
  FakeLog log;
  SocketEngine control(options, processes, watcher, log, {});
  EXPECT_EQ(control.CanBeTold().error().code, Code::kUnsupported);
  EXPECT_EQ(control.Reload().error().code, Code::kUnsupported);
  EXPECT_TRUE(control.Reload()) << "the engine runs with what its files said before, and they say it again";
  options.restart_mode = "systemd";
  EXPECT_TRUE(control.CanBeTold());
  options.restart_mode = "signal";
  SocketEngine another(options, processes, watcher, log, {});
  another.LeaveAlone();
  EXPECT_TRUE(another.Reload());
}

}  // namespace
}  // namespace gpuop::operands::toolkit
