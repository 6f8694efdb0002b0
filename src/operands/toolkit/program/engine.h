#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "container/engine/transaction.h"
#include "operands/toolkit/program/engine_process.h"
#include "operands/toolkit/program/options.h"
#include "os/process.h"
#include "os/watcher.h"

namespace gpuop::operands::toolkit {

/// What an engine says of itself.
struct EngineStatus {
  bool ready = false;
  /// The engine's own words when it is not.
  std::string reason;
  std::vector<std::string> handlers;
  /// Whether the engine lists its handlers at all.
  bool lists_handlers = false;
  /// Docker's alone: what its handlers run, its default, and whether it gives containers CDI devices.
  std::map<std::string, std::string> binaries;
  std::string default_handler;
  bool cdi = false;
};
/// Reads a CRI StatusResponse. Older engines list their handlers only in the verbose configuration.
Result<EngineStatus> ReadEngineStatus(const std::string& response);
/// kUnavailable, in the engine's words, unless it is ready and knows every runtime of `expected`, with the program and
/// as the default that are expected as far as it says so.
Result<> CheckEngineStatus(const EngineStatus& status, const container::EngineConfig& expected);

/// The engine behind a unix socket. Restarts it as it was told to (a signal to the process that answers, systemd on the
/// host, or not at all) and asks over the CRI.
class SocketEngine final : public container::EngineControl {
 public:
  SocketEngine(const Options& options, os::Processes& processes, os::Watcher& watcher, Log& log, std::stop_token stop)
      : options_(options), processes_(processes), watcher_(watcher), log_(log), stop_(std::move(stop)) {}

  /// Before a change: kUnsupported, with what to do, when the engine is told by a signal that it ignores.
  Result<> CanBeTold() const;
  /// From now on the engine is neither restarted nor asked, as with --restart-mode=none.
  void LeaveAlone() { left_alone_ = true; }
  /// Before a change: whether the engine starts a sandbox at all. Where it does not (its sandbox image is missing),
  /// Verify cannot ask for that.
  void LookBefore(const container::EngineConfig& before);
  /// Takes away what a toolkit that was killed while it tried the engine's sandboxes left running. An engine on
  /// its way up is given ten seconds.
  void RemoveLeftSandboxes();
  /// An engine that does not answer may be on its way up with what its files said before: it is waited for, at most
  /// `kLimit`, and signalled if it began before this call. One that stays away reads its files when somebody starts it.
  /// A stop does not cut it short: an engine that runs with files that are gone would be worse. kUnavailable when the
  /// process that was told runs on as before; told a second time, when its files are put back, it needs nothing.
  Result<> Reload() override;
  /// Waits for an answer at most `kLimit`, woken by the socket's folder: the engine is ready, knows every handler, and
  /// starts a sandbox by its default one and by each of ours. Docker, which is asked what it runs with, has refused its
  /// file when twenty answers in a row say something else.
  Result<> Verify(const container::EngineConfig& expected) override;

  static constexpr Duration kLimit = std::chrono::seconds(60);

 private:
  /// Docker has no CRI; an engine that is not restarted does not know what changed.
  bool TriesSandboxes() const { return options_.engine != container::EngineKind::kDocker && Restarts(); }
  bool Restarts() const { return options_.restart_mode != "none" && !left_alone_; }
  Result<int> AwaitEngine(Duration limit, const std::stop_token& stop);
  Result<> Signal();
  Result<> RestartUnit();
  /// Remembers a process that was told in vain.
  Result<> Remember(Result<> told, EngineProcess process);
  /// Whether it is the one that was told in vain: it never read what has been put back since.
  bool RunsOnAsBefore(const EngineProcess& process) const;
  /// Whether none was left.
  Result<bool> RemoveSomeLeft();
  Result<> Ask(const container::EngineConfig& expected);
  Result<> AskDockerd(const container::EngineConfig& expected);
  Result<> TrySandboxes(const container::EngineConfig& expected);

  const Options& options_;
  os::Processes& processes_;
  os::Watcher& watcher_;
  Log& log_;
  const std::stop_token stop_;
  bool starts_sandboxes_ = false, left_alone_ = false;
  std::optional<EngineProcess> deaf_;
  /// How often dockerd may still answer otherwise than it should.
  int docker_answers_left_ = 0;
};

/// What is asked of an engine to see whether a handler ("" is the default) starts: a Pod's sandbox in the host's
/// network, which needs no CNI. `systemd`: its control groups are systemd's.
std::string SandboxRequest(const std::string& handler, bool systemd);

}  // namespace gpuop::operands::toolkit
