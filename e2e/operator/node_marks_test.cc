// What operands have put on nodes goes when they do: the validator's condition, and the marks of a readiness gate that
// nobody asks for any more. Validators and device plugins are hollow here: the scenarios write what real ones write.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "data/json.h"
#include "e2e/operator/bed.h"

namespace gpuop::e2e {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kNode = "/api/v1/nodes/gpu-0";
constexpr const char* kRecord = "nvidia.com/gpu-operator.node-marks";
constexpr const char* kGpuReady = "gpu-operator.dev/GPUReady";
constexpr const char* kGateOn =
    R"({"devicePlugin":{"env":[{"name":"READINESS_TAINT","value":"true"},{"name":"READINESS_CONDITION","value":"true"}]}})";
constexpr const char* kGateOff = R"({"spec":{"devicePlugin":{"env":[]}}})";
constexpr const char* kTaint = "gpu-operator.dev/not-ready";

/// A condition of the node, as operands write them.
void Condition(Bed& bed, const std::string& type, const std::string& reason) {
  const auto answer = bed.Call(
      "PATCH", std::string(kNode) + "/status",
      R"({"status":{"conditions":[{"type":")" + type + R"(","status":"False","reason":")" + reason + R"("}]}})",
      "application/strategic-merge-patch+json");
  EXPECT_EQ(answer.status, 200) << answer.body;
}

/// What a plugin that ends leaves, beside what others have on the node.
void Mark(Bed& bed, const std::string& key = kTaint) {
  bed.Patch(kNode, R"({"spec":{"taints":[{"key":"nvidia.com/gpu","value":"present","effect":"NoSchedule"},{"key":")" +
                       key + R"(","effect":"NoSchedule"}]}})");
  Condition(bed, "gpu-operator.dev/GPUAdvertised", "PluginEnding");
}

bool Tainted(Bed& bed, const std::string& key = kTaint) {
  const json::value node = bed.Get(kNode);
  const json::array* taints = data::GetArray(node, "spec.taints");
  return taints != nullptr &&
         std::ranges::any_of(*taints, [&](const json::value& t) { return data::StringOr(t, "key") == key; });
}
bool Conditioned(Bed& bed, const std::string& type = "gpu-operator.dev/GPUAdvertised") {
  const json::value node = bed.Get(kNode);
  return std::ranges::any_of(*data::GetArray(node, "status.conditions"),
                             [&](const json::value& c) { return data::StringOr(c, "type") == type; });
}
std::string Record(Bed& bed) {
  const json::value node = bed.Get(kNode);
  const json::object* annotations = data::GetObject(node, "metadata.annotations");
  const json::value* record = annotations == nullptr ? nullptr : annotations->if_contains(kRecord);
  return record == nullptr ? std::string() : std::string(record->as_string());
}
/// Whether nothing of the gate is left; what the validator may write is written down as long as it is there.
bool Ungated(Bed& bed) { return !Tainted(bed) && !Conditioned(bed) && Record(bed) == kGpuReady; }
bool Clean(Bed& bed) {
  return !Tainted(bed) && !Conditioned(bed) && !Conditioned(bed, kGpuReady) && Record(bed).empty();
}

std::string PodOf(Bed& bed, const std::string& daemon_set) {
  for (const json::value pod : bed.List("/api/v1/namespaces/gpu-operator/pods")) {
    const std::string_view name = data::StringOr(pod, "metadata.name");
    if (name.starts_with(daemon_set + "-")) return std::string(name);
  }
  return {};
}
std::string PluginPod(Bed& bed) { return PodOf(bed, "nvidia-device-plugin-daemonset"); }
std::string ValidatorPod(Bed& bed) { return PodOf(bed, "nvidia-operator-validator"); }

/// A node that the gate has marked once.
void StartMarked(Bed& bed, const std::string& policy = kGateOn) {
  bed.Apply(DefaultPolicy(policy));
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  ASSERT_THAT(Record(bed), Not(IsEmpty()));
  Mark(bed);
}

