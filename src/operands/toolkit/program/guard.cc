#include "operands/toolkit/program/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "operands/toolkit/program/keeper.h"
#include "operands/toolkit/program/locate.h"
#include "os/argv.h"
#include "os/pidfd.h"
#include "os/real_fs.h"
#include "os/system_error.h"

extern char** environ;

namespace gpuop::operands::toolkit {
namespace {

/// Longer than any reload and check together.
constexpr int kLongestChangeMs = 10 * 60 * 1000;
/// What keeps a change from being ended is often brief: a full disk, an engine on its way, another toolkit at work.
constexpr Duration kLongestPause = std::chrono::seconds(64);

/// The container's control group is emptied when the container ends. The host's own is reached through its first
/// process; where that is not to be seen this is no Pod, or none that could.
void LeaveControlGroup() {
  const auto host = os::RealFs::Open("/");
  const auto own = host ? (*host)->Read("/proc/self/cgroup") : Result<std::string>(std::unexpected(host.error()));
  if (!own) return;
  const std::string pid = std::to_string(::getpid());
  for (const std::string_view line : Split(*own, '\n')) {
    const auto rest = Cut(line, ':');
    const auto parts = rest ? Cut(rest->second, ':') : std::nullopt;
    if (!parts) continue;
    std::string controller(parts->first);
    if (controller.starts_with("name=")) controller.erase(0, 5);
    const std::string path =
        std::string(kHostView) + "/sys/fs/cgroup" + (controller.empty() ? "" : "/" + controller) + "/cgroup.procs";
    const os::Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.valid()) [[maybe_unused]]
      const ssize_t n = ::write(file.get(), pid.data(), pid.size());
  }
}

/// The guarded process.
class Guarded {
 public:
  /// A guard is its child: once it has another parent that process has gone.
  explicit Guarded(int pid) : process_(os::OpenProcess(pid)), child_of_it_(::getppid() == pid) {}

  /// Nothing of it runs or holds a lock any more when this returns.
  void End() const {
    if (!child_of_it_ || !process_.valid()) return;
    os::SignalProcess(process_, SIGKILL);
    os::AwaitEnd(process_, kLongestEnd);
  }

 private:
  static constexpr auto kLongestEnd = std::chrono::seconds(10);
  const os::Fd process_;
  const bool child_of_it_;
};

/// True when the change is over and well; false when the guarded process has gone, or hangs.
bool WaitForEnd(int line) {
  pollfd ready{line, POLLIN, 0};
  char said = 0;
  const int n = ::poll(&ready, 1, kLongestChangeMs);
  return n > 0 && ::read(line, &said, 1) == 1;
}

Result<> EndChange(const Options& given, Log& log) {
  ASSIGN(const auto host, os::RealFs::Open("/"));
  Options options = given;
  TRY(FindEngineOfKubelet(options, *host, log));
  return RecoverAll(options, *host, log);
}

}  // namespace

Result<Guard> Guard::Start(const Options& options) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return os::FailErrno(errno, "pipe");
  const os::Fd theirs(ends[0]);
  os::Fd ours(ends[1]);
  std::vector<std::string> words = {"nvidia-ctk-installer", kGuardWord, std::to_string(::getpid())};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), kGuardLine);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, kGuardLine + 1);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, options.self.c_str(), &actions, nullptr, os::Pointers(words).data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return os::FailErrno(error, "run " + options.self);
  return Guard(std::move(ours), pid);
}

Guard::~Guard() {
  if (!line_.valid()) return;
  [[maybe_unused]] const ssize_t n = ::write(line_.get(), "d", 1);
  line_.Close();
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

int RunGuard(const Options& options, int line, int guarded, Log& log) {
  sigset_t all;
  sigfillset(&all);
  // What ends a container's programs must not end this one.
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::setsid();
  const Guarded process(guarded);
  if (!options.files.host_root.empty()) LeaveControlGroup();
  if (WaitForEnd(line)) return 0;
  log.Warn("the toolkit ended while it changed the engine's configuration", {{"pid", std::to_string(guarded)}});
  // One that hangs must not come back in the middle; one that ends holds the journal's lock to its last moment, which
  // comes after this end of the line was closed.
  process.End();
  Result<> done;
  for (Duration pause = std::chrono::seconds(1); pause <= kLongestPause; pause *= 2) {
    done = EndChange(options, log);
    if (done) return 0;
    log.Warn("the change could not be ended yet", {{"error", done.error().text}});
    std::this_thread::sleep_for(pause);
  }
  log.Error("the change could not be ended; the next start of the toolkit tries again", {{"error", done.error().text}});
  return 1;
}

}  // namespace gpuop::operands::toolkit
