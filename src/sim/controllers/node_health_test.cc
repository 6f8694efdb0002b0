#include "sim/controllers/node_health.h"

#include <gtest/gtest.h>

#include "sim/controllers/plan_objects_test.h"

namespace gpuop::sim {
namespace {

using std::chrono::seconds;

TEST(NodeHealthTest, ASilentNodeIsUnknownAndUnreachable) {
  kube::Node node = *Node("n1");
  kube::Condition ready;
  ready.type = "Ready";
  ready.status = "True";
  node.status.conditions = {ready};
  EXPECT_FALSE(ConditionsAfterSilence(node, seconds(49), kNow));
  const auto conditions = ConditionsAfterSilence(node, seconds(50), kNow);
  ASSERT_TRUE(conditions);
  EXPECT_EQ(conditions->at(0).reason, "NodeStatusUnknown");
  EXPECT_EQ(conditions->at(1).reason, "NodeStatusNeverUpdated");
  node.status.conditions = *conditions;
  const auto taints = TaintsFor(node, kNow);
  ASSERT_EQ(taints->size(), 2U);
  EXPECT_EQ(taints->at(1).key, "node.kubernetes.io/unreachable");
  EXPECT_EQ(taints->at(1).effect, "NoExecute");
}

TEST(NodeHealthTest, TaintsOfOthersStayAndOursGoWithTheirCause) {
  kube::Node node =
      *Node("n1", {{"mine", "", "NoExecute", {}}, {"node.kubernetes.io/unschedulable", "", "NoSchedule", {}}});
  const auto taints = TaintsFor(node, kNow);
  ASSERT_EQ(taints->size(), 1U);
  EXPECT_EQ(taints->at(0).key, "mine");
  node.spec.unschedulable = true;
  EXPECT_FALSE(TaintsFor(node, kNow));
}

TEST(NodeHealthTest, APodLeavesAfterTheShortestToleration) {
  kube::Pod pod;
  const std::vector<kube::Taint> taints{{"k", "", "NoExecute", kNow}};
  EXPECT_EQ(EvictionTime(pod, taints), kNow);
  pod.spec.tolerations = {{"k", "Exists", "", "NoExecute", 30}, {"", "Exists", "", "", 20}};
  EXPECT_EQ(EvictionTime(pod, taints), kNow + seconds(20));
  pod.spec.tolerations = {{"k", "Exists", "", "NoExecute", {}}};
  EXPECT_FALSE(EvictionTime(pod, taints));
}

}  // namespace
}  // namespace gpuop::sim
