#include "sim/kubelet/pod_run.h"

#include <gtest/gtest.h>

#include "data/json.h"
#include "sim/kubelet/admission.h"
#include "sim/kubelet/hollow_node.h"
#include "sim/scheduler/read.h"

namespace gpuop::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr WallTime kStart = FakeClock::kStart;

kube::Pod Pod(std::string_view restart_policy, int init = 0) {
  kube::Pod pod;
  pod.meta.ns = "ns";
  pod.meta.name = "p";
  pod.meta.uid = "u";
  pod.spec.restart_policy = restart_policy;
  pod.spec.containers.emplace_back().name = "main";
  for (int i = 0; i < init; ++i) pod.spec.init_containers.emplace_back().name = "init" + std::to_string(i);
  return pod;
}

Timeline Life(std::initializer_list<std::pair<std::string_view, std::string_view>> settings) {
  Timeline t;
  for (const auto& [name, value] : settings) EXPECT_TRUE(SetTimeline(t, name, value)) << name;
  return t;
}

/// "phase ready restarts" at that time.
std::string At(PodRun& run, const kube::Pod& pod, Duration after) {
  run.Advance(kStart + after);
  const data::Json s = run.Status(pod, kStart + after);
  const auto& c = s.at("containerStatuses").at(0);
  return std::string(data::StringOr(s, "phase")) + (c.at("ready").as_bool() ? " ready " : " - ") +
         std::to_string(c.at("restartCount").as_int64());
}

TEST(PodRunTest, APodWithoutSettingsRunsAtOnceAndForEver) {
  const kube::Pod pod = Pod("Always");
  PodRun run(pod, {}, "10.64.0.1", "10.0.0.1", kStart);
  EXPECT_EQ(At(run, pod, {}), "Running ready 0");
  EXPECT_EQ(run.Advance(kStart + minutes(60)), std::nullopt);
}

TEST(PodRunTest, ItStartsAndBecomesReadyInItsTime) {
  const kube::Pod pod = Pod("Always");
  PodRun run(pod, Life({{"start-after", "2s"}, {"ready-after", "3s"}}), "", "", kStart);
  EXPECT_EQ(run.Advance(kStart), kStart + seconds(2));
  EXPECT_EQ(At(run, pod, seconds(1)), "Pending - 0");
  EXPECT_EQ(At(run, pod, seconds(2)), "Running - 0");
  EXPECT_EQ(run.Advance(kStart + seconds(2)), kStart + seconds(5));
  EXPECT_EQ(At(run, pod, seconds(5)), "Running ready 0");
}

TEST(PodRunTest, ACrashingContainerWaitsLongerEachTime) {
  const kube::Pod pod = Pod("Always");
  PodRun run(pod, Life({{"run-for", "1s"}, {"exit-code", "1"}}), "", "", kStart);
  EXPECT_EQ(At(run, pod, {}), "Running ready 0");
  EXPECT_EQ(At(run, pod, seconds(1)), "Running ready 1") << "the first restart comes at once";
  EXPECT_EQ(run.Advance(kStart + seconds(2)), kStart + seconds(12));
  const data::Json s = run.Status(pod, kStart + seconds(2));
  EXPECT_EQ(data::StringOr(s, "containerStatuses[0].state.waiting.reason"), "CrashLoopBackOff");
  EXPECT_EQ(data::StringOr(s, "containerStatuses[0].state.waiting.message"),
            "back-off 10s restarting failed container=main");
  EXPECT_EQ(data::IntOr(s, "containerStatuses[0].lastState.terminated.exitCode"), 1);
  EXPECT_EQ(At(run, pod, seconds(12)), "Running ready 2");
  EXPECT_EQ(RestartBackOff(3), seconds(40));
  EXPECT_EQ(RestartBackOff(50), minutes(5));
}

TEST(PodRunTest, ThePhaseOfAnEndedPodFollowsItsRestartPolicy) {
  for (const auto& [policy, code, phase] : {std::tuple("Never", "0", "Succeeded"),
                                            {"Never", "3", "Failed"},
                                            {"OnFailure", "0", "Succeeded"},
                                            {"OnFailure", "3", "Running"}}) {
    const kube::Pod pod = Pod(policy);
    PodRun run(pod, Life({{"run-for", "1s"}, {"exit-code", code}}), "", "", kStart);
    run.Advance(kStart);
    run.Advance(kStart + seconds(1));
    EXPECT_EQ(run.phase(), phase) << policy << " " << code;
  }
}

TEST(PodRunTest, InitContainersRunOneAfterTheOther) {
  const kube::Pod pod = Pod("Never", 2);
  PodRun run(pod, Life({{"init-for", "2s"}}), "", "", kStart);
  EXPECT_EQ(At(run, pod, seconds(1)), "Pending - 0");
  const data::Json s = run.Status(pod, kStart + seconds(1));
  EXPECT_EQ(data::StringOr(s, "conditions[1].message"), "containers with incomplete status: [init0 init1]");
  EXPECT_EQ(run.Advance(kStart + seconds(2)), kStart + seconds(3)) << "it began a second late";
  At(run, pod, seconds(3));
  EXPECT_EQ(At(run, pod, seconds(5)), "Running ready 0");
}

