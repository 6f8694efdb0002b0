#include "os/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "base/text.h"
#include "os/argv.h"
#include "os/fd.h"
#include "os/pidfd.h"
#include "os/system_error.h"

extern char** environ;

namespace gpuop::os {
namespace {

using std::chrono::steady_clock;

struct Pipe {
  Fd read, write;
};

Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return FailErrno(errno, "pipe");
  Pipe p{Fd(ends[0]), Fd(ends[1])};
  // Only our end: a program's own standard output is never non-blocking.
  if (::fcntl(p.read.get(), F_SETFL, O_NONBLOCK) != 0) return FailErrno(errno, "fcntl");
  return p;
}

/// The input as a file in memory: no pipe to feed, no SIGPIPE when the program does not care.
Result<Fd> InputFile(const std::string& bytes) {
  if (bytes.empty()) {
    Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!null.valid()) return FailErrno(errno, "open /dev/null");
    return null;
  }
  Fd file(::memfd_create("stdin", MFD_CLOEXEC));
  if (!file.valid()) return FailErrno(errno, "memfd_create");
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0) return FailErrno(errno, "write standard input");
    done += static_cast<std::size_t>(n);
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return FailErrno(errno, "lseek");
  return file;
}

class SpawnSettings {
 public:
  SpawnSettings() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

Result<pid_t> Spawn(const Command& command, int in, int out, int err) {
  SpawnSettings settings;
  ::posix_spawn_file_actions_adddup2(&settings.actions, in, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.actions, out, STDOUT_FILENO);
  if (err >= 0) ::posix_spawn_file_actions_adddup2(&settings.actions, err, STDERR_FILENO);
  ::posix_spawn_file_actions_addclosefrom_np(&settings.actions, STDERR_FILENO + 1);
  if (!command.folder.empty()) ::posix_spawn_file_actions_addchdir_np(&settings.actions, command.folder.c_str());

  std::vector<std::string> args = command.argv;
  std::vector<std::string> vars;
  if (command.env)
    for (const auto& [name, value] : *command.env) vars.push_back(name + "=" + value);
  const std::vector<char*> argv = Pointers(args), envp = Pointers(vars);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, argv[0], &settings.actions, &settings.attributes, argv.data(),
                                   command.env ? envp.data() : environ);
  if (error != 0) return FailErrno(error, "run " + command.argv[0]);
  return pid;
}

/// A running program: reads what it says, ends it when it must end.
class Child {
 public:
  Child(const Command& command, pid_t pid, Fd out, Fd err)
      : command_(command), pid_(pid), out_(std::move(out)), err_(std::move(err)) {}

  Result<Exit> Wait(const std::stop_token& stop) {
    const Fd alive = OpenProcess(pid_);
    const Fd asked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!alive.valid() || !asked.valid()) {
      auto error = FailErrno(errno, "watch " + command_.argv[0]);
      Kill(SIGKILL);
      Reap();
      return error;
    }
    std::stop_callback wake(stop, [&asked] { ::eventfd_write(asked.get(), 1); });
    deadline_ = steady_clock::now() + command_.limit;
    while (!Step(alive.get(), asked.get(), stop)) {
    }
    // The group's number is ours until the leader is reaped: what it left running ends here.
    if (why_ || !command_.leaves_daemon) Kill(SIGKILL);
    Drain(out_, exit_.out);
    Drain(err_, exit_.err);
    Reap();
    if (why_) return std::unexpected(*why_);
    return std::move(exit_);
  }

 private:
  /// Waits for one thing to happen; true once the program has ended.
  bool Step(int alive, int asked, const std::stop_token& stop) {
    const bool ending = why_.has_value();
    std::array<pollfd, 4> fds{
        {{alive, POLLIN, 0}, {out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}, {ending ? -1 : asked, POLLIN, 0}}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - steady_clock::now()).count();
    const int wait = static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
    if (::poll(fds.data(), fds.size(), wait) < 0 && errno != EINTR) return true;
    Drain(out_, exit_.out);
    Drain(err_, exit_.err);
    if ((fds[0].revents & POLLIN) != 0) return true;
    if (!ending && stop.stop_requested()) End(Code::kCancelled, "stopped");
    if (steady_clock::now() >= deadline_) OnDeadline();
    return false;
  }

  void OnDeadline() {
    if (!why_) {
      const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(command_.limit).count();
      return End(Code::kTimeout, "not done after " + std::to_string(ms) + " ms");
    }
    Kill(SIGKILL);
    deadline_ = steady_clock::now() + std::chrono::seconds(1);
  }

  void End(Code code, const std::string& text) {
    if (why_) return;
    why_ = Error{code, command_.argv[0] + ": " + text};
    Kill(SIGTERM);
    deadline_ = steady_clock::now() + command_.grace;
  }

  /// Reads what is there. Past the limit the program is told to end and the rest is thrown away.
  void Drain(Fd& from, std::string& into) {
    std::array<char, 16384> buffer;
    while (from.valid()) {
      const ssize_t n = ::read(from.get(), buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n <= 0) return from.Close();
      const auto count = static_cast<std::size_t>(n);
      const std::size_t room = command_.max_output - into.size();
      into.append(buffer.data(), std::min(count, room));
      if (count > room) {
        End(Code::kTooLarge, "wrote more than " + std::to_string(command_.max_output) + " bytes");
        return from.Close();
      }
    }
  }

  void Kill(int signal) { ::kill(-pid_, signal); }

  void Reap() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    exit_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    exit_.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  const Command& command_;
  const pid_t pid_;
  Fd out_, err_;
  steady_clock::time_point deadline_;
  std::optional<Error> why_;
  Exit exit_;
};

}  // namespace

std::optional<std::string> Variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::map<std::string, std::string> OwnEnvironment() {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (const auto pair = Cut(*entry, '=')) all.emplace(pair->first, pair->second);
  return all;
}

std::string Exit::Describe() const {
  std::string text = "exit status " + std::to_string(status);
  if (signal != 0) text = "signal " + std::to_string(signal);
  if (const char* words = signal != 0 ? sigdescr_np(signal) : nullptr; words != nullptr)
    text.append(" (").append(ToLower(words)).append(")");
  std::string_view last = Trim(err);
  if (const std::size_t line = last.rfind('\n'); line != std::string_view::npos) last.remove_prefix(line + 1);
  if (!last.empty()) text.append(": ").append(Trim(last));
  return text;
}

Result<Exit> RealProcesses::Run(const Command& command, std::stop_token stop) {
  GPUOP_CHECK(!command.argv.empty());
  if (stop.stop_requested()) return Fail(Code::kCancelled, command.argv[0] + ": stopped");
  ASSIGN(const Fd in, InputFile(command.input));
  ASSIGN(Pipe out, MakePipe());
  Pipe err;
  if (!command.pass_stderr) {
    ASSIGN(err, MakePipe());
  }
  ASSIGN(const pid_t pid, Spawn(command, in.get(), out.write.get(), err.write.get()));
  out.write.Close();
  err.write.Close();
  return Child(command, pid, std::move(out.read), std::move(err.read)).Wait(stop);
}

Result<Exit> FakeProcesses::Run(const Command& command, std::stop_token stop) {
  if (stop.stop_requested()) return Fail(Code::kCancelled, command.argv.at(0) + ": stopped");
  Program program;
  {
    Lock l(mu_);
    runs_.push_back(command);
    const auto it = programs_.find(command.argv.at(0));
    if (it != programs_.end()) program = it->second;
  }
  if (!program) return Fail(Code::kNotFound, "run " + command.argv.at(0) + ": no such file or directory");
  return program(command);
}

}  // namespace gpuop::os
