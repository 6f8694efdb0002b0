#include "sim/controllers/deployment_plan.h"

#include <gtest/gtest.h>

#include "sim/controllers/plan_objects_test.h"

namespace gpuop::sim {
namespace {

using std::chrono::seconds;

std::shared_ptr<kube::ReplicaSet> Set(const std::string& name, std::int32_t replicas, std::int32_t available,
                                      const std::string& image, std::int64_t revision) {
  auto set = std::make_shared<kube::ReplicaSet>();
  set->meta.name = name;
  set->meta.created = FakeClock::kStart + seconds(revision);
  set->meta.annotations = {{kRevision, std::to_string(revision)}, {kDesiredReplicas, "4"}, {kMaxReplicas, "5"}};
  set->spec.replicas = replicas;
  set->spec.pod_template.whole.text = R"({"metadata":{"labels":{"app":"web","pod-template-hash":")" + name +
                                      R"("}},"spec":{"image":")" + image + R"("}})";
  set->status.replicas = replicas;
  set->status.available = set->status.ready = available;
  return set;
}

class DeploymentPlanTest : public testing::Test {
 protected:
  DeploymentPlanTest() {
    d_.meta.name = "web";
    d_.meta.generation = 2;
    d_.spec.replicas = 4;
    d_.spec.strategy.type = "RollingUpdate";
    d_.spec.pod_template.whole.text = R"({"metadata":{"labels":{"app":"web"}},"spec":{"image":"2"}})";
    view_.now = kNow;
  }
  DeploymentPlan Plan(std::vector<ReplicaSetPtr> sets) {
    view_.deployment = &d_;
    view_.sets = std::move(sets);
    return PlanDeployment(view_);
  }
  static std::string Sizes(const DeploymentPlan& plan) {
    std::string out;
    if (plan.create) out += "new:" + std::to_string(plan.create->replicas) + " ";
    for (const ReplicaSetChange& c : plan.change)
      if (c.replicas) out += c.set->meta.name + ":" + std::to_string(*c.replicas) + " ";
    return out;
  }
  static std::string Reason(const DeploymentPlan& plan, std::string_view type) {
    const auto* c = kube::FindCondition(plan.status.conditions, type);
    return c == nullptr ? "none" : std::string(c->reason.view());
  }

  kube::Deployment d_;
  DeploymentView view_;
};

TEST_F(DeploymentPlanTest, AFirstSetIsMadeInFullAndNamed) {
  const DeploymentPlan plan = Plan({});
  EXPECT_EQ(Sizes(plan), "new:4 ");
  EXPECT_EQ(plan.revision, "1");
  EXPECT_EQ(plan.create->name, "web-" + plan.create->hash);
  EXPECT_EQ(Reason(plan, "Progressing"), "NewReplicaSetCreated");
}

TEST_F(DeploymentPlanTest, ANewTemplateStartsWithTheSurgeThatIsAllowed) {
  EXPECT_EQ(Sizes(Plan({Set("a", 4, 4, "1", 1)})), "new:1 ");
}

TEST_F(DeploymentPlanTest, TheOldSetShrinksAsFarAsAvailabilityAllows) {
  EXPECT_EQ(Sizes(Plan({Set("a", 4, 4, "1", 1), Set("b", 1, 0, "2", 2)})), "a:3 ");
  EXPECT_EQ(Sizes(Plan({Set("a", 3, 3, "1", 1), Set("b", 1, 1, "2", 2)})), "b:2 ");
  EXPECT_EQ(Sizes(Plan({Set("a", 2, 0, "1", 1), Set("b", 3, 3, "2", 2)})), "a:0 ") << "pods that serve nobody go first";
}

TEST_F(DeploymentPlanTest, RecreateWaitsForTheLastOldPod) {
  d_.spec.strategy.type = "Recreate";
  EXPECT_EQ(Sizes(Plan({Set("a", 4, 4, "1", 1)})), "a:0 ");
  view_.old_pods_running = true;
  EXPECT_EQ(Sizes(Plan({Set("a", 0, 0, "1", 1)})), "");
  view_.old_pods_running = false;
  EXPECT_EQ(Sizes(Plan({Set("a", 0, 0, "1", 1)})), "new:4 ");
}

TEST_F(DeploymentPlanTest, ScalingInTheMiddleOfARolloutKeepsProportions) {
  d_.spec.replicas = 8;
  EXPECT_EQ(Sizes(Plan({Set("a", 3, 3, "1", 1), Set("b", 2, 1, "2", 2)})), "a:6 b:4 ");
}

TEST_F(DeploymentPlanTest, APausedDeploymentMakesNoSetAndSaysSo) {
  d_.spec.paused = true;
  const DeploymentPlan plan = Plan({Set("a", 4, 4, "1", 1)});
  EXPECT_EQ(Sizes(plan), "");
  EXPECT_EQ(Reason(plan, "Progressing"), "DeploymentPaused");
}

TEST_F(DeploymentPlanTest, GoingBackToAnOldTemplateGivesItTheNewestRevision) {
  d_.spec.pod_template.whole.text = R"({"metadata":{"labels":{"app":"web"}},"spec":{"image":"1"}})";
  const DeploymentPlan plan = Plan({Set("a", 0, 0, "1", 1), Set("b", 4, 4, "2", 2)});
  EXPECT_EQ(plan.revision, "3");
  EXPECT_EQ(plan.change.at(0).annotations.at(std::string(kRevision)), "3");
  EXPECT_EQ(plan.change.at(0).annotations.at(std::string(kRevisionHistory)), "1");
}

TEST_F(DeploymentPlanTest, WithoutProgressInTimeTheDeadlineIsReported) {
  kube::Condition c;
  c.type = "Progressing";
  c.status = "True";
  c.reason = "ReplicaSetUpdated";
  c.last_update = kNow - seconds(601);
  d_.status.conditions = {c};
  d_.status.replicas = d_.status.updated = 4;
  EXPECT_EQ(Reason(Plan({Set("b", 4, 0, "2", 2)}), "Progressing"), "ProgressDeadlineExceeded");
}

TEST_F(DeploymentPlanTest, EmptySetsBeyondTheHistoryLimitGo) {
  d_.spec.revision_history_limit = 1;
  const DeploymentPlan plan = Plan({Set("x", 0, 0, "8", 1), Set("y", 0, 0, "9", 2), Set("b", 4, 4, "2", 3)});
  ASSERT_EQ(plan.remove.size(), 1U);
  EXPECT_EQ(plan.remove[0]->meta.name, "x");
}

}  // namespace
}  // namespace gpuop::sim
