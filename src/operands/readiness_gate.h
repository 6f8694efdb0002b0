#pragma once

#include <condition_variable>
#include <memory>
#include <optional>
#include <string>

#include "base/executor.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "kube/cache.h"
#include "kube/client.h"
#include "kube/controller.h"
#include "kube/types/node.h"
#include "operands/readiness_gate_plan.h"

namespace gpuop::operands {

/// Keeps a node's taint and condition true to whether its GPUs can be had (docs/readiness-gate.md). Made by the device
/// plugin, which says what it offers and whether the kubelet listens; watches that one node, and writes when the
/// verdict changes or somebody else changed what it wrote. A steady node costs no request.
///
/// The node begins closed: until the plugin says that the kubelet listens, the taint stands. A write that fails is
/// tried again with back-off, never longer than five seconds.
class ReadinessGate {
 public:
  struct Parts {
    /// Tasks on it may block (they call the client).
    Executor& executor;
    kube::Client client;
    Log& log;
    MetricRegistry* metrics = nullptr;
    std::uint64_t seed = 1;
  };

  /// `settings` is enabled; `node` is the node's name. What is passed in outlives the gate.
  ReadinessGate(Parts parts, std::string node, GateSettings settings);
  ~ReadinessGate();
  ReadinessGate(const ReadinessGate&) = delete;
  ReadinessGate& operator=(const ReadinessGate&) = delete;

  void Start();
  /// What the plugin offers from now on. Call it whenever a stream opens or ends, or the number of healthy devices
  /// changes. Returns at once. Thread-safe.
  void Set(Advertised advertised);
  /// Closes the gate because the plugin ends, and waits until that is written, `limit` at most. Whether it is. Not from
  /// a task of the executor.
  bool End(Duration limit);
  /// The last verdict. Thread-safe.
  GateVerdict verdict() const;

 private:
  Result<kube::Next> Turn();
  Result<> Write(const kube::Node& node, const GateVerdict& verdict);
  /// The node as it was last seen: by the watch, or by an own write that the watch has not shown yet.
  std::shared_ptr<const kube::Node> Seen() const;
  void Remember(const kube::Node& before, const boost::json::object& after);
  void Tell(const GateVerdict& verdict);

  const std::string node_;
  const GateSettings settings_;
  Executor& executor_;
  const kube::Client client_;
  Log& log_;
  Gauge* open_ = nullptr;
  Counter* writes_ = nullptr;
  kube::Cache<kube::Node> cache_;

  // Of turns, which come one at a time.
  std::string written_over_;  ///< the version in the cache over which `written_` was written
  std::shared_ptr<const kube::Node> written_;

  mutable Mutex mu_;
  std::condition_variable_any ended_;
  GateFacts facts_ GUARDED_BY(mu_);
  GateVerdict verdict_ GUARDED_BY(mu_);
  bool end_written_ GUARDED_BY(mu_) = false;

  kube::Controller controller_;  // last: when it is gone no turn runs
};

}  // namespace gpuop::operands
