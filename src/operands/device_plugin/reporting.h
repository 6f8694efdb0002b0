#pragma once
// Whom the plugin tells how it is: Prometheus, the Node's conditions, the readiness gate.

#include <memory>
#include <set>
#include <string>

#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/thread_executor.h"
#include "kube/api_door.h"
#include "net/server.h"
#include "operands/device_plugin/node_news.h"
#include "operands/device_plugin/settings.h"
#include "operands/readiness_gate.h"

namespace gpuop::operands::device_plugin {

/// What nobody asked for is not made: without an address, a condition or a gate this holds a few gauges and no thread
/// runs.
class Reporting {
 public:
  struct Parts {
    const os::Fs& host;
    Log& log;
    MetricRegistry& metrics;
  };
  Reporting(Parts parts, std::shared_ptr<const Settings> settings);
  ~Reporting();

  /// Listens, and closes the gate until the kubelet listens too.
  Result<> Start();
  /// Thread-safe.
  void Tell(const Report& report);
  /// The plugin ends: the gate closes first.
  void End();

 private:
  /// What ails the program, for /healthz.
  std::string Ailment() const;
  Result<> StartGate();

  const Parts parts_;
  const std::shared_ptr<const Settings> settings_;
  const std::size_t expected_;

  mutable Mutex mu_;
  std::string ailment_ GUARDED_BY(mu_);
  std::set<std::string> gpus_ GUARDED_BY(mu_), resources_ GUARDED_BY(mu_);

  std::unique_ptr<net::IoThread> io_;
  std::unique_ptr<net::Server> server_;
  std::unique_ptr<ThreadExecutor> teller_thread_;
  std::unique_ptr<NodeTeller> teller_;
  std::stop_source stop_;
  std::unique_ptr<kube::ApiDoor> api_;
  std::unique_ptr<ReadinessGate> gate_;
};

}  // namespace gpuop::operands::device_plugin
