// Pods in odd states, and users who may not see everything.

#include <gmock/gmock.h>

#include <boost/json.hpp>

#include "cli/gpu/why_case_test.h"
#include "data/json.h"

namespace gpuop::cli::kubectl_gpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kOutOfMemory =
    "{containerStatuses: [{name: main, restartCount: 0, state: {terminated: {exitCode: 137, reason: OOMKilled}}}], "
    "phase: "
    "Failed}";
constexpr const char* kEvicted =
    "{phase: Failed, reason: Evicted, message: 'The node was low on resource: memory', containerStatuses: [{name: "
    "main, "
    "state: {terminated: {exitCode: 137, reason: Error}}}]}";

INSTANTIATE_TEST_SUITE_P(
    Odd, WhyTest,
    ::testing::Values(
        WhyCase{"AnotherVendorsResource",
                {.pods = {{.gpus = 0,
                           .spec = "{containers: [{name: main, resources: {requests: {amd.com/gpu: '1'}}}]}",
                           .status = kUnschedulable}}},
                "trainer",
                "Pending",
                "NoSuchResource",
                "the Pod asks for amd.com/gpu, which no node offers"},
        WhyCase{"TooLittleMemoryWhereTheGpusAre",
                {.pods = {{.status = "{conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, "
                                     "message: '1 Insufficient memory'}]}"}}},
                "trainer",
                "Pending",
                "OtherResourcesShort",
                "dgx could take it; missing is: memory"},
        WhyCase{"ItsSchedulerIsAnother",
                {.pods = {{.spec = "{schedulerName: volcano}"}}},
                "trainer",
                "Pending",
                "SchedulerSilent",
                "the Pod's is called volcano"},
        WhyCase{"AnInitContainerAsksForTheGpus",
                {.pods = {{.gpus = 0,
                           .spec = "{initContainers: [{name: warm, resources: {limits: {nvidia.com/gpu: '9'}}}]}",
                           .status = kUnschedulable}}},
                "trainer",
                "Pending",
                "TooFewGPUsOnOneNode",
                "asks for 9 nvidia.com/gpu"},
        WhyCase{"KilledForItsMemory",
                {.pods = {{.node = "dgx", .status = kOutOfMemory}}},
                "trainer",
                "CUDAFails",
                "ProgramFailed",
                "ended once, last with exit code 137"},
        WhyCase{"Evicted",
                {.pods = {{.node = "dgx", .status = kEvicted}}},
                "trainer",
                "CUDAFails",
                "ProgramFailed",
                "Evicted: The node was low on resource: memory"},
        WhyCase{"ItsNodeIsGone",
                {.pods = {{.node = "sold", .status = kUp}}},
                "trainer",
                "NowAndThen",
                "NodeNotReady",
                "there is no node sold"},
        WhyCase{"ItCameToItsEnd",
                {.pods = {{.node = "dgx", .status = "{phase: Succeeded}"}}},
                "trainer",
                "None",
                "",
                "it came to its end, and nothing went wrong"},
        WhyCase{"ItRunsAndAsksForNoGpu",
                {.pods = {{.gpus = 0, .node = "dgx", .status = kUp}}},
                "trainer",
                "None",
                "",
                "the Pod asks for no GPU"},
        WhyCase{
            "AGpuTakenOutForAPendingRemapIsTheRemapsWork",
            {.nodes = {{.allocatable = 7, .proof = "True", .reason = "RowRemapPending", .message = "health: GPU 3"}}},
            "dgx",
            "",
            "RowRemapPending",
            "7 of 8 nvidia.com/gpu allocatable"},
        WhyCase{
            "AGpuTakenOutForEccIsTheEccsWork",
            {.nodes = {{.allocatable = 7, .proof = "False", .reason = "ECCUncorrected", .message = "health: GPU 3"}}},
            "dgx",
            "",
            "ECCUncorrected",
            "7 of 8 nvidia.com/gpu allocatable"}),
    NameOf);

