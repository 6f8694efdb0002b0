#pragma once
// Gives every pending Pod a node, as kube-scheduler's default profile does (without preemption).

#include <memory>

#include "base/executor.h"
#include "base/log.h"
#include "kube/cache.h"
#include "kube/client.h"
#include "kube/types/node.h"
#include "kube/types/pod.h"
#include "sim/controllers/event_writer.h"
#include "sim/scheduler/node_cache.h"
#include "sim/scheduler/queue.h"

namespace gpuop::sim {

/// Runs on one thread: the caches' handlers and its own tasks all come from `executor`, which must not run two at once.
class Scheduler {
 public:
  struct Parts {
    Executor& executor;
    kube::Client client;
    Log& log;
    kube::Cache<kube::Pod>& pods;
    kube::Cache<kube::Node>& nodes;
    EventWriter& events;
  };

  /// Registers with the caches: make it before they start.
  explicit Scheduler(Parts parts);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  static constexpr std::string_view kName = "default-scheduler";

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace gpuop::sim
