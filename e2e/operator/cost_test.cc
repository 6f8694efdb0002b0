// What the operator costs the API server.

#include <gtest/gtest.h>

#include <atomic>

#include "data/json.h"
#include "e2e/operator/bed.h"

namespace gpuop::e2e {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

TEST(CostTest, ASteadyClusterCostsNothing) {
  Bed bed({.pools = {GpuPool(3), CpuPool(2)}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.RunFor(30s);
  const kube::CallScope calls(bed.door());
  bed.RunFor(10min);
  EXPECT_EQ(calls.Writes(), 0U) << calls.ToString();
  // Watches end after some minutes and are opened anew; nothing is read.
  EXPECT_THAT(calls.ToString(), Not(HasSubstr("list")));
  EXPECT_THAT(calls.ToString(), Not(HasSubstr("get")));
}

class NodesCostTest : public testing::TestWithParam<int> {};
/// One write for each node, one for each object, a few for the status; none of them in vain.
TEST_P(NodesCostTest, ConvergingWritesEachThingOnce) {
  Bed bed({.pools = {GpuPool(GetParam())}});
  bed.RunFor(5s);
  const kube::CallScope calls(bed.door());
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady(10min)) << bed.Condition("Error");
  const auto nodes = static_cast<std::uint64_t>(GetParam());
  EXPECT_EQ(bed.door().Sent().at({"patch", "nodes"}), nodes);
  EXPECT_LE(calls.Writes(), nodes + 90) << calls.ToString();
  EXPECT_EQ(bed.Refused(), "");
  RecordProperty("calls", calls.ToString());
}
INSTANTIATE_TEST_SUITE_P(All, NodesCostTest, testing::Values(1, 10, 100));

TEST(CostTest, ALabelOnOneNodeCostsAtMostTwoCalls) {
  Bed bed({.pools = {GpuPool(10)}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.RunFor(30s);
  const kube::CallScope calls(bed.door());
  bed.SetLabel("gpu-3", "team", "a");
  bed.RunFor(10s);
  EXPECT_EQ(calls.ToString(), "");
  bed.RemoveLabel("gpu-3", "nvidia.com/gpu.deploy.client");
  ASSERT_TRUE(bed.Until([&] { return !bed.Label("gpu-3", "nvidia.com/gpu.deploy.client").empty(); }));
  bed.RunFor(10s);
  EXPECT_EQ(calls.ToString(), "1 patch nodes");
}

/// Its Pod is told of: the policy waits for it, and is ready again.
TEST(CostTest, ALabelThatBringsAnOperandCostsItselfAndWhatThePolicySays) {
  Bed bed({.pools = {GpuPool(10)}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.RunFor(30s);
  const kube::CallScope calls(bed.door());
  bed.SetLabel("gpu-3", "nvidia.com/mig.capable", "true");
  ASSERT_TRUE(bed.Until(
      [&] { return data::IntOr(bed.DaemonSet("nvidia-mig-manager"), "status.numberAvailable") == 1 && bed.Ready(); }));
  bed.RunFor(30s);
  EXPECT_EQ(calls.Reads(), 0U) << calls.ToString();
  EXPECT_THAT(calls.ToString(), HasSubstr("1 patch nodes"));
  EXPECT_LE(calls.Writes(), 4U) << calls.ToString();
}

/// Kubelets and others write a node between the moment it was read and the moment its labels arrive.
TEST(CostTest, NothingThatOthersWriteMeanwhileRefusesANodesLabels) {
  std::atomic<int> written = 0;
  Bed bed({.pools = {GpuPool(3)}, .before = [&written](Bed& bed, const kube::ApiRequest& request) {
             if (request.method != "PATCH" || !request.path.starts_with("/api/v1/nodes/")) return;
             bed.Patch(request.path, R"({"status":{"capacity":{"example.com/widget":"4"}}})", true);
             bed.Patch(request.path,
                       R"({"metadata":{"labels":{"team":"a"},"annotations":{"example.com/seen":"yes"}}})");
             ++written;
           }});
  // As every kubelet's node has one.
  for (const char* node : {"gpu-0", "gpu-1", "gpu-2"})
    bed.Patch(std::string("/api/v1/nodes/") + node, R"({"metadata":{"annotations":{"example.com/first":"yes"}}})");
  bed.RunFor(2s);
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  EXPECT_EQ(written, 3);
  EXPECT_EQ(bed.Refused(), "");
  EXPECT_EQ(bed.Label("gpu-1", "team"), "a");
}

TEST(CostTest, PodsThatStayPendingCostNothing) {
  Bed bed({.pools = {GpuPool(2)}, .timelines = {Pods("nvidia-driver-*", "waiting", "ErrImagePull")}});
  bed.Apply(DefaultPolicy());
  bed.RunFor(2min);
  ASSERT_EQ(bed.State(), "notReady");
  const kube::CallScope calls(bed.door());
  bed.RunFor(5min);
  EXPECT_EQ(calls.Writes(), 0U) << calls.ToString();
}

TEST(CostTest, ARestartWritesNothing) {
  Bed bed({.pools = {GpuPool(3)}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.RunFor(30s);
  const kube::CallScope calls(bed.door());
  bed.StartOperator();
  bed.RunFor(1min);
  EXPECT_EQ(calls.Writes(), 0U) << calls.ToString();
  EXPECT_TRUE(bed.Ready());
}

TEST(CostTest, TheNextLeaderActsWithinASecondOfAFarewell) {
  Bed bed({.start = false});
  auto first = bed.MakeOperator({.identity = "first"});
  first->Start();
  bed.RunFor(5s);
  auto second = bed.MakeOperator({.identity = "second"});
  second->Start();
  bed.RunFor(10s);
  ASSERT_TRUE(first->Leads());
  ASSERT_FALSE(second->Leads());
  bool stopped = false;
  first->Stop([&stopped] { stopped = true; });
  bed.Apply(DefaultPolicy());
  // The virtual clock tells that no lease had to run out; a machine's own says only that it goes on.
  const Duration limit = OnRealControlPlane() ? Duration(1min) : Duration(4s);
  EXPECT_TRUE(bed.Until([&] { return stopped && second->Leads() && bed.DaemonSets().size() == 8; }, limit));
  first.reset();
  second.reset();
}

TEST(CostTest, AHealthyOperatorHasNoAilmentAndADeafOneHas) {
  GPUOP_EMBEDDED_ONLY("refuses requests");
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.RunFor(20min);
  EXPECT_THAT(bed.op().Ailments(), testing::IsEmpty());
  sim::FaultRule deaf;
  deaf.verb = "watch", deaf.code = 500;
  bed.faults().Add(deaf);
  sim::FaultRule mute;
  mute.verb = "list", mute.code = 500;
  bed.faults().Add(mute);
  bed.RunFor(30min);
  EXPECT_THAT(bed.op().Ailments(), testing::Not(testing::IsEmpty()));
}

}  // namespace
}  // namespace gpuop::e2e
