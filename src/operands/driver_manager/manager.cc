#include "operands/driver_manager/manager.h"

#include <algorithm>
#include <condition_variable>

#include "base/mutex.h"
#include "base/text.h"
#include "kube/cache.h"
#include "kube/types/pod.h"
#include "operands/driver_manager/holders.h"
#include "operands/driver_manager/pause.h"
#include "operands/host/host_check.h"
#include "operands/host/host_driver.h"
#include "operands/node_event.h"

namespace gpuop::operands::driver_manager {
namespace {

constexpr const char* kDriverLabel = "nvidia.com/gpu.deploy.driver";
constexpr const char* kUpgradeAnnotation = "nvidia.com/gpu-driver-upgrade-enabled";
/// Says that the cordon is the manager's, also to the next one.
constexpr const char* kCordonAnnotation = "gpu-operator.dev/driver-manager-cordon";
constexpr const char* kRoot = "/run/nvidia/driver";
constexpr const char* kPidFile = "/run/nvidia/nvidia-driver.pid";
constexpr const char* kStateFile = "/run/nvidia/nvidia-driver.state";
constexpr const char* kClientLabel = "nvidia.com/gpu.deploy.client";
constexpr const char* kNetworkReady = "/run/mellanox/drivers/.driver-ready";
constexpr std::uint16_t kMellanox = 0x15b3;
constexpr Duration kOperandsLimit = std::chrono::minutes(5), kAskAgain = std::chrono::seconds(5);

std::unexpected<Error> Refuse(std::string why) { return Fail(Code::kUnavailable, std::move(why)); }

/// The Pods of one node, by watch.
class NodePods {
 public:
  NodePods(Executor& executor, const kube::Client& client, const std::string& node)
      : cache_(executor, client, {.field_selector = "spec.nodeName=" + node}) {
    cache_.OnChange([this](const kube::Change<kube::Pod>&) { Happened(); });
    cache_.OnSynced([this] { Happened(); });
    cache_.Start();
  }
  /// Waits until `done` of all Pods; false when it was not by `until`, or `stop` was asked for.
  template <class Done>
  bool WaitUntil(const Done& done, TimePoint until, const std::stop_token& stop) {
    for (;;) {
      const unsigned seen = Changes();
      if (cache_.HasSynced() && done(cache_.List())) return true;
      Lock l(mu_);
      if (!more_.wait_until(mu_, stop, until, [&]() REQUIRES(mu_) { return changes_ != seen; })) return false;
    }
  }

 private:
  void Happened() {
    Lock l(mu_);
    ++changes_;
    more_.notify_all();
  }
  unsigned Changes() {
    Lock l(mu_);
    return changes_;
  }

