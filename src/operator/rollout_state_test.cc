#include "operator/rollout_state.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "data/json.h"

namespace gpuop::op {
namespace {

struct Case {
  const char* name;
  std::int64_t generation;
  Rollout rollout;
  std::optional<std::int64_t> expected;
  const char* waits;
  std::int64_t kept = 0;  ///< Pods that stay on nodes that take no new ones
};
class WaitingForTest : public testing::TestWithParam<Case> {};

TEST_P(WaitingForTest, SaysWhatADaemonSetStillLacks) {
  const Case& c = GetParam();
  OwnObject ds;
  ds.meta.generation = c.generation;
  ds.rollout = c.rollout;
  EXPECT_EQ(WaitingFor(ds, c.expected, c.kept), c.waits);
}

Rollout Numbers(std::int64_t observed, std::int32_t desired, std::int32_t updated, std::int32_t available,
                std::int32_t misscheduled = 0) {
  Rollout out;
  out.observed_generation = observed, out.desired = desired, out.updated = updated, out.available = available;
  out.misscheduled = misscheduled;
  return out;
}

INSTANTIATE_TEST_SUITE_P(
    All, WaitingForTest,
    testing::Values(
        Case{"AllRun", 2, Numbers(2, 3, 3, 3), 3, ""},
        Case{"NobodyHasLookedYet", 1, Numbers(0, 0, 0, 0), 0, "its controller has not seen the last change"},
        Case{"OldNumbersOfAnOldGeneration", 2, Numbers(1, 3, 3, 3), 3, "its controller has not seen the last change"},
        Case{"OldPodsAreAvailableNewOnesAreNot", 2, Numbers(2, 3, 1, 3), 3, "1 of 3 Pods run the wanted version"},
        Case{"SomeAreNotAvailable", 2, Numbers(2, 3, 3, 2), 3, "2 of 3 Pods available"},
        Case{"NoNodesAndLookedAt", 1, Numbers(1, 0, 0, 0), 0, ""},
        Case{"NodesThatItHasNotCountedYet", 1, Numbers(1, 0, 0, 0), 2, "its controller counts 0 nodes, not 2"},
        Case{"NodesThatItStillCounts", 1, Numbers(1, 3, 3, 3), 2, "its controller counts 3 nodes, not 2"},
        Case{"WhereNobodyKnowsHowManyNodes", 1, Numbers(1, 3, 3, 3), std::nullopt, ""},
        Case{"PodsThatShouldHaveLeft", 1, Numbers(1, 2, 2, 2, 1), 2,
             "1 Pods still on nodes that no longer ask for them"},
        Case{"PodsThatATaintCameAfter", 1, Numbers(1, 2, 2, 2, 1), 2, "", 1},
        Case{"PodsThatATaintCameAfterAndThatAreStillCounted", 1, Numbers(1, 3, 3, 3), 2, "", 1},
        Case{"MoreThanThose", 1, Numbers(1, 4, 4, 4), 2, "its controller counts 4 nodes, not 2", 1}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(PlacementTest, FollowsSelectorTaintsAndTolerations) {
  const auto ds = data::ParseJson(R"({"spec":{"template":{"spec":{"nodeSelector":{"deploy":"true"},"tolerations":[
      {"key":"nvidia.com/gpu","operator":"Exists","effect":"NoSchedule"},{"key":"team","value":"a"}]}}}})");
  const Placement placement = Placement::Of(ds->as_object());
  const auto places = [&](const char* label, const char* taints) {
    const auto node = data::ParseJson(std::string(R"({"metadata":{"name":"n","labels":{"deploy":")") + label +
                                      R"("}},"spec":{"taints":)" + taints + "}}");
    return Places(placement, NodeState::FromJson(node->as_object()).value());
  };
  EXPECT_TRUE(places("true", "[]"));
  EXPECT_FALSE(places("false", "[]"));
  EXPECT_TRUE(places("true", R"([{"key":"nvidia.com/gpu","value":"any","effect":"NoSchedule"}])"));
  EXPECT_FALSE(places("true", R"([{"key":"nvidia.com/gpu","effect":"NoExecute"}])"));
  EXPECT_TRUE(places("true", R"([{"key":"team","value":"a","effect":"NoExecute"}])"));
  EXPECT_FALSE(places("true", R"([{"key":"team","value":"b","effect":"NoSchedule"}])"));
  EXPECT_TRUE(places("true", R"([{"key":"team","value":"b","effect":"PreferNoSchedule"}])"));
  EXPECT_TRUE(places("true", R"([{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}])"));
  EXPECT_FALSE(places("true", R"([{"key":"node.kubernetes.io/network-unavailable","effect":"NoSchedule"}])"));
}

}  // namespace
}  // namespace gpuop::op
