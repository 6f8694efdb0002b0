#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "api/chain.h"
#include "base/executor.h"
#include "base/log.h"
#include "data/json.h"
#include "kube/client.h"
#include "kube/types/pod.h"
#include "operands/validator/options.h"

namespace gpuop::operands::validator {

/// The two Pods that prove something (toolkit-cdi-validator-driver.md §5.4).
enum class Workload {
  kCuda,    ///< privileged, all GPUs, asks for no resource: it takes no GPU from anybody
  kPlugin,  ///< asks for one GPU
};

/// What a workload Pod is made from.
struct WorkloadPlan {
  Workload workload = Workload::kCuda;
  const Options& options;
  /// The DaemonSet of the validator, whole: its tolerations are the Pod's, and with it the Pod goes.
  const data::JsonObject& daemon_set;
  /// "nvidia.com/gpu", for kPlugin.
  std::string resource = {};
};
/// The Pod: bound to the node, so that no scheduler sees it and no autoscaler counts it; one attempt, one container.
data::JsonObject MakeWorkloadPod(const WorkloadPlan& plan);

/// How far a workload Pod is.
struct PodVerdict {
  /// It is over; `finding` is kProved or what broke.
  bool over = false;
  /// Until then: what it waits for, kProved while nothing is wrong.
  api::Finding finding;
};
/// What a Pod's status tells. `complaint`, the kubelet's last Warning about it, may be empty.
PodVerdict Judge(const kube::Pod& pod, const std::string& complaint);

/// Which link a container engine's complaint belongs to.
api::Finding FindingOfEngine(std::string_view words);

/// Makes workload Pods and waits for what becomes of them, by watches.
class WorkloadRunner {
 public:
  /// What is passed in outlives the runner.
  WorkloadRunner(kube::Client client, Executor& executor, const Options& options, Log& log)
      : client_(std::move(client)), executor_(executor), options_(options), log_(log) {}

  /// Deletes earlier Pods of its kind on this node, makes one and waits, at most `limit`, until it is over. Told of a
  /// hindrance (`on_trouble`) as soon as the Pod shows one. Errors are the API's.
  Result<api::Finding> Run(Workload workload, const std::string& resource, Duration limit,
                           const std::function<void(const api::Finding&)>& on_trouble, const std::stop_token& stop);

 private:
  Result<> DeleteEarlier(std::string_view app);

  const kube::Client client_;
  Executor& executor_;
  const Options& options_;
  Log& log_;
};

}  // namespace gpuop::operands::validator
