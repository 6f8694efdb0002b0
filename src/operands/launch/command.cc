#include "operands/launch/command.h"

#include <unistd.h>

#include <cstdio>
#include <memory>

#include "base/stop.h"
#include "operands/launch/environment.h"
#include "operands/launch/files.h"
#include "operands/launch/options.h"
#include "operands/launch/probe.h"
#include "os/argv.h"
#include "os/process.h"
#include "os/real_fs.h"
#include "os/signals.h"
#include "os/system_error.h"

namespace gpuop::operands::launch {
namespace {

constexpr int kStopped = 143;

int Report(const Error& error) {
  std::fprintf(stderr, "gpu-operator-launch: %s\n", error.text.c_str());
  return error.code == Code::kInvalid ? 2 : error.code == Code::kCancelled ? kStopped : 1;
}

Variables OwnVariables() {
  Variables out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) out[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  return out;
}

/// Replaces this process. Returns only on failure.
Result<> Become(std::vector<std::string> program, const Variables& variables) {
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  ::execvp(program.front().c_str(), os::Pointers(program).data());
  return os::FailErrno(errno, "start " + program.front());
}

Result<> Wait(const Options& options, os::Fs& fs, std::stop_token stop) {
  os::InotifyWatcher watcher;
  if (!options.if_file.empty()) {
    TRY(WaitFor({options.if_file}, false, fs, watcher, stop));
    ASSIGN(const std::string text, fs.Read(options.if_file));
    if (text.substr(0, text.find_first_of(" \t\r\n")) != options.if_word) return {};
  }
  return options.waits.empty() ? Result<>() : WaitFor(options.waits, options.any, fs, watcher, stop);
}

Result<> InstallSelf(const Options& options, os::Fs& fs) {
  std::string self(4096, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", self.data(), self.size());
  if (length < 0) return os::FailErrno(errno, "/proc/self/exe");
  self.resize(static_cast<std::size_t>(length));
  for (const std::string& folder : options.install) TRY(Install(self, folder, fs));
  return {};
}

Result<> RunFirst(const std::vector<std::string>& program, std::stop_token stop) {
  if (program.empty()) return {};
  os::RealProcesses processes;
  ASSIGN(const os::Exit exit,
         processes.Run({.argv = program, .limit = std::chrono::hours(1), .pass_stderr = true}, stop));
  std::fputs(exit.out.c_str(), stdout);
  if (!exit.ok()) return Fail(Code::kUnavailable, program.front() + ": " + exit.Describe());
  return {};
}

Result<> Hold(const Options& options, os::Fs& fs, std::stop_token stop) {
  TRY(RunFirst(options.program, stop));
  WaitForStop(stop);
  return RemoveAll(options.removes, fs);
}

Result<> Do(const Options& options, os::Fs& fs, std::stop_token stop) {
  switch (options.verb) {
    case Verb::kInstall: return InstallSelf(options, fs);
    case Verb::kWait: TRY(InstallSelf(options, fs)); return Wait(options, fs, stop);
    case Verb::kExec: return Wait(options, fs, stop);
    case Verb::kHold: return Hold(options, fs, stop);
    case Verb::kRemove: return RemoveAll(options.removes, fs);
    case Verb::kProbeModule: return ProbeModule(options.module, fs);
    case Verb::kProbeDriver: {
      os::RealProcesses processes;
      return ProbeDriver(OwnVariables(), fs, processes, stop);
    }
  }
  return {};
}

Result<> Launch(const Options& options) {
  ASSIGN(const std::unique_ptr<os::RealFs> fs, os::RealFs::Open("/"));
  {
    // Signals are caught only here: the program that this process becomes has them as they were.
    ASSIGN(const auto signals, os::StopSignals::Catch());
    TRY(Do(options, *fs, signals->token()));
  }
  if (options.verb != Verb::kExec) return {};
  ASSIGN(const Variables variables, Environment(options, *fs, OwnVariables()));
  return Become(options.program, variables);
}

}  // namespace

int RunLaunch(std::span<char* const> args) {
  const std::vector<std::string> words(args.begin(), args.end());
  auto options = ParseOptions(words);
  if (!options) return Report(options.error());
  if (const Result<> done = Launch(*options); !done) return Report(done.error());
  return 0;
}

}  // namespace gpuop::operands::launch
