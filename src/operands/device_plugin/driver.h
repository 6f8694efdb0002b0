#pragma once
// The driver as the plugin asks it: without ever waiting for it.

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/mutex.h"
#include "base/thread_executor.h"
#include "gpu/device_events.h"
#include "gpu/inventory_reader.h"
#include "operands/device_plugin/resources.h"
#include "os/fs.h"
#include "os/watchdog.h"

namespace gpuop::operands::device_plugin {

class Driver {
 public:
  struct Answer {
    /// Null: nothing has changed since the last answer.
    std::shared_ptr<const gpu::Inventory> inventory;
    MigMinors minors;
  };
  using OnAnswer = std::function<void(Result<Answer>)>;

  enum class Depth {
    kGlance,  ///< whether GPUs came or went; only if they did there is an answer, a whole one, else FoundNothing
    kCheck,   ///< the same, with an answer in any case
    kWhole,   ///< everything anew
  };

  virtual ~Driver() = default;
  /// Answers as a task of the owner's executor, or, while the driver hangs, never. One question at a time.
  virtual void Ask(Depth depth, OnAnswer done) = 0;
  /// Whether the last question was a glance that has ended without an answer. Thread-safe.
  virtual bool FoundNothing() const = 0;
  /// Whether it tells by itself when GPUs come or go and when the driver seems to hang, so that nobody need ask.
  /// Thread-safe.
  virtual bool watching() const = 0;
};

/// NVML, on a thread of its own. Another one waits for its events, and after each wait, which is at most kEventWait
/// long, looks whether the GPUs are the same: one waking for both. A watchdog, which costs none, notices when that
/// thread does not come back from the driver.
class NvmlDriver final : public Driver {
 public:
  using Open = std::function<Result<std::unique_ptr<gpu::Nvml>>()>;
  struct Parts {
    /// Answers and what follows run here.
    Executor& executor;
    Open open;
    const os::Fs& host;  ///< has /proc and /sys
    gpu::DeviceEvents::OnEvent on_event;
    /// While it watches: GPUs came or went; the driver seems to hang, which a question will show.
    std::function<void()> on_stir, on_hang;
  };
  /// Together with the plugin's kConfirm a hanging driver is known in less than two seconds. It may take that long to
  /// let go of a driver that went away.
  static constexpr std::chrono::milliseconds kEventWait{1400}, kBeat{1550};

  explicit NvmlDriver(Parts parts);

  void Ask(Depth depth, OnAnswer done) override;
  bool FoundNothing() const override { return found_nothing_; }
  bool watching() const override { return watching_; }

 private:
  struct Session {
    std::unique_ptr<gpu::Nvml> nvml;
    std::unique_ptr<gpu::InventoryReader> reader;
    std::unique_ptr<gpu::DeviceEvents> events;
    /// GPUs that events were asked of.
    std::set<std::string> watched;
  };

  Result<Answer> Look(bool whole);
  Result<Answer> ReadAll();
  /// Whether the GPUs' handles are what they were at the last whole reading. Thread-safe.
  bool SameHandles(const gpu::Nvml& nvml) const EXCLUDES(mu_);
  /// Waits for events of GPUs that were not there before; whether there were any.
  bool Watch(const gpu::Inventory& inventory);
  void Unwatch();
  /// The events' thread is back from the driver.
  void OnTurn(const gpu::Nvml& nvml, const Result<>& waited);

  const Parts parts_;
  std::atomic<bool> found_nothing_ = false, watching_ = false;
  mutable Mutex mu_;
  std::vector<bool> handles_ GUARDED_BY(mu_);
  std::unique_ptr<os::Watchdog> watchdog_;
  // Of the thread below alone.
  std::unique_ptr<Session> session_;
  ThreadExecutor thread_{1};
};

}  // namespace gpuop::operands::device_plugin
