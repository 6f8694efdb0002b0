#include "operands/toolkit/program/command.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/text.h"
#include "operands/toolkit/program/guard.h"
#include "operands/toolkit/program/keeper.h"
#include "operands/toolkit/program/locate.h"
#include "operands/toolkit/program/nri.h"
#include "os/argv.h"
#include "os/heap.h"
#include "os/real_fs.h"
#include "os/signals.h"
#include "os/system_error.h"

namespace gpuop::operands::toolkit {
namespace {

/// Ours as long as it is held: a second toolkit on the node is refused, and does not touch the first one's.
class PidFile {
 public:
  static Result<PidFile> Take(const std::string& path) {
    ASSIGN(const auto fs, os::RealFs::Open("/"));
    TRY(os::MakeFolders(*fs, path.substr(0, path.rfind('/'))));
    os::Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd.valid()) return os::FailErrno(errno, path);
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0)
      return Fail(Code::kConflict, "another toolkit runs here: " + path + " is locked");
    const std::string pid = std::to_string(::getpid()) + "\n";
    if (::ftruncate(fd.get(), 0) != 0 || ::pwrite(fd.get(), pid.data(), pid.size(), 0) < 0)
      return os::FailErrno(errno, path);
    return PidFile(path, std::move(fd));
  }
  /// The one that this process took before it became itself anew.
  static PidFile Inherit(const std::string& path, int fd) {
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    return {path, os::Fd(fd)};
  }
  /// Lets the program that this process becomes inherit it.
  int PassOn() {
    ::fcntl(fd_.get(), F_SETFD, 0);
    return fd_.Release();
  }
  PidFile(PidFile&&) = default;
  ~PidFile() {
    if (fd_.valid()) ::unlink(path_.c_str());
  }

 private:
  PidFile(std::string path, os::Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  std::string path_;
  os::Fd fd_;
};

/// The word behind which a toolkit that has set the node up goes on: the descriptor of its lock, and its flags.
constexpr const char* kKeepWord = "keep";

/// What talked to the engine is needed again only when something changes: this process gives all that memory back by
/// becoming itself anew. Signals that come meanwhile wait.
Result<> BecomeKeeper(const Options& options, PidFile pid) {
  std::vector<std::string> words = {"nvidia-ctk-installer", kKeepWord, std::to_string(pid.PassOn())};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  ::execv(options.self.c_str(), os::Pointers(words).data());
  return os::FailErrno(errno, "run " + options.self);
}

Result<> SetUp(Options options, Log& log) {
  ASSIGN(auto signals, os::StopSignals::Catch());
  ASSIGN(PidFile pid, PidFile::Take(options.pid_file));
  ASSIGN(const auto host, os::RealFs::Open("/"));
  TRY(FindEngineOfKubelet(options, *host, log));
  TRY(RecoverAll(options, *host, log));
  ASSIGN(const auto engine_files, os::RealFs::Open(options.engine_root));
  const auto done = Keeper(options, *host, *engine_files, log, signals->token()).SetUp();
  if (!done && signals->token().stop_requested()) {
    log.Info("stopped before the node was set up", {{"reached", done.error().text}});
    Keeper last(options, *host, *engine_files, log, {});
    // What it had begun was undone already, unless that failed.
    TRY(last.Recover());
    return last.CleanUp();
  }
  TRY(done);
  if (options.no_daemon) return {};
  if (signals->token().stop_requested()) return Keeper(options, *host, *engine_files, log, {}).CleanUp();
  signals->LeaveBlocked();
  signals.reset();
  return BecomeKeeper(options, std::move(pid));
}

Result<> Keep(Options options, int lock, Log& log) {
  const PidFile pid = PidFile::Inherit(options.pid_file, lock);
  ASSIGN(const auto signals, os::StopSignals::Catch());
  ASSIGN(const auto host, os::RealFs::Open("/"));
  TRY(FindEngineOfKubelet(options, *host, log));
  ASSIGN(const auto engine_files, os::RealFs::Open(options.engine_root));
  {
    std::jthread nri;
    if (options.nri) nri = std::jthread([&] { RunNri(options, log, signals->token()); });
    Keeper(options, *host, *engine_files, log, signals->token()).Wait();
  }
  // The stop that ended the wait must not cut the way back short.
  return Keeper(options, *host, *engine_files, log, {}).CleanUp();
}

/// A word of ours before the flags, and the number behind it.
std::optional<int> NumberBehind(const char* word, const std::vector<std::string>& arguments) {
  if (arguments.size() < 2 || arguments[0] != word) return std::nullopt;
  const auto number = ParseInt(arguments[1]);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

Result<> Run(std::vector<std::string> arguments, Log& log) {
  const auto lock = NumberBehind(kKeepWord, arguments);
  if (lock) arguments.erase(arguments.begin(), arguments.begin() + 2);
  ASSIGN(Options options, ReadOptions(arguments, std::getenv));
  return lock ? Keep(std::move(options), *lock, log) : SetUp(std::move(options), log);
}

}  // namespace

int RunToolkit(std::span<char* const> args) {
  const std::vector<std::string> arguments(args.begin(), args.end());
  for (const std::string& argument : arguments) {
    if (argument == "--help" || argument == "-h") return std::fputs(OptionsHelp().c_str(), stdout) < 0 ? 1 : 0;
    if (argument == "--version") return std::puts("NVIDIA Container Toolkit Installer version 1.20.0") < 0 ? 1 : 0;
  }
  os::KeepHeapSmall();
  const SystemClock clock;
  StderrLog log(clock);
  if (const auto guarded = NumberBehind(kGuardWord, arguments)) {
    const auto options = ReadOptions({arguments.begin() + 2, arguments.end()}, std::getenv);
    return options ? RunGuard(*options, kGuardLine, *guarded, log) : 2;
  }
  const Result<> done = Run(arguments, log);
  if (done) return 0;
  log.Error("toolkit failed", {{"error", done.error().text}});
  return 1;
}

}  // namespace gpuop::operands::toolkit
