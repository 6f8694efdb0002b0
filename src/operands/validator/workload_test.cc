// The Pods that prove something: what they are, and what becomes of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/thread_executor.h"
#include "kube/door_fake.h"
#include "operands/validator/workload_pod.h"

namespace gpuop::operands::validator {
namespace {

using data::JsonArray;
using data::JsonObject;
using testing::HasSubstr;
using enum api::ReasonCode;

const kube::Resource kDaemonSets{"apps", "v1", "daemonsets", "DaemonSet", true};

Options SomeOptions() {
  Options out;
  out.node = "n1";
  out.ns = "gpu-operator";
  out.image = "registry.example.com/gpu-operator:1";
  out.runtime_class = "nvidia";
  out.pull_secrets = {"a"};
  return out;
}

JsonObject ValidatorDaemonSet() {
  return {
      {"apiVersion", "apps/v1"},
      {"kind", "DaemonSet"},
      {"metadata", JsonObject{{"name", "nvidia-operator-validator"}, {"namespace", "gpu-operator"}, {"uid", "ds"}}},
      {"spec",
       JsonObject{{"template",
                   JsonObject{{"spec", JsonObject{{"tolerations", JsonArray{JsonObject{{"operator", "Exists"}}}}}}}}}}};
}

TEST(WorkloadPodTest, TheCudaPodTakesNoGpuAndNoSchedulerSeesIt) {
  const Options options = SomeOptions();
  const JsonObject set = ValidatorDaemonSet();
  const JsonObject pod = MakeWorkloadPod({.workload = Workload::kCuda, .options = options, .daemon_set = set});
  EXPECT_EQ(data::StringOr(pod, "metadata.generateName"), "nvidia-cuda-validator-");
  EXPECT_EQ(data::StringOr(pod, "metadata.labels.app"), "nvidia-cuda-validator");
  EXPECT_EQ(data::StringOr(pod, "metadata.ownerReferences[0].uid"), "ds");
  EXPECT_EQ(data::Find(pod, "metadata.ownerReferences[0].controller"),
            nullptr);  // the DaemonSet must not take it for its own
  EXPECT_EQ(data::StringOr(pod, "spec.nodeName"), "n1");
  EXPECT_EQ(data::StringOr(pod, "spec.restartPolicy"), "Never");
  EXPECT_EQ(data::StringOr(pod, "spec.runtimeClassName"), "nvidia");
  EXPECT_EQ(data::StringOr(pod, "spec.tolerations[0].operator"), "Exists");
  EXPECT_EQ(data::StringOr(pod, "spec.imagePullSecrets[0].name"), "a");
  EXPECT_EQ(data::StringOr(pod, "spec.containers[0].command[0]"), "vectorAdd");
  EXPECT_EQ(data::StringOr(pod, "spec.containers[0].env[0].value"), "all");
  EXPECT_TRUE(data::BoolOr(pod, "spec.containers[0].securityContext.privileged"));
  EXPECT_EQ(data::Find(pod, "spec.containers[0].resources"), nullptr);
  const data::Json* const annotation =
      data::GetObject(pod, "metadata.annotations")->if_contains("nvidia.cdi.k8s.io/container.cuda-validation");
  ASSERT_NE(annotation, nullptr);
  EXPECT_EQ(*annotation, "management.nvidia.com/gpu=all");
}

TEST(WorkloadPodTest, ThePluginPodAsksForOneAndHasNoPrivilege) {
  const Options options = SomeOptions();
  const JsonObject set = ValidatorDaemonSet();
  const JsonObject pod = MakeWorkloadPod(
      {.workload = Workload::kPlugin, .options = options, .daemon_set = set, .resource = "nvidia.com/mig-1g.5gb"});
  EXPECT_EQ(data::GetObject(pod, "spec.containers[0].resources.limits")->at("nvidia.com/mig-1g.5gb"), "1");
  EXPECT_FALSE(data::BoolOr(pod, "spec.containers[0].securityContext.allowPrivilegeEscalation", true));
}

struct JudgeCase {
  const char *name, *status, *complaint;
  bool over;
  const char* want;
};
class WorkloadVerdictTest : public testing::TestWithParam<JudgeCase> {};

TEST_P(WorkloadVerdictTest, SaysWhichLinkItWas) {
  const auto json = data::ParseJson(std::string(R"({"metadata":{"name":"p"},"status":)") + GetParam().status + "}");
  ASSERT_TRUE(json);
  const auto pod = kube::Decode<kube::Pod>(json->as_object());
  ASSERT_TRUE(pod);
  const PodVerdict verdict = Judge(*pod, GetParam().complaint);
  EXPECT_EQ(verdict.over, GetParam().over);
  EXPECT_EQ(api::Find(verdict.finding.code).name, GetParam().want) << verdict.finding.evidence;
}

INSTANTIATE_TEST_SUITE_P(
    All, WorkloadVerdictTest,
    testing::Values(
        JudgeCase{"UnderWay", R"({"phase":"Pending"})", "", false, "Proved"},
        JudgeCase{
            "NoHandler", R"({"phase":"Pending"})",
            R"(FailedCreatePodSandBox: Failed to create pod sandbox: rpc error: no runtime for "nvidia" is configured)",
            false, "RuntimeHandlerMissing"},
        JudgeCase{
            "NoCdiDevice",
            R"({"phase":"Pending","containerStatuses":[{"name":"c","state":{"waiting":{"reason":"CreateContainerError","message":"CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=b"}}}]})",
            "", false, "CDISpecMissing"},
        JudgeCase{
            "CdiNamesWhatIsGone",
            R"({"phase":"Pending","containerStatuses":[{"name":"c","state":{"waiting":{"reason":"CreateContainerError","message":"CDI device injection failed: stat /dev/nvidia7: no such file or directory"}}}]})",
            "", false, "CDISpecStale"},
        JudgeCase{
            "NoImage",
            R"({"phase":"Pending","containerStatuses":[{"name":"c","state":{"waiting":{"reason":"ErrImagePull","message":"not found"}}}]})",
            "", false, "CUDAPodFailed"},
        JudgeCase{
            "Creating",
            R"({"phase":"Pending","containerStatuses":[{"name":"c","state":{"waiting":{"reason":"ContainerCreating"}}}]})",
            "", false, "Proved"},
        JudgeCase{
            "OurProof",
            R"({"phase":"Succeeded","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":0,"message":"{\"reason\":\"Proved\",\"evidence\":\"8 of 8\"}"}}}]})",
            "", true, "Proved"},
        JudgeCase{"AnotherImagesProof", R"({"phase":"Succeeded"})", "", true, "Proved"},
        JudgeCase{
            "WrongResult",
            R"({"phase":"Failed","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":1,"message":"{\"reason\":\"CUDAWrongResult\",\"evidence\":\"GPU\"}"}}}]})",
            "", true, "CUDAWrongResult"},
        JudgeCase{
            "AnotherImagesFailure",
            R"({"phase":"Failed","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":1,"reason":"Error","message":"Failed to allocate"}}}]})",
            "", true, "CUDAPodFailed"},
        JudgeCase{"RefusedByTheKubelet",
                  R"({"phase":"Failed","reason":"UnexpectedAdmissionError","message":"Pod was rejected"})", "", true,
                  "DeviceUnhealthy"}),
    [](const auto& c) { return std::string(c.param.name); });

