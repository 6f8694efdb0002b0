// The readiness gate on a whole embedded cluster under load: a kubelet that restarts as the real one does, a plugin
// that takes its time to register again, the real scheduler in between. Whole runs over many seeds.

#include "operands/readiness_gate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/json.h"
#include "kube/counting_door.h"
#include "kube/types/pod.h"
#include "sim/cluster.h"
#include "sim/controllers/control_loops.h"
#include "sim/kubelet/node_api.h"

namespace gpuop::e2e {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr const char* kNode = "gpu-1";
constexpr const char* kGpu = "nvidia.com/gpu";
constexpr std::int64_t kDevices = 8;

/// A node with eight GPUs: kubelet and device plugin as far as admission depends on them (kubelet 1.36,
/// pkg/kubelet/cm/devicemanager). A Pod that is admitted while its resource has no device is refused for good.
class GpuNode {
 public:
  GpuNode(sim::Cluster& cluster, sim::SharedCaches& caches, Log& log)
      : executor_(cluster.executor()), client_(cluster.door()), caches_(caches), log_(log), rng_(11) {
    caches.pods.OnChange([this](const kube::Change<kube::Pod>& c) { OnPod(c); });
  }

  void Register() {
    const json::object node{{"apiVersion", "v1"},
                            {"kind", "Node"},
                            {"metadata", {{"name", kNode}, {"labels", {{"kubernetes.io/hostname", kNode}}}}},
                            {"spec", json::object()}};
    ASSERT_TRUE(client_.Create(kube::Node::kResource, node));
    up_ = true;
    Report();
    Beat();
    RegisterPlugin(10ms);
  }

  /// The kubelet's process ends, and comes back after `down`; the plugin registers again `slow` after that.
  void RestartKubelet(Duration down, Duration slow) {
    up_ = false;
    SetLive(false);
    executor_.PostAfter(down, [this, slow] {
      up_ = true;
      known_.clear();
      Later(200ms, [this] { Report(); });
      // Pods from the API come a little after the device manager.
      Later(100ms, [this] { AdmitAll(); });
      RegisterPlugin(slow);
    });
  }

  void SetHealthy(std::int64_t healthy) {
    healthy_ = healthy;
    Tell();
  }

  std::function<void(operands::Advertised)> on_advertised;
  std::size_t admitted = 0, refused = 0;

 private:
  void Later(Duration after, std::function<void()> task) {
    executor_.PostAfter(after, [this, life = life_, task = std::move(task)] {
      if (up_ && life == life_) task();
    });
  }
  void RegisterPlugin(Duration slow) {
    Later(slow, [this] { SetLive(true); });
  }
  void SetLive(bool live) {
    if (!live) ++life_;
    live_ = live;
    Tell();
  }
  void Tell() {
    if (on_advertised) on_advertised({live_, {{kGpu, healthy_}}});
  }
  void Beat() {
    executor_.PostAfter(10s, [this] {
      if (up_) Report();
      Beat();
    });
  }
  void Report() {
    sim::RenewNodeLease(client_, caches_.nodes, log_, kNode, executor_.Wall());
    const std::string now = FormatTime(executor_.Wall());
    const json::object amounts{
        {"cpu", "64"}, {"memory", "256Gi"}, {"pods", "110"}, {kGpu, std::to_string(live_ ? healthy_ : 0)}};
    ASSERT_TRUE(sim::PatchNodeStatus(client_, kNode,
                                     {{"capacity", amounts},
                                      {"allocatable", amounts},
                                      {"conditions", json::array{{{"type", "Ready"},
                                                                  {"status", "True"},
                                                                  {"reason", "KubeletReady"},
                                                                  {"message", "kubelet is posting ready status"},
                                                                  {"lastHeartbeatTime", now},
                                                                  {"lastTransitionTime", now}}}}}));
  }
  void OnPod(const kube::Change<kube::Pod>& change) {
    if (change.any().spec.node_name != kNode) return;
    if (!change.now) {
      used_.erase(change.old->meta.uid);
      known_.erase(change.old->meta.uid);
      return;
    }
    if (up_) Admit(*change.now);
  }
  void AdmitAll() {
    for (const auto& pod : caches_.pods.List())
      if (pod->spec.node_name == kNode) Admit(*pod);
  }
  void Admit(const kube::Pod& pod) {
    if (pod.status.phase != "Pending" || !known_.insert(pod.meta.uid).second) return;
    const bool fits = live_ && static_cast<std::int64_t>(used_.size()) < healthy_;
    if (fits) used_.insert(pod.meta.uid);
    ++(fits ? admitted : refused);
    const json::object status = fits ? json::object{{"phase", "Running"}}
                                     : json::object{{"phase", "Failed"}, {"reason", "UnexpectedAdmissionError"}};
    ASSERT_TRUE(sim::PatchPodStatus(client_, pod, status));
    const std::string path = pod.meta.name;
    executor_.PostAfter(fits ? 3s + std::chrono::milliseconds(rng_.Below(7000)) : 1s, [this, pod] {
      used_.erase(pod.meta.uid);
      static_cast<void>(sim::LetPodGo(client_, pod));
    });
  }

