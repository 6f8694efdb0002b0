#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "base/log.h"
#include "operands/mps/compute_modes.h"
#include "operands/mps/daemon_watch.h"
#include "operands/mps/plan.h"
#include "os/fs.h"
#include "os/process.h"

namespace gpuop::operands::mps {

/// NVIDIA's MPS daemon of one resource. Calls block; one at a time.
class Daemon {
 public:
  struct Parts {
    os::Fs& fs;
    os::Processes& processes;
    ComputeModes& modes;
    Log& log;
    /// The program, and the environment that it gets besides its own variables.
    std::string program;
    std::map<std::string, std::string> environment;
    /// Called on some thread when the daemon ends by itself.
    std::function<void()> ended;
  };

  Daemon(Parts parts, DaemonPlan plan) : parts_(std::move(parts)), plan_(std::move(plan)) {}
  /// Does not stop it.
  ~Daemon() = default;

  /// Makes the GPUs exclusive and the folders, starts the daemon, sets the clients' shares and hears from it that it
  /// gives them. What an error leaves half done is undone.
  Result<> Start(std::stop_token stop);
  /// Asks the daemon to end, lets the GPUs go and removes the folders. A daemon ends when its last client has; while
  /// there are clients nothing else is touched, the error is kUnavailable, and `ended` will be called.
  Result<> Stop();
  /// The same at once, for the end of the container, which takes daemon and clients' server with it. What fails is
  /// logged, and the rest done.
  void Abandon();

  const DaemonPlan& plan() const { return plan_; }

 private:
  Result<> TryStart(const std::stop_token& stop);
  /// What it wrote to its standard output.
  Result<std::string> Run(std::vector<std::string> more, std::string input, bool daemon, const std::stop_token& stop);
  Result<> SetShares(const std::stop_token& stop);
  Result<> Quit();
  void Clean();
  void WatchIt();
  void Bear(Result<> done);
  std::string Folder() const;

  const Parts parts_;
  const DaemonPlan plan_;
  std::unique_ptr<DaemonWatch> watch_;
  /// Tells the device plugin that this program, without which the daemon ends, is there.
  std::unique_ptr<os::FileLock> alive_;
};

}  // namespace gpuop::operands::mps
