// What would be written is shown before anything is.

#include <gtest/gtest.h>

#include "e2e/operator/bed.h"

namespace gpuop::e2e {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// What an operator that only looks says of the cluster.
std::string DryRun(Bed& bed) {
  const auto looking = bed.MakeOperator({.identity = "looking", .leader_elect = false, .act = false});
  looking->Start();
  EXPECT_TRUE(bed.Until([&] { return looking->Ready(); }));
  return looking->DryRun();
}

TEST(DryRunTest, TellsWhatWouldBeWrittenAndWritesNothing) {
  Bed bed({.start = false});
  bed.Apply(DefaultPolicy());
  const kube::CallScope calls(bed.door());
  const std::string text = DryRun(bed);
  EXPECT_THAT(text, HasSubstr("DaemonSet nvidia-device-plugin-daemonset"));
  EXPECT_THAT(text, HasSubstr("RuntimeClass nvidia"));
  EXPECT_THAT(text, HasSubstr("Node gpu-0"));
  EXPECT_THAT(text, HasSubstr("nvidia.com/gpu.deploy.driver"));
  EXPECT_EQ(calls.Writes(), 0U) << calls.ToString();
  EXPECT_THAT(bed.DaemonSets(), testing::IsEmpty());
}

TEST(DryRunTest, TellsNothingWhereNothingDiffersAndOnlyTheFieldThatDoes) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.RunFor(5s);
  EXPECT_EQ(DryRun(bed), "");
  bed.StopOperator();
  bed.Patch(kPolicyPath, R"({"spec":{"gfd":{"version":"v0.99.0"}}})");
  bed.RunFor(1s);
  std::string text = DryRun(bed);
  EXPECT_THAT(text, HasSubstr("change DaemonSet gpu-feature-discovery"));
  EXPECT_THAT(text, HasSubstr("v0.99.0"));
  EXPECT_THAT(text, testing::Not(HasSubstr("nvidia-dcgm-exporter")));
  bed.Patch(kPolicyPath, R"({"spec":{"gfd":{"version":"v0.20.0","enabled":false}}})");
  bed.RunFor(1s);
  text = DryRun(bed);
  EXPECT_THAT(text, HasSubstr("delete DaemonSet gpu-feature-discovery\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("delete DaemonSet nvidia")));
}

TEST(DryRunTest, OfAPolicyWithAnErrorTellsTheErrorAndNoDeletion) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.StopOperator();
  bed.Patch(kPolicyPath, R"({"spec":{"cdi":{"enabled":false,"nriPluginEnabled":true}}})");
  bed.RunFor(1s);
  EXPECT_THAT(DryRun(bed), testing::AllOf(testing::StartsWith("ClusterPolicy cluster-policy is wrong"),
                                          HasSubstr("spec.cdi.nriPluginEnabled"), testing::Not(HasSubstr("delete"))));
}

TEST(DryRunTest, TellsWhatDriversOfNvidiaDriversWouldBecome) {
  Bed bed({.start = false});
  bed.SetLabel("gpu-0", "nvidia.com/gpu.present", "true");
  bed.SetLabel("gpu-0", "nvidia.com/gpu-operator.driver.owner", "d");
  bed.Apply(DefaultPolicy(R"({"driver":{"useNvidiaDriverCRD":true}})"));
  bed.Apply({{"apiVersion", "nvidia.com/v1alpha1"},
             {"kind", "NVIDIADriver"},
             {"metadata", {{"name", "d"}}},
             {"spec",
              {{"default", true},
               {"repository", "nvcr.io/nvidia"},
               {"image", "driver"},
               {"version", "580.1"},
               {"manager", {{"repository", "nvcr.io/nvidia"}, {"image", "k8s-driver-manager"}, {"version", "v1"}}}}}});
  bed.RunFor(1s);
  EXPECT_THAT(DryRun(bed), HasSubstr("create DaemonSet nvidia-gpu-driver-ubuntu24.04-"));
}

}  // namespace
}  // namespace gpuop::e2e