  VirtualExecutor& executor_;
  kube::Client client_;
  sim::SharedCaches& caches_;
  Log& log_;
  Rng rng_;
  bool up_ = false, live_ = false;
  int life_ = 0;
  std::int64_t healthy_ = kDevices;
  std::set<std::string> known_, used_;
};

/// One run: load, a node, and (or not) a gate.
struct GateRun {
  GateRun(std::uint64_t seed, bool gated) : cluster(seed) {
    loops.emplace(cluster.control_plane(), log,
                  sim::ControlLoops::Options{.pools = {}, .timelines = {}, .root_certificate = "", .seed = seed});
    node.emplace(cluster, loops->caches(), log);
    if (gated) {
      counting.emplace(cluster.door());
      gate.emplace(operands::ReadinessGate::Parts{cluster.executor(), kube::Client(*counting), log}, kNode,
                   operands::ParseGateSettings("true", "true").value());
      node->on_advertised = [this](operands::Advertised a) { gate->Set(std::move(a)); };
    }
    loops->Start();
    cluster.RunFor(1s);
    node->Register();
    if (gate) gate->Start();
    cluster.RunFor(30s);
  }

  /// Pods that want one GPU each for `span`: more than the node has, so that one waits for every device.
  void Load(Duration span) {
    for (Duration at{}; at < span; at += 100ms) {
      if (loops->caches().pods.size() < 2 * static_cast<std::size_t>(kDevices))
        cluster.Call("POST", "/api/v1/namespaces/default/pods",
                     R"({"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"work-"},"spec":{"containers":)"
                     R"([{"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}})");
      cluster.RunFor(100ms);
    }
  }
  json::value Node() { return json::parse(cluster.Call("GET", std::string("/api/v1/nodes/") + kNode).body); }
  bool Tainted() {
    const data::Json node_now = Node();
    const auto* const taints = data::GetArray(node_now, "spec.taints");
    return taints != nullptr && std::ranges::any_of(*taints, [](const data::Json& t) {
             return data::StringOr(t, "key") == "gpu-operator.dev/not-ready";
           });
  }
  std::string Condition() {
    const data::Json node_now = Node();
    for (const data::Json& c : *data::GetArray(node_now, "status.conditions"))
      if (data::StringOr(c, "type") == operands::GateSettings::kCondition)
        return std::string(data::StringOr(c, "status")) + " " + std::string(data::StringOr(c, "reason"));
    return "none";
  }

  sim::Cluster cluster;
  FakeLog log;
  std::optional<sim::ControlLoops> loops;
  std::optional<GpuNode> node;
  std::optional<kube::CountingDoor> counting;
  std::optional<operands::ReadinessGate> gate;
};

/// Six restarts of the kubelet under load, the plugin slow to return.
void RestartUnderLoad(GateRun& run, std::uint64_t seed) {
  Rng rng(seed);
  for (int i = 0; i < 6; ++i) {
    run.Load(8s);
    run.cluster.RunFor(std::chrono::microseconds(1 + rng.Below(99'000)));
    run.node->RestartKubelet(std::chrono::milliseconds(300 + rng.Below(4000)),
                             std::chrono::milliseconds(10 + rng.Below(5000)));
    // What the plugin's write takes; a Pod that is placed in between is placed on a node that looks well.
    run.cluster.RunFor(1ms);
    run.Load(12s);
  }
}

TEST(ReadinessGateScenario, AKubeletThatRestartsUnderLoadRefusesNobodyBehindTheGate) {
  std::size_t refused_without = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    GateRun gated(seed, true);
    RestartUnderLoad(gated, seed);
    EXPECT_EQ(gated.node->refused, 0U) << "seed " << seed;
    EXPECT_GT(gated.node->admitted, 40U) << "seed " << seed;
    GateRun open(seed, false);
    RestartUnderLoad(open, seed);
    refused_without += open.node->refused;
  }
  // What the gate is for; were this zero, the test above would prove nothing.
  EXPECT_GT(refused_without, 0U);
}

TEST(ReadinessGateScenario, ASteadyNodeIsWrittenNothingAndItsConditionStays) {
  GateRun run(3, true);
  EXPECT_FALSE(run.Tainted());
  EXPECT_EQ(run.Condition(), "True DevicesAllocatable");
  const kube::CallScope calls(*run.counting);
  run.cluster.RunFor(4min);  // heartbeats of the kubelet
  EXPECT_EQ(calls.Writes(), 0U) << calls.ToString();
  EXPECT_EQ(run.Condition(), "True DevicesAllocatable");
}

TEST(ReadinessGateScenario, ADeviceThatFallsOutClosesTheGateUntilTheKubeletSaysSo) {
  GateRun run(4, true);
  run.node->SetHealthy(7);
  run.cluster.RunFor(1ms);
  EXPECT_TRUE(run.Tainted());
  EXPECT_EQ(run.Condition(), "False AllocatableDiffers");
  run.cluster.RunFor(11s);
  EXPECT_FALSE(run.Tainted());
  run.node->SetHealthy(0);
  run.cluster.RunFor(1min);
  EXPECT_TRUE(run.Tainted());
  EXPECT_EQ(run.Condition(), "False NoHealthyDevice");
}

TEST(ReadinessGateScenario, ATaintFromTheNodesRegistrationIsLiftedByTheGate) {
  GateRun run(5, true);
  // As kubelet --register-with-taints leaves it on a node that is new.
  run.node->RestartKubelet(1s, 10ms);
  run.cluster.Call("PATCH", std::string("/api/v1/nodes/") + kNode,
                   R"({"spec":{"taints":[{"key":"nvidia.com/gpu","value":"present","effect":"NoSchedule"},)"
                   R"({"key":"gpu-operator.dev/not-ready","effect":"NoSchedule"}]}})",
                   "application/merge-patch+json");
  run.cluster.RunFor(30s);
  EXPECT_FALSE(run.Tainted());
  const data::Json node = run.Node();
  EXPECT_EQ(data::GetArray(node, "spec.taints")->size(), 1U);
}

}  // namespace
}  // namespace gpuop::e2e