/// Answers 403 to lists of these paths, as RBAC does.
void Forbid(Desk& desk, std::vector<std::string> paths) {
  desk.door().Intercept([paths](const kube::ApiRequest& r) -> std::optional<Result<kube::ApiResponse>> {
    if (std::ranges::find(paths, r.path) == paths.end()) return std::nullopt;
    return kube::ApiResponse{.status = 403,
                             .content_type = "application/json",
                             .body = R"({"kind":"Status","reason":"Forbidden","message":"may not","code":403})"};
  });
}
const std::vector<std::string> kWholeCluster = {"/api/v1/nodes", "/api/v1/pods", "/apis/nvidia.com/v1/clusterpolicies"};

TEST(WhyForAUserOfANamespace, APodIsExplainedAsFarAsItIsSeen) {
  Desk desk(
      {.pods = {{.name = "waits", .status = kUnschedulable}, {.name = "fails", .node = "dgx", .status = Crashed(1)}}});
  Forbid(desk, kWholeCluster);
  const auto waits = desk.Ask({"why", "waits"});
  ASSERT_TRUE(waits) << waits.error().text;
  EXPECT_EQ(data::StringOr(waits->json, "cause.reason"), "Unschedulable");
  EXPECT_THAT(waits->text,
              AllOf(HasSubstr("scheduler: 0/1 nodes"), HasSubstr("not seen     nodes (this user may not")));
  EXPECT_EQ(waits->json.at("unseen"), boost::json::array({"nodes", "pods", "clusterpolicies"}));
  const auto fails = desk.Ask({"why", "fails"});
  ASSERT_TRUE(fails) << fails.error().text;
  EXPECT_EQ(data::StringOr(fails->json, "cause.reason"), "ProgramFailed");
}

TEST(WhyForAUserOfANamespace, NodesThatMayNotBeListedCannotBeJudged) {
  Desk desk({});
  Forbid(desk, kWholeCluster);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"status"}, {"node", "dgx"}, {"why", "node/dgx"}}) {
    const auto report = desk.Ask(words);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Code::kForbidden);
    EXPECT_THAT(report.error().text, HasSubstr("nodes may not be listed"));
  }
}

TEST(WhyForAUserOfANamespace, NodesAloneAreJudgedWithoutTheirPods) {
  Desk desk({.nodes = {{.capacity = 0, .proof = ""}}});
  Forbid(desk, {"/api/v1/pods"});
  const auto status = desk.Ask({"status"});
  ASSERT_TRUE(status) << status.error().text;
  EXPECT_THAT(status->text, AllOf(HasSubstr("not seen     Pods of all namespaces"), Not(HasSubstr("no operand runs"))));
}

TEST(WhyWithoutAPod, OneOfThatNameElsewhereIsShown) {
  Desk desk({.pods = {{.name = "trainer"}}});
  const auto report = desk.Ask({"why", "trainer", "-n", "ml"});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().text,
            "there is no Pod trainer in namespace ml, and no node of that name; a Pod of that name is "
            "in namespace default");
}

TEST(WhyWithoutAPod, AControllerThatMayNotMakeItIsQuoted) {
  Desk desk({});
  desk.door().Put(kube::Event::kResource, {{"metadata", {{"name", "e"}, {"namespace", "default"}}},
                                           {"involvedObject", {{"kind", "ReplicaSet"}, {"name", "trainer-7d9c"}}},
                                           {"type", "Warning"},
                                           {"reason", "FailedCreate"},
                                           {"message", "exceeded quota: gpus, requested: requests.nvidia.com/gpu=1"}});
  const auto report = desk.Ask({"why", "trainer"});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().text,
              HasSubstr("; ReplicaSet trainer-7d9c could not make its Pods: exceeded quota: gpus"));
}

}  // namespace
}  // namespace gpuop::cli::kubectl_gpu