TEST(NodeMarksTest, AGateThatIsSwitchedOffLeavesNothingBehind) {
  Bed bed;
  // A driver's Pod is replaced by nobody but who upgrades it; the host's has none.
  StartMarked(bed, R"({"driver":{"enabled":false},)" + std::string(kGateOn).substr(1));
  bed.Patch(kPolicyPath, kGateOff);
  EXPECT_TRUE(bed.Until([&] { return Ungated(bed); })) << Record(bed);
  EXPECT_TRUE(Tainted(bed, "nvidia.com/gpu")) << "others' taints stay";
  EXPECT_TRUE(Conditioned(bed, "Ready"));
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  bed.RunFor(10s);
  // A taint of that key that somebody sets from now on is not the gate's.
  Mark(bed);
  const kube::CallScope calls(bed.door());
  bed.RunFor(30s);
  EXPECT_TRUE(Tainted(bed));
  EXPECT_THAT(calls.ToString(), Not(testing::HasSubstr("nodes")));
}

TEST(NodeMarksTest, WhatARunningPluginKeepsIsNotTakenFromIt) {
  Bed bed;
  StartMarked(bed, R"({"daemonsets":{"updateStrategy":"OnDelete"},)" + std::string(kGateOn).substr(1));
  bed.RunFor(10s);
  bed.Patch(kPolicyPath, kGateOff);
  bed.RunFor(30s);
  const std::string pod = PluginPod(bed);
  ASSERT_THAT(pod, Not(IsEmpty()));
  EXPECT_TRUE(Tainted(bed));
  EXPECT_TRUE(Conditioned(bed));
  const kube::CallScope calls(bed.door());
  bed.RunFor(1min);
  EXPECT_EQ(calls.Writes(), 0U) << calls.ToString();
  bed.Delete("/api/v1/namespaces/gpu-operator/pods/" + pod);
  EXPECT_TRUE(bed.Until([&] { return Ungated(bed); })) << Record(bed);
}

TEST(NodeMarksTest, WithThePolicyGoesItsGateAndTheLabelWaitsForIt) {
  Bed bed;
  StartMarked(bed);
  bed.Delete(kPolicyPath);
  ASSERT_TRUE(bed.Until([&] {
    const bool labelled = !bed.Label("gpu-0", "nvidia.com/gpu.present").empty();
    EXPECT_TRUE(labelled || Clean(bed)) << "who uninstalls would not wait";
    return !labelled;
  }));
  EXPECT_TRUE(Clean(bed));
  EXPECT_EQ(PluginPod(bed), "");
}

TEST(NodeMarksTest, AnotherKeyTakesThePlaceOfTheFirst) {
  Bed bed;
  StartMarked(bed);
  bed.Patch(kPolicyPath,
            R"({"spec":{"devicePlugin":{"env":[{"name":"READINESS_TAINT","value":"site/gate:NoSchedule"}]}}})");
  EXPECT_TRUE(bed.Until([&] { return Record(bed) == "gpu-operator.dev/GPUReady,site/gate:NoSchedule"; }))
      << Record(bed);
  EXPECT_FALSE(Tainted(bed));
  EXPECT_FALSE(Conditioned(bed));
}

TEST(NodeMarksTest, ANodeThatAPersonTakesThePluginFromLosesTheMark) {
  Bed bed;
  StartMarked(bed);
  bed.SetLabel("gpu-0", "nvidia.com/gpu.deploy.device-plugin", "false");
  EXPECT_TRUE(bed.Until([&] { return Ungated(bed); })) << Record(bed);
}

TEST(NodeMarksTest, AnOperatorThatStartsLaterStillKnowsTheKey) {
  Bed bed;
  bed.Apply(DefaultPolicy(R"({"devicePlugin":{"env":[{"name":"READINESS_TAINT","value":"site/gate:NoSchedule"}]}})"));
  ASSERT_TRUE(bed.BecomesReady());
  bed.StopOperator();
  Mark(bed, "site/gate");
  bed.Patch(kPolicyPath, kGateOff);
  bed.RunFor(2s);
  bed.StartOperator();
  EXPECT_TRUE(bed.Until([&] { return Record(bed) == kGpuReady; }));
  EXPECT_FALSE(Tainted(bed, "site/gate"));
}

