#pragma once
// Hollow kubelets: nodes without machines. They register, keep their leases, and run Pods by timelines.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "base/rng.h"
#include "kube/cache.h"
#include "kube/client.h"
#include "kube/types/node.h"
#include "sim/kubelet/hollow_node.h"
#include "sim/kubelet/pod_run.h"

namespace gpuop::sim {

/// All hollow nodes of a cluster, driven by one executor that runs one task at a time: no thread per node, one timer
/// for each node's lease and one for each Pod that has something before it. Not thread-safe.
class Kubelets {
 public:
  struct Parts {
    Executor& executor;
    kube::Client client;
    Log& log;
    kube::Cache<kube::Pod>& pods;
    kube::Cache<kube::Node>& nodes;
    std::uint64_t seed = 1;
  };

  /// Registers with the caches: make it before they start.
  Kubelets(Parts parts, std::vector<HollowPool> pools, std::vector<TimelineRule> rules = {});
  ~Kubelets();
  Kubelets(const Kubelets&) = delete;
  Kubelets& operator=(const Kubelets&) = delete;

  /// Registers the nodes and begins to beat.
  void Start();

  /// The node's link to the API server is cut (or mended): no lease, no status, no change of any Pod arrives.
  Result<> SetPartitioned(const std::string& node, bool cut);
  /// The machine restarts: a new boot ID, every container ends and starts again.
  Result<> Reboot(const std::string& node);
  /// A device plugin offers another amount of a resource; 0 leaves it at "0".
  Result<> SetCapacity(const std::string& node, const std::string& resource, const std::string& quantity);

  std::vector<std::string> Names() const;

  static constexpr Duration kLeaseRenewal = std::chrono::seconds(10);
  static constexpr Duration kStatusReport = std::chrono::minutes(5);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace gpuop::sim
