#pragma once

#include <condition_variable>
#include <optional>
#include <stop_token>

#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/rng.h"
#include "operands/nfd/worker/discovery.h"
#include "operands/nfd/worker/settings.h"

namespace gpuop::operands::nfd {

/// Where a worker's findings go.
class FactsOutput {
 public:
  virtual ~FactsOutput() = default;
  /// Makes them known. An error means that it is to be tried again.
  virtual Result<> Put(const NodeFacts& facts, const WorkerSettings& settings) = 0;
};

/// What tells a worker that something has changed. Thread-safe.
class WakeUps {
 public:
  /// What there is to do.
  struct Work {
    bool any = false, all = false;
    std::optional<WorkerSettings> settings;
  };

  /// Something has changed: files, rules.
  void Wake();
  /// The hardware or the kernel's modules have changed: every source is asked.
  void WakeAll();
  /// Other settings from now on.
  void Use(WorkerSettings settings);
  /// Waits for work, at most `limit`; nullopt when `stop` was asked for.
  std::optional<Work> Wait(const std::stop_token& stop, std::optional<Duration> limit);

 private:
  Mutex mu_;
  std::condition_variable_any more_;
  Work work_ GUARDED_BY(mu_);
};

/// Looks at the node when something tells of a change, and hands on what it finds. Between wake-ups it waits.
class Worker {
 public:
  Worker(NodeDiscovery& discovery, FactsOutput& output, WakeUps& wake_ups, const Clock& clock, Log& log,
         MetricRegistry& metrics, std::uint64_t seed);

  /// One pass.
  Result<> Pass(const WorkerSettings& settings, bool all);
  /// Passes until `stop`; failures are tried again with back-off.
  void Run(WorkerSettings settings, const std::stop_token& stop);

 private:
  std::optional<Duration> NextLook(const WorkerSettings& settings) const;

  NodeDiscovery& discovery_;
  FactsOutput& output_;
  WakeUps& wake_ups_;
  const Clock& clock_;
  Log& log_;
  Rng rng_;
  Counter &passes_, &failures_;
};

}  // namespace gpuop::operands::nfd
