#pragma once
// The inside of a MachineNode; for its own files.

#include <deque>
#include <map>
#include <set>
#include <string>

#include "os/real_fs.h"
#include "sim/kubelet/admission.h"
#include "sim/node/devices/device_manager.h"
#include "sim/node/engine/engine.h"
#include "sim/node/host_runtime.h"
#include "sim/node/hosted_pod.h"
#include "sim/node/machine_node.h"
#include "sim/node/pod/pod_folder.h"

namespace gpuop::sim::node {

/// What of a machine the workers use: they may outlast a power loss, so it is shared.
struct PoweredOn {
  std::unique_ptr<os::RealFs> host;  ///< the machine's root, with all that is mounted on it
  Mutex mu;
  std::unique_ptr<HostRuntime> runtime GUARDED_BY(mu);
};

struct MachineNode::State : std::enable_shared_from_this<State> {
  State(Parts p, MachineOptions o);

  // machine_node.cc: the machine and its Node.
  void PowerOn();
  void OnUp(Result<os::Fd> api);
  std::shared_ptr<void> ServeApi(os::Fd listening);
  void OnDown();
  void StartEngine();
  void OnEngineExit(const std::string& id);
  void ReadEngineConfig();
  void StartDevices();
  void Register();
  void ReportStatus();
  boost::json::object NodeStatus() const;
  void Beat();
  void OnNode(const kube::Change<kube::Node>& change);
  void TellDevicesOfPods();
  /// Runs `work` on a worker and `then` with its result here, unless this has gone.
  template <class T>
  void Off(std::function<T()> work, std::function<void(T)> then) {
    parts.workers.Post([weak = weak_from_this(), &executor = parts.executor, work = std::move(work),
                        then = std::move(then)]() mutable {
      executor.Post([weak, result = work(), then = std::move(then)]() mutable {
        if (const auto self = weak.lock()) then(std::move(result));
      });
    });
  }
  void After(Duration delay, std::function<void()> then) {
    parts.executor.PostAfter(delay, [weak = weak_from_this(), then = std::move(then)] {
      if (const auto self = weak.lock()) then();
    });
  }

  // machine_pods.cc: a Pod from its binding to its end.
  void OnPod(const kube::Change<kube::Pod>& change);
  void Take(const kube::Pod& pod);
  void Queue(HostedPodPtr pod);
  void AdmitNext();
  void Admit(const HostedPodPtr& pod);
  void OnAllocated(const HostedPodPtr& pod, const Result<>& how);
  std::optional<Refusal> Refused(const HostedPod& pod) const;
  void Prepare(const HostedPodPtr& pod);
  void OnFiles(const HostedPodPtr& pod, const Result<>& how);
  void MakeSandbox(const HostedPodPtr& pod);
  void OnSandbox(const HostedPodPtr& pod, Result<EngineAnswer> answer);
  void PrepareLater(const HostedPodPtr& pod);
  void UpdateVolumes(const HostedPodPtr& pod);
  void Step(const HostedPodPtr& pod);
  void SetTimer(const HostedPodPtr& pod, WallTime at);
  bool WriteStatus(HostedPod& pod);
  void CleanUp(const HostedPodPtr& pod);
  void Finish(const HostedPodPtr& pod);
  void Drop(const HostedPodPtr& pod);
  Result<PodFiles> PlanFiles(const HostedPod& pod);
  Sources SourcesFor(const HostedPod& pod);
  PodFacts FactsFor(const HostedPod& pod) const;
  std::string HandlerOf(const HostedPod& pod, Result<>& how);
  HostedPodPtr Find(std::string_view key) const;
  bool Alive(const HostedPodPtr& pod) const;

