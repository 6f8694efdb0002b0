#include "sim/policy/budget.h"

#include <boost/json/parse.hpp>

#include "sim/peek.h"

namespace gpuop::sim {
namespace {

namespace json = boost::json;

json::object Pod(const char* name, bool ready, const char* owner = nullptr) {
  json::object pod{
      {"metadata", {{"name", name}}},
      {"status", {{"conditions", json::array{{{"type", "Ready"}, {"status", ready ? "True" : "False"}}}}}}};
  if (owner != nullptr)
    pod["metadata"].as_object()["ownerReferences"] =
        json::array{{{"kind", "ReplicaSet"}, {"uid", owner}, {"controller", true}}};
  return pod;
}

struct Case {
  const char* name;
  const char* spec;
  std::int64_t allowed, healthy, desired, expected;
};

class BudgetTest : public testing::TestWithParam<Case> {};

TEST_P(BudgetTest, CountsWhatMayBeDisrupted) {
  const Case& c = GetParam();
  const json::object budget{{"metadata", {{"generation", 3}}}, {"spec", json::parse(c.spec)}};
  std::vector<json::object> pods = {Pod("a", true, "rs"), Pod("b", true, "rs"), Pod("c", true, "rs"),
                                    Pod("d", false, "rs")};
  pods.push_back(Pod("going", true, "rs"));
  pods.back()["metadata"].as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  const json::object status =
      BudgetStatus({.budget = budget,
                    .pods = pods,
                    .scale_of = [](const json::object&) { return BudgetInput::Scale{"deployment", 5}; },
                    .now = FakeClock::kStart});
  EXPECT_EQ(PeekInt(status, {"disruptionsAllowed"}), c.allowed);
  EXPECT_EQ(PeekInt(status, {"currentHealthy"}), c.healthy);
  EXPECT_EQ(PeekInt(status, {"desiredHealthy"}), c.desired);
  EXPECT_EQ(PeekInt(status, {"expectedPods"}), c.expected);
  EXPECT_EQ(PeekInt(status, {"observedGeneration"}), 3);
}

INSTANTIATE_TEST_SUITE_P(All, BudgetTest,
                         testing::Values(Case{"LeastAsANumber", R"({"minAvailable":2})", 1, 3, 2, 5},
                                         Case{"LeastAsAShareRoundsUp", R"({"minAvailable":"50%"})", 0, 3, 3, 5},
                                         Case{"MostAsANumber", R"({"maxUnavailable":3})", 1, 3, 2, 5},
                                         Case{"MostAsAShareRoundsUp", R"({"maxUnavailable":"50%"})", 1, 3, 2, 5},
                                         Case{"MoreThanThereAre", R"({"minAvailable":9})", 0, 3, 9, 5}),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(BudgetStatusTest, AnEvictedPodCountsAsGoneUntilItIsOrTwoMinutesHavePassed) {
  const json::object budget = json::parse(R"({"spec":{"minAvailable":1},
      "status":{"disruptedPods":{"a":"2026-01-01T00:00:00Z","gone":"2026-01-01T00:00:00Z"}}})")
                                  .as_object();
  const std::vector<json::object> pods = {Pod("a", true), Pod("b", true)};
  const auto at = [&](std::chrono::seconds later) {
    return BudgetStatus({.budget = budget, .pods = pods, .scale_of = {}, .now = FakeClock::kStart + later});
  };
  EXPECT_EQ(PeekInt(at(std::chrono::seconds(1)), {"disruptionsAllowed"}), 0);
  EXPECT_EQ(PeekObject(at(std::chrono::seconds(1)), {"disruptedPods"}).size(), 1U);
  EXPECT_EQ(PeekInt(at(kDisruptedFor), {"disruptionsAllowed"}), 1);
  EXPECT_FALSE(at(kDisruptedFor).contains("disruptedPods"));
}

}  // namespace
}  // namespace gpuop::sim
