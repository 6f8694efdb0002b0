#pragma once

#include <condition_variable>
#include <memory>
#include <stop_token>

#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/thread_executor.h"
#include "gpu/device_events.h"
#include "gpu/inventory_reader.h"
#include "operands/gfd/host.h"
#include "operands/gfd/options.h"
#include "operands/gfd/output.h"
#include "operands/status_server.h"

namespace gpuop::operands::gfd {

/// Opens the driver's NVML anew.
using OpenNvml = std::function<Result<std::unique_ptr<gpu::Nvml>>()>;

/// Keeps a node's labels true: a pass at the start, and one whenever the driver tells of a change or Wake is called.
/// Between them it waits. GPUs without events, and a driver that is not there yet, are looked at every
/// `options.interval`.
class Discovery {
 public:
  Discovery(os::Fs& fs, OpenNvml open, Output& output, const Clock& clock, Log& log, MetricRegistry* metrics = nullptr);
  ~Discovery();

  /// One pass. An error is one of the start (`fail_on_init_error`) or of the output.
  Result<> Pass(const Options& options);
  /// Passes until `stop`. An error only from the first pass; later ones are logged and tried again.
  Result<> Run(Options options, std::stop_token stop);
  /// Asks for a pass with other options (the settings file has changed); nullptr: with the same. Thread-safe.
  void Wake(std::unique_ptr<Options> options = nullptr);
  /// Why the labels may not be what the node is: "waiting for the driver: …"; "" when they are. Thread-safe.
  std::string Ailment() const { return ailment_.Get(); }

 private:
  Result<const gpu::Inventory*> Look(const Options& options);
  void Listen();
  /// Lets go of a driver that does not answer: it may be another one next time.
  void Close();
  Result<bool> Label(const Options& options);
  /// Says what is wrong with the driver, once.
  void Tell(const Error& error);
  /// Waits for a wake-up; false when `stop` was asked for.
  bool WaitForWork(const std::stop_token& stop, std::optional<Duration> limit, Options& options);

  os::Fs& fs_;
  const OpenNvml open_;
  Output& output_;
  Log& log_;
  const std::int64_t started_;

  std::unique_ptr<gpu::Nvml> nvml_;
  std::unique_ptr<gpu::InventoryReader> reader_;
  gpu::Inventory inventory_;
  std::optional<HostFacts> host_;
  std::vector<std::string> warned_;
  std::string trouble_;
  bool looked_ = false, blind_ = true;
  /// The most GPUs that could ever be read; and while there are fewer, how long until the next look.
  std::size_t most_readable_ = 0;
  std::optional<Duration> missing_for_;
  Gauge *labels_count_ = nullptr, *gpus_ = nullptr, *driver_ = nullptr;
  Counter *passes_ = nullptr, *writes_ = nullptr, *failures_ = nullptr;

  mutable Mutex mu_;
  Trouble ailment_{"the labels have not been written yet"};
  std::condition_variable_any more_;
  bool woken_ GUARDED_BY(mu_) = false;
  std::unique_ptr<Options> changed_ GUARDED_BY(mu_);
  ThreadExecutor executor_{1};
  std::unique_ptr<gpu::DeviceEvents> events_;
};

}  // namespace gpuop::operands::gfd
