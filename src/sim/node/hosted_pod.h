#pragma once
// A Pod that a machine has taken, and what its kubelet remembers of it.

#include <memory>
#include <optional>
#include <string>

#include "sim/node/engine/messages.h"
#include "sim/node/pod/pod_life.h"
#include "sim/node/pod/pod_wish.h"
#include "sim/node/prober.h"
#include "sim/scheduler/pod_info.h"

namespace gpuop::sim::node {

/// One container's process and what waits for it.
struct HostedContainer {
  std::string id;       ///< of the process now running, or of the last
  ProcessSpec process;  ///< what processes beside it are like
  int attempt = 0;
  int pull_failures = 0;
  std::string pull_error;
  std::uint64_t stop = 0;                       ///< counts orders to stop: a newer one makes timers of older ones void
  bool terminating = false, signalled = false;  ///< is to end; has had its SIGTERM
  std::vector<std::shared_ptr<ProbeRun>> probes;
};

struct HostedPod {
  enum class Stage : std::uint8_t {
    kQueued,     ///< waits to be admitted
    kPreparing,  ///< volumes and namespaces are being made
    kReady,      ///< containers may start
    kOver,       ///< refused, or ended and cleaned up
  };

  std::string key, uid, ip;
  Stage stage = Stage::kQueued;
  PodInfoPtr info;
  PodWish wish;
  std::optional<PodLife> life;  ///< refers to `wish`
  std::map<std::string, HostedContainer> containers;
  std::shared_ptr<void> api;  ///< the API server's door in the Pod's network
  std::string handler;        ///< of its RuntimeClass
  int failures = 0;           ///< of preparing, in a row
  std::uint64_t volume_version = 0;
  std::string written;  ///< the status as last written
  std::int64_t version = 0;
  std::optional<TimePoint> timer;
  std::uint64_t boot = 0;  ///< in which life of the machine its namespaces were made
  bool ending = false;     ///< its deletion's end is under way
};
using HostedPodPtr = std::shared_ptr<HostedPod>;

}  // namespace gpuop::sim::node