  // machine_containers.cc: one container.
  void StartContainer(const HostedPodPtr& pod, const std::string& name, int attempt);
  bool Pull(const HostedPodPtr& pod, const std::string& name, Pulled& image);
  void OnCompleted(const HostedPodPtr& pod, const std::string& name, const Pulled& pulled, Result<ContainerSpec> spec);
  void OnStarted(const HostedPodPtr& pod, const std::string& name, const std::string& image, const std::string& id,
                 Result<EngineAnswer> answer);
  void NotStarted(const HostedPodPtr& pod, const std::string& name, std::string reason, std::string message,
                  bool tell = true);
  void StopContainer(const HostedPodPtr& pod, const Order& order);
  void Terminate(const HostedPodPtr& pod, const std::string& name, Duration grace);
  void Signal(const std::string& id, int signal);
  void OnExit(const std::string& id, int status, const std::string& output);
  std::string LastWords(const HostedPod& pod, const std::string& container, bool failed) const;
  void Tell(const HostedPod& pod, const std::string& container, std::string_view type, std::string_view reason,
            std::string message);

  // machine_probes.cc: probes, hooks, processes beside.
  void StartProbes(const HostedPodPtr& pod, const std::string& name);
  void ProbeLater(const HostedPodPtr& pod, const std::string& name, const std::shared_ptr<ProbeRun>& run,
                  Duration delay);
  void OnProbe(const HostedPodPtr& pod, const std::string& name, const std::shared_ptr<ProbeRun>& run,
               ProbeAnswer answer);
  void Act(const HostedPodPtr& pod, const std::string& name, const Action& action, Duration limit,
           std::function<void(ProbeAnswer)> done);
  void ActExec(const HostedPodPtr& pod, const std::string& name, const ExecAction& action, Duration limit,
               std::function<void(ProbeAnswer)> done);
  void Exec(ExecWish wish, std::function<void(Result<ExecStart>)> started, std::function<void(int)> ended);
  /// How a process beside a container ended, as wait(2) has it, and what of its output was kept.
  using Ended = std::function<void(int status, const std::string& output)>;
  /// Starts one; the answer is its id, or empty when it could not even be asked for.
  std::string AskExec(const HostedPod& pod, const std::string& name, EngineRequest request, const std::vector<int>& fds,
                      std::function<void(Result<EngineAnswer>)> started, Ended ended);

  Parts parts;
  MachineOptions options;
  Rng rng;
  HollowNode node;
  std::unique_ptr<Engine> engine;
  std::shared_ptr<PoweredOn> on;
  /// Shared with the calls that workers make of it.
  std::shared_ptr<DeviceManager> devices;
  void CloseDevices() {
    if (devices) devices->Close();
    devices.reset();
  }
  std::shared_ptr<void> host_api;
  std::string engine_trouble;  ///< why the container engine does not start; empty: it does
  std::uint64_t boot = 0;
  bool up = false, registered = false, cut = false, reporting = false, admitting = false;
  WallTime ready_since{};
  TimePoint reported{};
  std::size_t addresses = 0;
  std::map<std::string, HostedPodPtr, std::less<>> pods;  ///< by key
  std::deque<HostedPodPtr> queue;                         ///< to be admitted, in order
  /// What runs on the machine: a container's process, by Pod and name.
  std::map<std::string, std::pair<HostedPodPtr, std::string>> processes;
  std::map<std::string, Ended> neighbours;
  /// Whom to tell when a process ends, by its id.
  std::multimap<std::string, std::function<void()>> listeners;
  void TellListeners(const std::string& id) {
    const auto [begin, end] = listeners.equal_range(id);
    std::vector<std::function<void()>> told;
    for (auto it = begin; it != end; ++it) told.push_back(std::move(it->second));
    listeners.erase(begin, end);
    for (const auto& tell : told) tell();
  }
  void ForgetProcesses() {
    processes.clear();
    neighbours.clear();
    for (const auto& [id, tell] : std::exchange(listeners, {})) tell();
  }
  std::set<std::string> pulled;  ///< images that the machine has
};

}  // namespace gpuop::sim::node
