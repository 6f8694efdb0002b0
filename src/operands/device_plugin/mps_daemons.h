#pragma once
// The MPS daemons that containers with shares need: whether they run, and when that changes.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/strand.h"
#include "gpu/inventory.h"
#include "operands/device_plugin/settings.h"
#include "os/fs.h"
#include "os/lock_probe.h"
#include "os/watcher.h"

namespace gpuop::operands::device_plugin {

/// By resource, why its daemon serves nobody. Empty when all serve.
using MissingDaemons = std::map<std::string, std::string>;

/// How a lock is looked at (os::IsLocked).
using IsLocked = std::function<Result<bool>(const std::string& path)>;

/// The resources that are shared by MPS, each of which has a daemon.
std::vector<std::string> MpsResources(const gpu::Inventory& gpus, const Settings& settings);

/// A daemon runs when there is /mps/RESOURCE/.started, which every mps-control-daemon writes; ours holds a lock of
/// /mps/RESOURCE/.alive as well, which goes with it when it is killed and can remove nothing.
MissingDaemons FindMissingDaemons(const os::Fs& fs, const std::vector<std::string>& resources,
                                  const IsLocked& is_locked = os::IsLocked);

/// Tells which daemons are missing whenever files of theirs change; nothing is asked meanwhile.
class MpsWatch {
 public:
  using Tell = std::function<void(MissingDaemons)>;
  /// A lock is let go of a moment after the file that it was on is told to be closed.
  static constexpr Duration kAfterthought = std::chrono::milliseconds(200);

  /// `tell` is called on `executor`, which may block.
  MpsWatch(Executor& executor, os::Watcher& watcher, const os::Fs& fs, Tell tell, IsLocked is_locked = os::IsLocked);
  ~MpsWatch() { End(); }
  /// Watches these from now on, and tells how they are. An error: nothing of theirs will be heard.
  Result<> Follow(std::vector<std::string> resources);
  /// From now on nothing is told.
  void End();

 private:
  void Look();

  os::Watcher& watcher_;
  const os::Fs& fs_;
  const Tell tell_;
  const IsLocked is_locked_;
  Mutex mu_;
  std::vector<std::string> resources_ GUARDED_BY(mu_);
  std::unique_ptr<os::Watch> watch_ GUARDED_BY(mu_);
  Strand strand_;
};

}  // namespace gpuop::operands::device_plugin
