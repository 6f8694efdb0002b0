#pragma once
// The cluster side, wired: the one object that the program and tests make.

#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/metrics.h"
#include "kube/door.h"
#include "operands/operand.h"
#include "operator/facts_gather.h"

namespace gpuop::op {

/// Follows the cluster from the start, and acts while it leads. Passive: everything runs on the executor, whose tasks
/// may block; with a VirtualExecutor a run is a function of its seed.
class Operator {
 public:
  struct Options {
    std::string ns = "gpu-operator";
    /// Must differ between all that ever live at the same time.
    std::string identity = "gpu-operator";
    bool leader_elect = true;
    bool act = true;            ///< false: only look, as a dry run does
    std::string lease_ns = {};  ///< empty: `ns`
    Duration renew_deadline = std::chrono::seconds(10);
    Surroundings surroundings = {};
    std::span<const operands::Operand> operands = operands::Operands();
    /// How many objects, and how many nodes, are written at once.
    std::size_t concurrency = 8;
    std::uint64_t seed = 1;
    kube::Wait wait = nullptr;  ///< how requests wait before they are repeated; see kube::Client
  };

  /// `executor`, `door`, `log` and `metrics` outlive it.
  Operator(Executor& executor, kube::Door& door, Log& log, MetricRegistry& metrics, Options options);
  /// Ends without giving up the lease: call Stop first where another shall lead at once.
  ~Operator();

  /// Calls `done`, once, on the executor, when all that exists is known. Before Start.
  void WhenReady(std::function<void()> done);
  void Start();
  /// Acts no more and gives the lease up, then calls `done`.
  void Stop(std::function<void()> done);

  bool Leads() const;
  /// Whether all that exists is known and, if it leads, acted on.
  bool Ready() const;
  /// What is wrong with this process, for whoever restarts it: a loop that makes no progress, a watch that hears
  /// nothing. Empty when all is well. Call it every few seconds or so.
  std::vector<std::string> Ailments();

  /// What would be written and deleted now, as differences for people to read; "" when nothing would. After Ready,
  /// where it only looks (`act` is false).
  std::string DryRun();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace gpuop::op
