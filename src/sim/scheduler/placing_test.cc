// Every message here was printed by kube-scheduler 1.36 for the same nodes and pods.
#include <gtest/gtest.h>

#include "sim/scheduler/node_cache.h"

namespace gpuop::sim {
namespace {

/// Three nodes of 4 CPUs and 8 GiB; n1 and n2 are labelled gpu=true.
NodeCache ThreeNodes() {
  NodeCache cache;
  for (const char* name : {"n1", "n2", "n3"}) {
    NodeInfo node;
    node.name = name;
    node.labels = {{"kubernetes.io/hostname", name}, {"ctl", "true"}};
    if (node.name != "n3") node.labels.Set("gpu", "true");
    node.allocatable = {{"cpu", 4000}, {"memory", std::int64_t{8} << 30U}, {"pods", 110}};
    cache.SetNode(std::move(node));
  }
  return cache;
}

/// The same with a taint on n1 and n2 cordoned.
NodeCache OneFreeNode() {
  NodeCache cache = ThreeNodes();
  NodeInfo n1 = cache.nodes().at("n1");
  n1.taints = {{"k", "v", "NoSchedule", {}}};
  cache.SetNode(n1);
  NodeInfo n2 = cache.nodes().at("n2");
  n2.unschedulable = true;
  n2.taints = {{"node.kubernetes.io/unschedulable", "", "NoSchedule", {}}};
  cache.SetNode(n2);
  return cache;
}

PodInfo Pod(std::string name, Amounts requests = {}) {
  PodInfo pod;
  pod.ns = "default";
  pod.name = std::move(name);
  pod.requests = std::move(requests);
  return pod;
}

void Place(NodeCache& cache, PodInfo pod, const std::string& node) {
  pod.node = node;
  cache.SetPod(std::make_shared<const PodInfo>(std::move(pod)));
}

std::string Outcome(NodeCache& cache, const PodInfo& pod) {
  const auto chosen = cache.Choose(pod);
  return chosen ? "on " + *chosen : chosen.error().message;
}

Affinity OnlyOn(std::string_view node) {
  Affinity a;
  a.node.required = NodeTerms{{NodeTerm{.labels = {}, .fields = {{"metadata.name", "In", {Interned(node)}}}}}};
  return a;
}

PodTerm Near(std::string_view key, std::string_view label, std::string_view value) {
  return {.topology_key = key,
          .selector = kube::LabelSelector{{{label, value}}, {}},
          .namespaces = {},
          .namespace_selector = {}};
}

constexpr std::string_view kNoPreemption =
    "no new claims to deallocate, preemption: 0/3 nodes are available: "
    "3 Preemption is not helpful for scheduling.";

TEST(PlacingTest, AResourceThatNoNodeHas) {
  NodeCache cache = ThreeNodes();
  EXPECT_EQ(Outcome(cache, Pod("big", {{"nvidia.com/gpu", 8}})),
            "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. " + std::string(kNoPreemption));
}

TEST(PlacingTest, TaintCordonAndResourceAreCountedApart) {
  NodeCache cache = OneFreeNode();
  EXPECT_EQ(Outcome(cache, Pod("t1", {{"nvidia.com/gpu", 1}})),
            "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint(s), "
            "1 node(s) were unschedulable. " +
                std::string(kNoPreemption));
}

TEST(PlacingTest, SeveralResourcesOfOneNodeAreAllNamed) {
  NodeCache cache = OneFreeNode();
  PodInfo pod = Pod("t16", {{"cpu", 9000}, {"memory", std::int64_t{100} << 30U}});
  pod.tolerations = {{"", "Exists", "", "", {}}};
  EXPECT_EQ(Outcome(cache, pod),
            "0/3 nodes are available: 3 Insufficient cpu, 3 Insufficient memory. " + std::string(kNoPreemption));
}

TEST(PlacingTest, ASelectorThatNothingMatches) {
  NodeCache cache = OneFreeNode();
  PodInfo pod = Pod("t3");
  pod.node_selector = {{"no", "such"}};
  EXPECT_EQ(Outcome(cache, pod),
            "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated "
            "taint(s), 1 node(s) were unschedulable. " +
                std::string(kNoPreemption));
}

TEST(PlacingTest, ANodeNamedByAffinityLeavesTheOthersOut) {
  NodeCache cache = OneFreeNode();
  PodInfo pod = Pod("t12");
  pod.affinity = OnlyOn("n1");
  EXPECT_EQ(Outcome(cache, pod),
            "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't satisfy plugin(s) "
            "[NodeAffinity]. " +
                std::string(kNoPreemption));
  pod.affinity = OnlyOn("nope");
  EXPECT_EQ(Outcome(cache, pod), "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity]. " +
                                     std::string(kNoPreemption));
  pod.affinity = OnlyOn("n3");
  EXPECT_EQ(Outcome(cache, pod), "on n3");
}

TEST(PlacingTest, AHostPortInUse) {
  NodeCache cache = OneFreeNode();
  PodInfo pod = Pod("t9");
  pod.ports = {{"", "TCP", 80}};
  EXPECT_EQ(Outcome(cache, pod), "on n3");
  Place(cache, pod, "n3");
  pod.name = "t10";
  EXPECT_EQ(
      Outcome(cache, pod),
      "0/3 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 1 node(s) had "
      "untolerated taint(s), 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/3 nodes are "
      "available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.");
  pod.ports = {{"10.0.0.1", "UDP", 80}};
  EXPECT_EQ(Outcome(cache, pod), "on n3");
}

TEST(PlacingTest, FullNodesCouldBeFreedByPreemptionUnlessThePodForbidsIt) {
  NodeCache cache = ThreeNodes();
  for (const char* node : {"n1", "n2", "n3"}) Place(cache, Pod("on-" + std::string(node), {{"cpu", 3000}}), node);
  PodInfo pod = Pod("u5", {{"cpu", 3000}});
  EXPECT_EQ(Outcome(cache, pod),
            "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are "
            "available: 3 No preemption victims found for incoming pod.");
  pod.never_preempts = true;
  EXPECT_EQ(Outcome(cache, pod),
            "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to "
            "preemptionPolicy=Never.");
}

TEST(PlacingTest, PodAffinityNeedsAPodNearBy) {
  NodeCache cache = OneFreeNode();
  PodInfo pod = Pod("t6");
  pod.affinity.pods.required = {Near("kubernetes.io/hostname", "no", "such")};
  EXPECT_EQ(Outcome(cache, pod),
            "0/3 nodes are available: 1 node(s) didn't match pod affinity rules, 1 node(s) had untolerated taint(s), "
            "1 node(s) were unschedulable. " +
                std::string(kNoPreemption));
  pod.labels = {{"no", "such"}};  // the first of its own kind
  EXPECT_EQ(Outcome(cache, pod), "on n3");
}

TEST(PlacingTest, AntiAffinityHoldsInBothDirections) {
  NodeCache cache = ThreeNodes();
  PodInfo loner = Pod("u6");
  loner.affinity.anti.required = {Near("ctl", "u", "u7")};
  Place(cache, loner, "n3");
  PodInfo pod = Pod("u7");
  pod.labels = {{"u", "u7"}};
  EXPECT_EQ(Outcome(cache, pod),
            "0/3 nodes are available: 3 node(s) didn't satisfy existing pods anti-affinity rules. no new claims to "
            "deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.");
  cache.RemovePod("default/u6");
  EXPECT_EQ(Outcome(cache, pod).substr(0, 3), "on ");
}

TEST(PlacingTest, SpreadConstraintsKeepDomainsEven) {
  NodeCache cache = ThreeNodes();
  PodInfo pod = Pod("s");
  pod.labels = {{"app", "web"}};
  SpreadConstraint spread;
  spread.topology_key = "kubernetes.io/hostname";
  spread.when_unsatisfiable = "DoNotSchedule";
  spread.selector = kube::LabelSelector{{{"app", "web"}}, {}};
  pod.spread = {spread};
  std::set<std::string> used;
  for (int i = 0; i < 3; ++i) {
    pod.name = "s" + std::to_string(i);
    const auto node = cache.Choose(pod);
    ASSERT_TRUE(node);
    used.insert(*node);
    Place(cache, pod, *node);
  }
  EXPECT_EQ(used.size(), 3U);
  pod.spread[0].topology_key = "zone";
  EXPECT_EQ(
      Outcome(cache, pod),
      "0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints (missing required label). " +
          std::string(kNoPreemption));
}

TEST(PlacingTest, WithoutNodesItSaysSo) {
  NodeCache cache;
  EXPECT_EQ(Outcome(cache, Pod("p")), "no nodes available to schedule pods");
}

TEST(PlacingTest, EqualNodesAreTakenInTurnByLoadThenName) {
  NodeCache cache = ThreeNodes();
  std::string order;
  for (int i = 0; i < 4; ++i) {
    PodInfo pod = Pod("p" + std::to_string(i), {{"cpu", 100}});
    const std::string node = cache.Choose(pod).value();
    order += node + " ";
    Place(cache, pod, node);
  }
  EXPECT_EQ(order, "n1 n2 n3 n1 ");
}

TEST(PlacingTest, APreferNoScheduleTaintIsAvoidedNotForbidden) {
  NodeCache cache = ThreeNodes();
  for (const char* name : {"n1", "n2"}) {
    NodeInfo node = cache.nodes().at(name);
    node.taints = {{"soft", "", "PreferNoSchedule", {}}};
    cache.SetNode(node);
  }
  EXPECT_EQ(Outcome(cache, Pod("p")), "on n3");
  cache.RemoveNode("n3");
  EXPECT_EQ(Outcome(cache, Pod("p")), "on n1");
}

TEST(PodRequestsTest, SidecarsAddUpAndInitialisationCountsByItsPeak) {
  const ContainerRequest sidecar{.requests = {{"cpu", 100}}, .restartable = true};
  const ContainerRequest init{.requests = {{"cpu", 500}, {"memory", 10}}, .restartable = false};
  const ContainerRequest main{.requests = {{"cpu", 300}, {"memory", 50}}, .restartable = false};
  EXPECT_EQ(PodRequests({sidecar, init}, {main}, {{"cpu", 20}}), (Amounts{{"cpu", 620}, {"memory", 50}}));
  EXPECT_EQ(PodRequests({init, sidecar}, {main, main}, {}), (Amounts{{"cpu", 700}, {"memory", 100}}));
}

}  // namespace
}  // namespace gpuop::sim
