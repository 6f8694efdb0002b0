#pragma once
// Everything that runs beside the API server, wired: controllers, scheduler, hollow kubelets.

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "sim/cluster.h"
#include "sim/controllers/shared_caches.h"
#include "sim/kubelet/kubelets.h"

namespace gpuop::sim {

/// The loops of one cluster. They are clients like any other: each through a door of its own, so that faults strike
/// them too. Runs on the control plane's executor, one task at a time; with a VirtualExecutor a run is a function of
/// its seed.
class ControlLoops {
 public:
  struct Options {
    std::vector<HollowPool> pools;
    std::vector<TimelineRule> timelines;
    /// What ConfigMap kube-root-ca.crt holds in every namespace (PEM; empty when the API is served without TLS).
    std::string root_certificate;
    std::uint64_t seed = 1;
  };

  /// `plane` and `log` outlive it.
  ControlLoops(ControlPlane& plane, Log& log, Options options);
  ~ControlLoops();
  ControlLoops(const ControlLoops&) = delete;
  ControlLoops& operator=(const ControlLoops&) = delete;

  void Start();

  Kubelets& kubelets();
  const SharedCaches& caches() const;
  SharedCaches& caches();

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace gpuop::sim