TEST(PodRunTest, AFailedInitContainerFailsAPodThatNeverRestarts) {
  const kube::Pod pod = Pod("Never", 1);
  PodRun run(pod, Life({{"init-exit-code", "1"}}), "", "", kStart);
  run.Advance(kStart);
  EXPECT_EQ(run.phase(), "Failed");
}

TEST(PodRunTest, DeletionWaitsForTheContainersButNotBeyondTheGracePeriod) {
  const kube::Pod pod = Pod("Always");
  PodRun slow(pod, Life({{"stop-after", "40s"}}), "", "", kStart);
  slow.Advance(kStart);
  slow.Stop(kStart + seconds(1), kStart + seconds(31));
  EXPECT_EQ(slow.Advance(kStart + seconds(2)), kStart + seconds(31));
  EXPECT_FALSE(slow.Stopped());
  slow.Advance(kStart + seconds(31));
  EXPECT_TRUE(slow.Stopped());
  EXPECT_EQ(data::IntOr(slow.Status(pod, kStart), "containerStatuses[0].state.terminated.exitCode"), 137);
}

TEST(PodRunTest, ARebootRestartsWhatRan) {
  const kube::Pod pod = Pod("Always");
  PodRun run(pod, {}, "", "", kStart);
  run.Advance(kStart);
  run.Reboot(kStart + minutes(1));
  EXPECT_EQ(At(run, pod, minutes(1)), "Running ready 1");
}

TEST(TimelineTest, RulesComeBeforeAnnotationsAndMistakesAreNamed) {
  kube::Pod pod = Pod("Always");
  pod.meta.annotations = {{"hollow.gpu-operator.dev/exit-code", "7"}, {"hollow.gpu-operator.dev/run-for", "soon"}};
  const auto rules = ReadTimelineRules(
      data::ParseJson(
          R"([{"name":"p*","settings":{"exit-code":"1","start-after":"4s"}},{"namespace":"other","settings":{"start-after":"9s"}}])")
          .value());
  ASSERT_TRUE(rules) << rules.error().text;
  std::vector<std::string> problems;
  const Timeline t = TimelineOf(pod, *rules, problems);
  EXPECT_EQ(t.exit_code, 7);
  EXPECT_EQ(t.start_after, seconds(4));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].substr(0, 32), "hollow.gpu-operator.dev/run-for:");
  EXPECT_FALSE(ReadTimelineRules(data::ParseJson(R"([{"settings":{"exit-code":"x"}}])").value()));
}

TEST(AdmissionTest, APodThatDoesNotFitIsRefusedByTheResourceThatIsShort) {
  kube::Node node;
  node.meta.name = "n1";
  node.status.allocatable = {{"pods", "10"}, {"cpu", "4"}, {"nvidia.com/gpu", "2"}};
  PodInfo asked;
  asked.requests = {{"nvidia.com/gpu", 2}};
  auto other = std::make_shared<PodInfo>();
  other->name = "other";
  other->requests = {{"nvidia.com/gpu", 1}};
  EXPECT_FALSE(Admit(asked, node, {}));
  const auto refusal = Admit(asked, node, {other});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, "OutOfnvidia.com/gpu");
  EXPECT_EQ(refusal->message,
            "Pod was rejected: Node didn't have enough resource: nvidia.com/gpu, requested: 2, used: 1, capacity: 2");
}

TEST(HollowNodeTest, APoolWithImagesMakesNodesOfThirteenKilobytes) {
  HollowPool pool = PlainPool(1);
  pool.images = 60;
  const HollowNode node{"n1", "10.0.0.1", "boot", "machine", 0, &pool};
  const std::size_t size = data::ToJson(NodeStatusObject(node, kStart, kStart)).size();
  EXPECT_GT(size, 11'000U);
  EXPECT_LT(size, 15'000U);
}

TEST(HollowNodeTest, MistakesInAPoolsFileAreNamed) {
  for (const auto& [text, wanted] : {std::pair(R"({"pools":[{"count":2,"name":"n"}]})",
                                               "pools: [0]: name: must hold {i} when count is more than one"),
                                     {R"({"pools":[{"count":-1}]})", "pools: [0]: count: must be from 0 to 65000"}}) {
    const auto pools = ReadHollowPools(data::ParseJson(text).value());
    ASSERT_FALSE(pools);
    EXPECT_EQ(pools.error().text, wanted);
  }
  EXPECT_FALSE(ReadHollowPools(data::ParseJson(R"({"pools":[{"capacity":{"cpu":"many"}}]})").value()));
  EXPECT_TRUE(ReadHollowPools(data::ParseJson(R"({"pools":[{"count":2,"capacity":{"nvidia.com/gpu":"8"}}]})").value()));
}

}  // namespace
}  // namespace gpuop::sim
