#include "sim/controllers/replica_set_plan.h"

#include <gtest/gtest.h>

#include "sim/controllers/plan_objects_test.h"

namespace gpuop::sim {
namespace {

TEST(ReplicaSetPlanTest, UnboundAndUnreadyPodsGoFirstAndThenTheCheaper) {
  auto cheap = Pod("cheap", "n1", true);
  cheap->meta.annotations = {{"controller.kubernetes.io/pod-deletion-cost", "-5"}};
  const auto order =
      ByDispensability({Pod("ready", "n2", true), cheap, Pod("unready", "n3", false), Pod("unbound", "", false)});
  std::string names;
  for (const PodPtr& pod : order) names += pod->meta.name + " ";
  EXPECT_EQ(names, "unbound unready cheap ready ");
}

}  // namespace
}  // namespace gpuop::sim
