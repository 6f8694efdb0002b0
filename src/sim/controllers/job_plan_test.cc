#include "sim/controllers/job_plan.h"

#include <gtest/gtest.h>

#include "sim/controllers/plan_objects_test.h"

namespace gpuop::sim {
namespace {

using std::chrono::seconds;

class JobPlanTest : public testing::Test {
 protected:
  JobPlanTest() {
    job_.spec.completions = 2;
    job_.spec.parallelism = 2;
    job_.status.started = kNow - seconds(60);
  }
  static PodPtr Ended(const std::string& name, std::string_view phase) {
    auto pod = Pod(name, "n1", false);
    pod->status.phase = phase;
    pod->meta.finalizers = {kJobTracking};
    pod->status.containers.emplace_back().state.terminated = kube::ContainerStateTerminated{};
    pod->status.containers[0].state.terminated->finished = kNow - seconds(3);
    return pod;
  }
  JobPlan Plan(const std::vector<PodPtr>& pods) const { return PlanJob(job_, pods, kNow); }

  kube::Job job_;
};

TEST_F(JobPlanTest, AnEndIsCountedInThreeSteps) {
  const PodPtr pod = Ended("a", "Succeeded");
  JobPlan plan = Plan({pod});
  EXPECT_EQ(plan.status.uncounted.succeeded, std::vector<std::string>{"uid-a"});
  EXPECT_TRUE(plan.release.empty()) << "not before the status is stored";
  job_.status = plan.status;
  plan = Plan({pod});
  EXPECT_EQ(plan.release.size(), 1U);
  EXPECT_EQ(plan.status.succeeded, 0);
  auto released = std::make_shared<kube::Pod>(*pod);
  released->meta.finalizers.clear();
  plan = Plan({released});
  EXPECT_EQ(plan.status.succeeded, 1);
  EXPECT_TRUE(plan.status.uncounted.succeeded.empty());
  EXPECT_EQ(plan.create, 1);
}

TEST_F(JobPlanTest, ANewPodWaitsAfterAFailure) {
  const JobPlan plan = Plan({Ended("a", "Failed")});
  EXPECT_EQ(plan.create, 0);
  EXPECT_EQ(plan.again, kNow + seconds(7));
}

TEST_F(JobPlanTest, BeyondTheBackoffLimitItFailsOnceEveryPodIsGone) {
  job_.spec.backoff_limit = 0;
  JobPlan plan = Plan({Ended("a", "Failed"), Pod("b", "n1", true)});
  EXPECT_EQ(plan.remove.size(), 1U);
  EXPECT_FALSE(kube::FindCondition(plan.status.conditions, "Failed"));
  EXPECT_EQ(kube::FindCondition(plan.status.conditions, "FailureTarget")->reason, "BackoffLimitExceeded");
  job_.status = plan.status;
  plan = Plan({});
  EXPECT_TRUE(kube::FindCondition(plan.status.conditions, "Failed"));
  EXPECT_EQ(plan.events.at(0).message, "Job has reached the specified backoff limit");
}

TEST_F(JobPlanTest, ASuspendedJobRunsNothingAndItsClockStops) {
  job_.spec.suspend = true;
  const JobPlan plan = Plan({Pod("a", "n1", true)});
  EXPECT_EQ(plan.remove.size(), 1U);
  EXPECT_FALSE(plan.status.started);
  EXPECT_EQ(kube::FindCondition(plan.status.conditions, "Suspended")->reason, "JobSuspended");
}

TEST_F(JobPlanTest, TheActiveDeadlineEndsIt) {
  job_.spec.active_deadline_seconds = 60;
  EXPECT_EQ(kube::FindCondition(Plan({}).status.conditions, "FailureTarget")->reason, "DeadlineExceeded");
}

TEST_F(JobPlanTest, AFinishedJobIsDeletedAfterItsTimeToLive) {
  kube::Condition done;
  done.type = "Complete";
  done.status = "True";
  done.last_transition = kNow - seconds(10);
  job_.status.conditions = {done};
  job_.spec.ttl_seconds_after_finished = 12;
  EXPECT_EQ(Plan({}).again, kNow + seconds(2));
  job_.spec.ttl_seconds_after_finished = 10;
  EXPECT_TRUE(Plan({}).delete_job);
}

}  // namespace
}  // namespace gpuop::sim
