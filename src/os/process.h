#pragma once
// Programs of others, run without a shell.

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"

namespace gpuop::os {

/// What to run.
struct Command {
  /// argv[0] is searched in PATH unless it holds a slash. Never empty.
  std::vector<std::string> argv;
  /// The whole environment; nullopt hands on this process's own.
  std::optional<std::map<std::string, std::string>> env = std::nullopt;
  /// What the program reads from its standard input, which then ends.
  std::string input = {};
  /// The folder it starts in; empty: this process's.
  std::string folder = {};
  /// After this it gets SIGTERM, and `grace` later SIGKILL.
  Duration limit = std::chrono::seconds(30);
  Duration grace = std::chrono::seconds(2);
  /// Standard output and standard error may each be this long.
  std::size_t max_output = 1U << 20;
  /// Standard error goes to this process's own and is not kept.
  bool pass_stderr = false;
  /// For a program that becomes a daemon: what it leaves running stays when it ends by itself.
  bool leaves_daemon = false;
};

/// How a program ended, and what it said.
struct Exit {
  /// The exit status, or -1 when a signal ended it.
  int status = 0;
  /// The signal that ended it, or 0.
  int signal = 0;
  std::string out = {};
  std::string err = {};

  bool ok() const { return status == 0; }
  /// "exit status 3" or "signal 9 (killed)", and the last line of standard error if there is one.
  std::string Describe() const;
};

/// A variable of this process's environment; nullopt when it is not set.
std::optional<std::string> Variable(const std::string& name);

/// All of this process's environment; of a name that is there twice the first counts, as for getenv(3).
std::map<std::string, std::string> OwnEnvironment();

/// Runs programs. Thread-safe.
class Processes {
 public:
  virtual ~Processes() = default;

  /// Runs `command` to its end and returns how it ended: a program that fails is a value here. The program leads a
  /// process group of its own and inherits no descriptor but the three standard ones, and no blocked signals. When it
  /// ends, or must end, the whole group goes with it (but for `leaves_daemon`).
  /// Errors: kNotFound and kForbidden (no such program, not executable), kTimeout, kCancelled (`stop`),
  /// kTooLarge (it wrote more than allowed; it is killed).
  virtual Result<Exit> Run(const Command& command, std::stop_token stop) = 0;
};

/// The machine's own.
class RealProcesses final : public Processes {
 public:
  Result<Exit> Run(const Command& command, std::stop_token stop) override;
};

/// Programs as functions, by argv[0]. Remembers what was run.
class FakeProcesses final : public Processes {
 public:
  using Program = std::function<Result<Exit>(const Command&)>;

  /// From now on argv[0] == `name` runs `program`; without one Run fails with kNotFound.
  void Install(std::string name, Program program) {
    Lock l(mu_);
    programs_[std::move(name)] = std::move(program);
  }
  std::vector<Command> Runs() const {
    Lock l(mu_);
    return runs_;
  }
  Result<Exit> Run(const Command& command, std::stop_token stop) override;

 private:
  mutable Mutex mu_;
  std::map<std::string, Program> programs_ GUARDED_BY(mu_);
  std::vector<Command> runs_ GUARDED_BY(mu_);
};

}  // namespace gpuop::os
