#pragma once

#include <memory>

#include "base/metrics.h"
#include "base/mutex.h"
#include "net/io_thread.h"
#include "operands/validator/components.h"

namespace gpuop::operands::validator {

/// How far a node is, as numbers under NVIDIA's names (toolkit-cdi-validator-driver.md §5.5). Everything is looked at
/// when somebody asks: files of the host and what a watch of the node has told. No program is started and no GPU is
/// asked, so that nobody's scrape wakes one.
class NodeMetrics {
 public:
  /// `host` may be null: then the kernel's files of this container count.
  NodeMetrics(const std::string& node, const StatusFiles& files, const os::Fs& own, const os::Fs* host,
              const Clock& clock);

  /// What the node offers now, by the watch. Thread-safe.
  void SetDevices(std::int64_t devices);
  /// The exposition. Looks at the files again when the last look is older than a second. Thread-safe.
  std::string Text();

 private:
  void Look() REQUIRES(mu_);

  const StatusFiles& files_;
  const os::Fs& kernel_;
  const Clock& clock_;
  MetricRegistry registry_;
  Gauge &driver_ready_, &toolkit_ready_, &plugin_ready_, &cuda_ready_;
  Gauge &driver_validation_, &driver_success_, &devices_, &plugin_success_, &pci_devices_, &metrics_ready_;

  Mutex mu_;
  TimePoint looked_ GUARDED_BY(mu_);
  bool ever_ GUARDED_BY(mu_) = false;
};

/// Serves the metrics on METRICS_PORT at /metrics until the stop token asks for the end.
Result<> RunMetrics(const Surroundings& with, net::IoThread& io);

}  // namespace gpuop::operands::validator
