#include "sim/controllers/daemon_set_plan.h"

#include <gtest/gtest.h>

#include "sim/controllers/plan_objects_test.h"

namespace gpuop::sim {
namespace {

using std::chrono::seconds;

class DaemonSetPlanTest : public testing::Test {
 protected:
  DaemonSetPlanTest() {
    set_.meta.name = "plugin";
    set_.spec.strategy.type = "RollingUpdate";
    set_.spec.pod_template.whole.text = R"({"spec":{"nodeSelector":{"gpu":"true"},"containers":[{"name":"main"}]}})";
    view_.nodes = {Node("n1"), Node("n2"), Node("n3")};
    view_.hash = "new";
    view_.now = kNow;
  }

  DaemonPlan Plan() {
    const DaemonFitter fitter = DaemonFitter::For(set_).value();
    view_.set = &set_;
    view_.fitter = &fitter;
    return PlanDaemonSet(view_);
  }
  static std::string Text(const DaemonPlan& plan) {
    std::string out;
    for (const std::string& node : plan.create_on) out += "+" + node + " ";
    for (const PodRemoval& r : plan.remove) out += "-" + r.pod->meta.name + " ";
    return out;
  }

  kube::DaemonSet set_;
  DaemonView view_;
};

TEST_F(DaemonSetPlanTest, EveryFittingNodeGetsAPod) {
  view_.pods = {Pod("a", "n2", true)};
  EXPECT_EQ(Text(Plan()), "+n1 +n3 ");
}

TEST_F(DaemonSetPlanTest, ATaintKeepsNewPodsAwayAndNoExecuteDrivesOldOnesOut) {
  view_.nodes = {Node("n1", {{"x", "", "NoSchedule", {}}}), Node("n2", {{"x", "", "NoExecute", {}}}),
                 Node("n3", {{"node.kubernetes.io/unschedulable", "", "NoSchedule", {}}})};
  view_.pods = {Pod("a", "n1", true), Pod("b", "n2", true)};
  const DaemonPlan plan = Plan();
  EXPECT_EQ(Text(plan), "+n3 -b ");
  EXPECT_EQ(plan.status.desired, 1);
  EXPECT_EQ(plan.status.misscheduled, 2);
}

TEST_F(DaemonSetPlanTest, AFailedPodIsReplacedButNotDuringItsBackOff) {
  auto failed = Pod("a", "n1", false);
  failed->status.phase = "Failed";
  view_.nodes.resize(1);
  view_.pods = {failed};
  EXPECT_EQ(Text(Plan()), "-a ");
  EXPECT_EQ(Plan().remove[0].event_message, "Found failed daemon pod ns/a on node n1, will try to kill it");
  view_.failed_until = {{"n1", kNow + seconds(3)}};
  EXPECT_EQ(Text(Plan()), "");
  EXPECT_EQ(Plan().again, kNow + seconds(3));
}

TEST_F(DaemonSetPlanTest, AnUpdateTakesNoMorePodsDownThanAllowedAndBrokenOnesAtOnce) {
  view_.pods = {Pod("a", "n1", true, "old"), Pod("b", "n2", true, "old"), Pod("c", "n3", false, "old")};
  EXPECT_EQ(Text(Plan()), "-c -a ");
  view_.pods = {Pod("a", "n1", true, "old"), Pod("b", "n2", true, "old"), Pod("c", "n3", false, "new")};
  EXPECT_EQ(Text(Plan()), "") << "the new pod is not available yet";
  set_.spec.strategy.rolling.max_unavailable = kube::IntOrString{.number = 0, .text = "100%"};
  EXPECT_EQ(Text(Plan()), "-a -b ");
  set_.spec.strategy.type = "OnDelete";
  EXPECT_EQ(Text(Plan()), "");
}

TEST_F(DaemonSetPlanTest, WithSurgeTheOldPodGoesWhenTheNewOneIsAvailable) {
  set_.spec.strategy.rolling.max_surge = kube::IntOrString{.number = 1, .text = {}};
  set_.spec.strategy.rolling.max_unavailable = kube::IntOrString{.number = 0, .text = {}};
  view_.pods = {Pod("a", "n1", true, "old"), Pod("b", "n2", true, "old"), Pod("c", "n3", true, "old")};
  EXPECT_EQ(Text(Plan()), "+n1 ");
  view_.pods.push_back(Pod("a2", "n1", false));
  EXPECT_EQ(Text(Plan()), "");
  view_.pods.back() = Pod("a2", "n1", true);
  EXPECT_EQ(Text(Plan()), "-a ");
}

TEST_F(DaemonSetPlanTest, APodIsAvailableOnlyAfterMinReadySeconds) {
  set_.spec.min_ready_seconds = 8;
  view_.nodes.resize(1);
  view_.pods = {Pod("a", "n1", true)};
  const DaemonPlan plan = Plan();
  EXPECT_EQ(plan.status.ready, 1);
  EXPECT_EQ(plan.status.available, 0);
  EXPECT_EQ(plan.again, kNow + seconds(3));
}

TEST_F(DaemonSetPlanTest, PodsThatWaitForANodeThatIsGoneAreRemoved) {
  auto waiting = Pod("a", "", false);
  waiting->spec.affinity.text =
      R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n9"]}]}]}}})";
  view_.pods = {waiting};
  EXPECT_EQ(Text(Plan()), "+n1 +n2 +n3 -a ");
}

}  // namespace
}  // namespace gpuop::sim