struct WorkloadRunnerTest : testing::Test {
  WorkloadRunnerTest() { door.Put(kDaemonSets, ValidatorDaemonSet()); }

  /// The Pod that the runner made, once it is there.
  JsonObject Made() {
    for (;;) {
      for (JsonObject& pod : door.PeekAll(kube::ResourceOf<kube::Pod>()))
        if (!data::StringOr(pod, "metadata.name").starts_with("earlier")) return std::move(pod);
      std::this_thread::yield();
    }
  }
  void SetStatus(JsonObject pod, JsonObject status) {
    pod["status"] = std::move(status);
    door.Put(kube::ResourceOf<kube::Pod>(), std::move(pod));
  }
  Result<api::Finding> Run(Duration limit = std::chrono::hours(1)) {
    WorkloadRunner runner(kube::Client(door), executor, options, log);
    return runner.Run(
        Workload::kCuda, {}, limit,
        [this](const api::Finding& f) {
          told.push_back(f.code);
          ++count;
        },
        stop.get_token());
  }

  ThreadExecutor executor{2};
  kube::FakeDoor door{executor};
  FakeLog log;
  Options options = SomeOptions();
  std::stop_source stop;
  std::vector<api::ReasonCode> told;
  std::atomic<int> count = 0;
};

TEST_F(WorkloadRunnerTest, AFailureIsToldAtOnce) {  // V04
  std::jthread kubelet([&] { SetStatus(Made(), {{"phase", "Failed"}}); });
  const auto done = Run();
  ASSERT_TRUE(done) << done.error().text;
  EXPECT_EQ(done->code, kCudaPodFailed);
}

TEST_F(WorkloadRunnerTest, TroubleIsToldWhileItLastsAndTheProofCounts) {
  std::jthread kubelet([&] {
    const JsonObject pod = Made();
    SetStatus(pod, {{"phase", "Pending"},
                    {"containerStatuses",
                     JsonArray{JsonObject{
                         {"name", "c"},
                         {"state", JsonObject{{"waiting", JsonObject{{"reason", "CreateContainerError"},
                                                                     {"message", "unresolvable CDI devices x"}}}}}}}}});
    while (count == 0) std::this_thread::yield();
    SetStatus(pod, {{"phase", "Succeeded"}});
  });
  const auto done = Run();
  ASSERT_TRUE(done) << done.error().text;
  EXPECT_EQ(done->code, kProved);
  EXPECT_EQ(told, std::vector<api::ReasonCode>{kCdiSpecMissing});
}

TEST_F(WorkloadRunnerTest, AllEarlierPodsOfThisNodeGo) {  // W42: and those of others stay
  for (const auto& [name, node] : {std::pair("earlier-1", "n1"), {"earlier-2", "n1"}, {"earlier-elsewhere", "n2"}})
    door.Put(kube::ResourceOf<kube::Pod>(),
             {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", JsonObject{{"name", name},
                                      {"namespace", "gpu-operator"},
                                      {"labels", JsonObject{{"app", "nvidia-cuda-validator"}}}}},
              {"spec", JsonObject{{"nodeName", node}}}});
  std::jthread kubelet([&] { SetStatus(Made(), {{"phase", "Succeeded"}}); });
  ASSERT_TRUE(Run());
  std::vector<std::string> left;
  for (const JsonObject& pod : door.PeekAll(kube::ResourceOf<kube::Pod>()))
    if (const auto name = data::StringOr(pod, "metadata.name"); name.starts_with("earlier")) left.emplace_back(name);
  EXPECT_EQ(left, std::vector<std::string>{"earlier-elsewhere"});
}

TEST_F(WorkloadRunnerTest, APodThatNeverEndsIsATimeout) {
  const auto done = Run(std::chrono::milliseconds(50));
  ASSERT_TRUE(done);
  EXPECT_EQ(done->code, kCudaPodTimeout);
}

TEST_F(WorkloadRunnerTest, StopsWhenAsked) {
  std::jthread asker([&] {
    Made();
    stop.request_stop();
  });
  const auto done = Run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kCancelled);
}

}  // namespace
}  // namespace gpuop::operands::validator
