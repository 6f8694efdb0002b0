#pragma once
// The toolkit's work on a node: install, write specs, have the engine know the runtimes, keep all that, give it back.

#include <condition_variable>
#include <set>
#include <stop_token>

#include "base/log.h"
#include "base/mutex.h"
#include "base/thread_executor.h"
#include "container/engine/transaction.h"
#include "operands/toolkit/program/engine.h"
#include "operands/toolkit/program/options.h"
#include "operands/toolkit/program/repair_news.h"
#include "os/process.h"
#include "os/watcher.h"

namespace gpuop::operands::toolkit {

/// Not thread-safe. Borrows everything.
class Keeper {
 public:
  /// `host` is this container's root; `engine_files` the root below which the engine's files are written.
  Keeper(const Options& options, os::Fs& host, os::Fs& engine_files, Log& log, std::stop_token stop);

  /// Ends a change of the engine's configuration that was cut short, and makes the engine follow.
  Result<> Recover();
  /// All that the options ask for; nothing where it is so already.
  Result<> SetUp();
  /// Until somebody asks to stop: specs follow the node, and entries that vanish from the engine's configuration come
  /// back, a bounded number of times; the Node is told of both.
  void Wait();
  /// The engine's configuration as it was before us.
  Result<> CleanUp();

 private:
  enum class Matter { kEngine, kSpecs };

  bool ConfiguresEngine() const { return !options_.no_runtime_config; }
  bool WritesSpecs() const { return options_.cdi && !options_.cdi_output_dir.empty(); }
  Result<> Install();
  Result<> ManagementSpec();
  void DeviceSpec();
  /// The result, or with --ignore-errors a warning instead of an error.
  Result<> Bear(const char* doing, Result<> done);
  /// A hook of NVIDIA's toolkit whose program was in this folder, where ours has replaced it. CRI-O passes over such a
  /// hook, and nobody would see why containers get no GPU.
  Result<> RemoveLostHook();
  Result<> ConfigureEngine();
  Result<> Apply(const container::EngineChange& change);
  void Repair();
  /// Does not wait for it.
  void Tell(RepairNews news);
  std::vector<std::unique_ptr<os::Watch>> Watch();
  void Ring(Matter matter);
  /// What has changed, once it has been quiet for a moment; nothing once somebody asks to stop.
  std::set<Matter> WaitForChange();

  const Options& options_;
  os::Fs &host_, &engine_files_;
  Log& log_;
  const std::stop_token stop_;
  os::RealProcesses processes_;
  os::InotifyWatcher watcher_;
  os::Journal journal_;
  SocketEngine engine_;
  container::EngineTransaction transaction_;
  RepairBound repairs_;
  std::string device_spec_trouble_;
  Mutex mu_;
  std::condition_variable_any bell_;
  std::set<Matter> rung_ GUARDED_BY(mu_);
  // Made for the first news: most nodes never have any.
  std::unique_ptr<ThreadExecutor> tellers_thread_;
  std::unique_ptr<RepairTeller> teller_;
};

/// Recovers what was begun through any root: this container's, and in a Pod the host's, whichever of them the options
/// mean now. To be called first.
Result<> RecoverAll(const Options& options, os::Fs& own, Log& log);

}  // namespace gpuop::operands::toolkit