  Mutex mu_;
  std::condition_variable_any more_;
  unsigned changes_ GUARDED_BY(mu_) = 0;
  kube::Cache<kube::Pod> cache_;
};

}  // namespace

Result<> Manager::Label(const std::map<std::string, std::string>& labels) {
  if (labels.empty()) return {};
  data::JsonObject changes;
  for (const auto& [label, value] : labels) changes[label] = value;
  const data::JsonObject patch{{"metadata", data::JsonObject{{"labels", std::move(changes)}}}};
  TRY(with_.client.Patch(kube::Ref<kube::Node>(with_.options.node), kube::PatchType::kMerge, patch));
  return {};
}

Result<> Manager::UninstallDriver() {
  ASSIGN(const kube::Node node, with_.client.Get<kube::Node>(with_.options.node));
  Result<> done = Proceed(node);
  if (!done) Tell("DriverNotRemoved", done.error());
  auto resumed = Resume();
  if (!done) return done;
  TRY(std::move(resumed));
  // Last, when nobody is paused any longer: the kubelet asks again until it is there.
  auto network = CheckNetworkDriver();
  if (!network) Tell("NetworkDriverNotReady", network.error());
  return network;
}

Result<> Manager::Proceed(const kube::Node& node) {
  const bool loaded = host::ModuleLoaded(with_.host, "nvidia");
  const host::HostDriver own = host::FindHostDriver(with_.host);
  if (own.wsl || !own.smi.empty()) return RefuseHostDriver();
  if (!loaded) {
    with_.log.Info("no driver is loaded: nothing to unload");
    return MakeRoom();
  }
  const std::string state(Trim(with_.own.Read(kStateFile).value_or("")));
  if (!with_.options.force_reinstall && !with_.options.config_digest.empty() && state == with_.options.config_digest) {
    with_.log.Info("the driver that is wanted is loaded: modules and Pods stay");
    return CleanRoot();
  }
  return RemoveLoadedDriver(node);
}

Result<> Manager::RefuseHostDriver() {
  TRY(Label({{kDriverLabel, "pre-installed"}}));
  return Refuse("the host brings its own driver (" + std::string(kDriverLabel) +
                "=pre-installed is set): no driver container is needed here");
}

Result<> Manager::RemoveLoadedDriver(const kube::Node& node) {
  // Everything that can be refused is refused before anything is disturbed.
  const bool allowed = with_.options.evict_gpu_pods && node.meta.annotations.Get(kUpgradeAnnotation) != "true";
  ASSIGN(const auto pods, Pods({}, AsGpuPod));
  const EvictionPlan plan = PlanEviction(pods, allowed, with_.options);
  if (!plan.refusal.empty()) return Refuse(plan.refusal);
  TRY(Label(PlanPause(node.meta.labels, with_.options.custom_label)));
  TRY(WaitForOperands());
  TRY(Evict(plan.evict));
  auto held = CheckHolders();
  if (!held && with_.options.auto_drain && node.meta.annotations.Get(kUpgradeAnnotation) != "true") {
    with_.log.Warn("the node is drained", {{"reason", held.error().text}});
    TRY(Drain());
    held = CheckHolders();
  }
  TRY(std::move(held));
  for (const std::string& module : LoadedDriverModules(with_.host)) TRY(with_.kernel.UnloadModule(module));
  return MakeRoom();
}

/// What comes after the driver is gone, or was never there.
Result<> Manager::MakeRoom() {
  TRY(UnloadNouveau());
  TRY(TakeGpusBack());
  return CleanRoot();
}

Result<> Manager::Drain() {
  ASSIGN(const auto pods, Pods(with_.options.pod_selector, AsPod));
  const EvictionPlan plan = PlanEviction(pods, true, with_.options);
  if (!plan.refusal.empty()) return Refuse("the node cannot be drained: " + plan.refusal);
  return Evict(plan.evict);
}

Result<> Manager::TakeGpusBack() {
  for (const os::PciDevice& gpu : host::GpusOfVirtualMachines(with_.host)) {
    if (gpu.iommu_group) {
      const std::string node = "/dev/vfio/" + std::to_string(*gpu.iommu_group);
      if (const auto holders = FindHoldersOf(with_.host, node); !holders.empty())
        return Refuse("GPU " + gpu.address + " is in use by a virtual machine: " + holders.front().Words());
    }
    with_.log.Info("a GPU is taken back from virtual machines", {{"gpu", gpu.address}, {"driver", gpu.driver}});
    TRY(with_.kernel.UnbindDriver(gpu.address));
  }
  return {};
}

Result<> Manager::CheckNetworkDriver() {
  if (!with_.options.rdma) return {};
  const auto devices = os::ReadPciDevices(with_.host).value_or(std::vector<os::PciDevice>());
  if (std::ranges::find(devices, kMellanox, &os::PciDevice::vendor) == devices.end()) return {};
  if (with_.options.host_mofed) {
    if (host::ModuleLoaded(with_.host, "mlx5_core")) return {};
    return Refuse("the host's network driver is not loaded: no module mlx5_core (USE_HOST_MOFED=true)");
  }
  if (os::Exists(with_.host, kNetworkReady).value_or(false)) return {};
  return Refuse(std::string("the network driver's container is not ready: no ") + kNetworkReady);
}

Result<> Manager::UnloadNouveau() {
  if (!host::ModuleLoaded(with_.host, "nouveau")) return {};
  auto unloaded = with_.kernel.UnloadModule("nouveau");
  if (unloaded || unloaded.error().code != Code::kConflict) return unloaded;
  return Refuse(
      "NouveauInUse: the module nouveau is in use, as by a console; blacklist it (modprobe.blacklist=nouveau) and "
      "reboot");
}

Result<> Manager::WaitForOperands() {
  NodePods pods(with_.executor, with_.client, with_.options.node);
  std::string last;
  const bool gone = pods.WaitUntil(
      [&](const auto& all) {
        last.clear();
        for (const auto& pod : all) {
          const std::string_view app = pod->meta.labels.Get("app");
          const bool operand =
              pod->meta.ns == with_.options.ns && std::ranges::find(PausedApps(), app) != PausedApps().end();
          const kube::OwnerReference* const owner = pod->meta.Controller();
          const bool client =
              pod->spec.node_selector.contains(kClientLabel) && owner != nullptr && owner->kind == "DaemonSet";
          if (operand || client) last = pod->meta.Key();
        }
        return last.empty();
      },
      with_.executor.Now() + kOperandsLimit, with_.stop);
  if (gone) return {};
  if (with_.stop.stop_requested()) return Fail(Code::kCancelled, "stopped while operands were going");
  return Refuse("the Pod " + last + " did not go within 5 minutes, though its label is paused");
}

Result<std::vector<PodOnNode>> Manager::Pods(const std::string& label_selector, Taken taken) {
  std::vector<PodOnNode> out;
  TRY(with_.client.List(kube::ResourceOf<kube::Pod>(),
                        {.label_selector = label_selector, .field_selector = "spec.nodeName=" + with_.options.node},
                        [&](const data::JsonObject& object) -> Result<> {
                          if (auto pod = taken(object)) out.push_back(*std::move(pod));
                          return {};
                        }));
  return out;
}

Result<> Manager::Evict(const std::vector<PodOnNode>& pods) {
  if (pods.empty()) return {};
  const data::JsonObject cordon{
      {"metadata", data::JsonObject{{"annotations", data::JsonObject{{kCordonAnnotation, "true"}}}}},
      {"spec", data::JsonObject{{"unschedulable", true}}}};
  ASSIGN(const kube::Node node, with_.client.Get<kube::Node>(with_.options.node));
  if (!node.spec.unschedulable)
    TRY(with_.client.Patch(kube::Ref<kube::Node>(with_.options.node), kube::PatchType::kMerge, cordon));
  NodePods watched(with_.executor, with_.client, with_.options.node);
  const TimePoint end = with_.executor.Now() + with_.options.timeout;
  std::string left;
  const auto gone = [&](const auto& all) {
    left.clear();
    for (const PodOnNode& pod : pods)
      for (const auto& now : all)
        if (now->meta.uid == pod.uid && !now->finished()) left = pod.Called();
    return left.empty();
  };
  while (with_.executor.Now() < end && !with_.stop.stop_requested()) {
    bool refused = false;
    for (const PodOnNode& pod : pods) {
      auto evicted = with_.client.Evict(pod.ns, pod.name, {.uid = pod.uid});
      if (evicted || evicted.error().code == Code::kNotFound || evicted.error().code == Code::kConflict) continue;
      // A disruption budget says "not now", and nobody tells when it would say yes.
      if (evicted.error().code != Code::kTooManyRequests) return evicted;
      with_.log.Info("a disruption budget holds an eviction back", {{"pod", pod.Called()}});
      refused = true;
    }
    if (watched.WaitUntil(gone, refused ? std::min(end, with_.executor.Now() + kAskAgain) : end, with_.stop)) return {};
  }
  if (with_.stop.stop_requested()) return Fail(Code::kCancelled, "stopped while Pods were being evicted");
  return Refuse("the Pod " + left + " was asked to go and did not in time (DRAIN_TIMEOUT_SECONDS)");
}

Result<> Manager::CheckHolders() {
  std::string words;
  for (const Holder& holder : FindHolders(with_.host)) words += (words.empty() ? "" : "; ") + holder.Words();
  if (!words.empty())
    return Refuse(words + ". End it, or give its Pods the node selector nvidia.com/gpu.deploy.client=true");
  if (std::string used = ModulesInUse(with_.host); !used.empty()) return Refuse("the module " + used);
  return {};
}

Result<> Manager::CleanRoot() {
  TRY(with_.kernel.Unmount(kRoot));
  return os::RemoveIfThere(with_.own, kPidFile);
}

Result<> Manager::Resume() {
  // Also when the program is asked to stop: operands must not stay paused.
  const kube::Client client = with_.client.With({});
  ASSIGN(const kube::Node node, client.Get<kube::Node>(with_.options.node));
  data::JsonObject metadata, patch;
  data::JsonObject labels;
  for (const auto& [label, value] : PlanResume(node.meta.labels, with_.options.custom_label)) labels[label] = value;
  if (!labels.empty()) metadata["labels"] = std::move(labels);
  if (node.meta.annotations.contains(kCordonAnnotation)) {
    metadata["annotations"] = data::JsonObject{{kCordonAnnotation, nullptr}};
    patch["spec"] = data::JsonObject{{"unschedulable", nullptr}};
  }
  if (!metadata.empty()) patch["metadata"] = std::move(metadata);
  if (patch.empty()) return {};
  with_.log.Info("operands are resumed", {{"node", with_.options.node}});
  TRY(client.Patch(kube::Ref<kube::Node>(with_.options.node), kube::PatchType::kMerge, patch));
  return {};
}

void Manager::Tell(std::string_view reason, const Error& refusal) {
  with_.log.Error("no room for a driver yet", {{"code", std::string(reason)}, {"reason", refusal.text}});
  if (refusal.code != Code::kUnavailable) return;
  const kube::Client client = with_.client.With({});
  const auto node = client.Get<kube::Node>(with_.options.node);
  if (!node) return;
  const auto told =
      WriteNodeEvent(client, *node, {.reason = reason, .message = refusal.text, .program = "k8s-driver-manager"},
                     with_.executor.Wall());
  if (!told) with_.log.Warn("the Event cannot be written", {{"reason", told.error().text}});
}

}  // namespace gpuop::operands::driver_manager
