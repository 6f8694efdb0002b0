#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "gpu/nvml.h"

namespace gpuop::gpu {

/// Something that NVML told of a GPU.
struct DeviceEvent {
  enum class Kind {
    kXid,        ///< a critical error; `data` is its number
    kMigConfig,  ///< the MIG mode is another, or MIG devices were made or destroyed
    kEcc,        ///< a double-bit error, or a storm of single-bit ones
    kRecovery,   ///< what the driver advises to do has changed
    kLost,       ///< a GPU is off the bus; NVML does not say which
    kTrouble,    ///< NVML cannot wait for events just now (`text`); more will follow when it can
    kOther,
  } kind = Kind::kOther;
  /// Empty for kLost and kTrouble.
  std::string uuid;
  unsigned long long data = 0;
  /// The MIG device that it concerns; absent for the whole GPU.
  std::optional<unsigned> gpu_instance, compute_instance;
  std::string text;

  bool operator==(const DeviceEvent&) const = default;
};

/// Waits for NVML's events in a thread of its own, since NVML's wait blocks, and hands each to `on_event` as a task of
/// an executor.
class DeviceEvents {
 public:
  using OnEvent = std::function<void(const DeviceEvent&)>;
  /// Called on the thread that waits, after each wait; an error is what keeps NVML from waiting.
  using OnTurn = std::function<void(const Result<>& waited)>;

  struct Unwatched {
    std::string uuid;
    std::string reason;
  };

  /// How long a change of MIG of which NVML tells nothing may go unnoticed, besides one wait.
  static constexpr std::chrono::milliseconds kMigPace{4000};

  /// Registers every readable GPU for the events it supports. An error means that NVML has no events at all; a GPU that
  /// cannot be watched is in unwatched(). `wait` is how long a stop may have to wait for NVML's own wait to end. A MIG
  /// mode that is switched, and a reset that takes MIG devices away, make no event: when nothing was heard for
  /// `mig_pace`, the thread looks, and hands out kMigConfig for each GPU whose MIG is not what it was, and once more a
  /// look later: it may have been switched back before anybody read it.
  static Result<std::unique_ptr<DeviceEvents>> Start(const Nvml& nvml, Executor& executor, OnEvent on_event,
                                                     std::chrono::milliseconds wait = std::chrono::seconds(5),
                                                     OnTurn on_turn = {},
                                                     std::chrono::milliseconds mig_pace = kMigPace);
  /// Ends the thread. Events already handed to the executor may still run.
  virtual ~DeviceEvents() = default;

  const std::vector<Unwatched>& unwatched() const { return unwatched_; }

 protected:
  std::vector<Unwatched> unwatched_;
};

}  // namespace gpuop::gpu
