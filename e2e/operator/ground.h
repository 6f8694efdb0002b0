#pragma once
// What a Bed stands on: the embedded cluster on a virtual clock, or a real control plane with hollow nodes.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/log.h"
#include "kube/door.h"
#include "sim/faults.h"
#include "sim/kubelet/kubelets.h"

namespace gpuop::e2e {

/// Whether scenarios run on a real control plane: GPUOP_KUBECONFIG names the file of its administrator. All that is in
/// it may be deleted.
bool OnRealControlPlane();

class Ground {
 public:
  virtual ~Ground() = default;

  /// One request as the administrator, past faults.
  virtual kube::ApiResponse Call(const std::string& method, const std::string& path, const std::string& body = {},
                                 const std::string& content_type = "application/json") = 0;
  /// What the operator runs on.
  virtual Executor& executor() = 0;
  /// Lets `span` of the executor's time pass, and all that happens in it happen.
  virtual void RunFor(Duration span) = 0;
  /// The way of a service account to the API, as its Pod has it.
  virtual std::unique_ptr<kube::Door> DoorFor(const std::string& ns, const std::string& account) = 0;
  /// Once, when there are no nodes yet.
  virtual void StartNodes(std::vector<sim::HollowPool> pools, std::vector<sim::TimelineRule> timelines) = 0;
  /// Calls `what` where the kubelets run, and waits for it.
  virtual void WithKubelets(const std::function<void(sim::Kubelets&)>& what) = 0;
  /// Null where none can be injected.
  virtual sim::Faults* faults() = 0;
};

std::unique_ptr<Ground> MakeEmbeddedGround(std::uint64_t seed, Log& log);
/// Cleans up what an earlier one left, and after itself.
std::unique_ptr<Ground> MakeRealGround(const std::string& kubeconfig, Log& log);

}  // namespace gpuop::e2e