TEST(NodeMarksTest, TheConditionOfAValidatorThatWasKilledGoesWithThePolicy) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  Condition(bed, kGpuReady, "UVMMissing");
  bed.Delete(kPolicyPath);
  ASSERT_TRUE(bed.Until([&] {
    const bool labelled = !bed.Label("gpu-0", "nvidia.com/gpu.present").empty();
    EXPECT_TRUE(labelled || Clean(bed)) << "who uninstalls would not wait";
    return !labelled;
  }));
  EXPECT_TRUE(Conditioned(bed, "Ready")) << "others' conditions stay";
}

TEST(NodeMarksTest, AValidatorThatEndsMayWriteItsConditionToTheLast) {
  GPUOP_EMBEDDED_ONLY("looks at a Pod while it ends");
  Bed bed({.timelines = {Pods("nvidia-operator-validator-*", "stop-after", "20s")}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  Condition(bed, kGpuReady, "UVMMissing");
  bed.SetLabel("gpu-0", "nvidia.com/gpu.deploy.operator-validator", "false");
  bed.RunFor(10s);
  ASSERT_THAT(ValidatorPod(bed), Not(IsEmpty()));
  EXPECT_TRUE(Conditioned(bed, kGpuReady)) << "it is not taken from who would write it again";
  Condition(bed, kGpuReady, "ValidatorStopped");
  EXPECT_TRUE(bed.Until([&] { return Clean(bed); })) << Record(bed);
  EXPECT_THAT(ValidatorPod(bed), IsEmpty());
  bed.RunFor(10s);
  const kube::CallScope calls(bed.door());
  bed.RunFor(1min);
  EXPECT_EQ(calls.Writes(), 0U) << calls.ToString();
}

TEST(NodeMarksTest, NodesThatNeverHadAConditionAreNotAskedToLoseOne) {
  GPUOP_EMBEDDED_ONLY("counts each request");
  std::atomic<int> others = 0;
  Bed bed({.pools = {GpuPool(3), CpuPool(2)}, .before = [&others](Bed&, const kube::ApiRequest& request) {
             if (request.method == "PATCH" && request.path.starts_with("/api/v1/nodes/") &&
                 !request.path.starts_with("/api/v1/nodes/gpu-"))
               ++others;
           }});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.RunFor(10s);
  const auto written = [&] { return bed.door().Answered({"patch", "nodes"}, "200"); };
  const std::uint64_t before = written();
  const kube::CallScope calls(bed.door());
  bed.Delete(kPolicyPath);
  const auto labelled = [&](const std::string& node) { return !bed.Label(node, "nvidia.com/gpu.present").empty(); };
  ASSERT_TRUE(bed.Until([&] { return !labelled("gpu-0") && !labelled("gpu-1") && !labelled("gpu-2"); }));
  bed.RunFor(10s);
  // Its labels at once; the last of them, with what was written down, when the validator has gone.
  EXPECT_EQ(written() - before, 6U) << calls.ToString();
  EXPECT_THAT(calls.ToString(), Not(testing::HasSubstr("nodes/status")));
  EXPECT_EQ(others, 0) << "nodes without GPUs are not written";
}

TEST(NodeMarksTest, ADryRunNamesThem) {
  Bed bed;
  StartMarked(bed);
  bed.StopOperator();
  bed.Patch(kPolicyPath, kGateOff);
  const auto looking = bed.MakeOperator({.identity = "looking", .leader_elect = false, .act = false});
  looking->Start();
  ASSERT_TRUE(bed.Until([&] { return looking->Ready(); }));
  EXPECT_THAT(looking->DryRun(),
              testing::HasSubstr("delete mark gpu-operator.dev/not-ready:NoSchedule of Node gpu-0 when "));
  EXPECT_TRUE(Tainted(bed));
}

}  // namespace
}  // namespace gpuop::e2e
