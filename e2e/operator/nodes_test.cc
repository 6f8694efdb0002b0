// Nodes that come, go, differ and flap, on the embedded cluster.

#include <gtest/gtest.h>

#include "data/json.h"
#include "e2e/operator/bed.h"

namespace gpuop::e2e {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr const char* kOsId = "feature.node.kubernetes.io/system-os_release.ID";

std::string DriverPodUid(Bed& bed, const std::string& node) {
  for (const json::value pod : bed.List("/api/v1/namespaces/gpu-operator/pods"))
    if (data::StringOr(pod, "spec.nodeName") == node &&
        data::StringOr(pod, "metadata.name").starts_with("nvidia-driver"))
      return std::string(data::StringOr(pod, "metadata.uid"));
  return {};
}

TEST(NodesTest, ADeployLabelRemovedByHandComesBack) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.RemoveLabel("gpu-0", "nvidia.com/gpu.deploy.dcgm-exporter");
  bed.RunFor(2s);
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.deploy.dcgm-exporter"), "true");
  EXPECT_TRUE(bed.BecomesReady());
}

TEST(NodesTest, APersonsNoSwitchesOneOperandOffOnOneNode) {
  Bed bed({.pools = {GpuPool(2)}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.SetLabel("gpu-1", "nvidia.com/gpu.deploy.device-plugin", "false");
  bed.RunFor(40s);
  EXPECT_EQ(bed.Label("gpu-1", "nvidia.com/gpu.deploy.device-plugin"), "false");
  EXPECT_THAT(bed.PodImages("gpu-1", "nvidia-device-plugin-daemonset"), IsEmpty());
  EXPECT_THAT(bed.PodImages("gpu-0", "nvidia-device-plugin-daemonset"), SizeIs(1));
  EXPECT_TRUE(bed.BecomesReady());
}

TEST(NodesTest, APersonsNoThatComesWhileALabelIsWrittenStays) {
  Bed bed({.before = [](Bed& bed, const kube::ApiRequest& request) {
    if (request.method == "PATCH" && request.path == "/api/v1/nodes/gpu-0")
      bed.SetLabel("gpu-0", "nvidia.com/gpu.deploy.driver", "false");
  }});
  bed.Apply(DefaultPolicy());
  EXPECT_TRUE(bed.BecomesReady());
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.deploy.driver"), "false");
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.deploy.client"), "true");
  EXPECT_THAT(bed.PodImages("gpu-0", "nvidia-driver-daemonset"), IsEmpty());
}

TEST(NodesTest, NoOperandsAtAllOnANode) {
  Bed bed({.pools = {GpuPool(2)}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.SetLabel("gpu-1", "nvidia.com/gpu.deploy.operands", "false");
  bed.RunFor(40s);
  EXPECT_EQ(bed.Label("gpu-1", "nvidia.com/gpu.deploy.driver"), "");
  EXPECT_THAT(bed.PodImages("gpu-1", "nvidia"), IsEmpty());
  bed.RemoveLabel("gpu-1", "nvidia.com/gpu.deploy.operands");
  bed.RunFor(5s);
  EXPECT_EQ(bed.Label("gpu-1", "nvidia.com/gpu.deploy.driver"), "true");
}

TEST(NodesTest, APersonsTaintThatOperandsDoNotTolerateMakesNothingNotReady) {
  Bed bed({.pools = {GpuPool(2)}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.Patch("/api/v1/nodes/gpu-1", R"({"spec":{"taints":[{"key":"maintenance","effect":"NoSchedule"}]}})");
  bed.RunFor(40s);
  EXPECT_TRUE(bed.BecomesReady()) << bed.Condition("DevicePluginReady");  // once the DaemonSets' controller counts anew
  EXPECT_THAT(bed.PodImages("gpu-1", "nvidia-device-plugin-daemonset"), SizeIs(1));
}

TEST(NodesTest, AHostsOwnDriverIsHonouredAndCounted) {
  Bed bed({.pools = {GpuPool(3)}});
  bed.SetLabel("gpu-2", "nvidia.com/gpu.deploy.driver", "pre-installed");
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  EXPECT_THAT(bed.PodImages("gpu-2", "nvidia-driver-daemonset"), IsEmpty());
  EXPECT_THAT(bed.Condition("DriverReady"), HasSubstr("owned by the host, or switched off by label, on 1 node"));
}

TEST(NodesTest, DiscoveryLabelsThatFlapTouchNoPod) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  const std::string uid = DriverPodUid(bed, "gpu-0");
  ASSERT_NE(uid, "");
  const kube::CallScope calls(bed.door());
  for (const char* label : {kPciLabel, kOsId, "feature.node.kubernetes.io/system-os_release.VERSION_ID",
                            "feature.node.kubernetes.io/kernel-version.full"})
    bed.RemoveLabel("gpu-0", label);
  bed.RunFor(5s);
  for (const auto& [key, value] : GpuPool(1).labels) bed.SetLabel("gpu-0", key, value);
  bed.RunFor(30s);
  EXPECT_EQ(DriverPodUid(bed, "gpu-0"), uid);
  // That no node is described any more is said in the status, and nothing else is written; where the labels go slowly
  // one by one, an Event says it too.
  const std::string event =
      OnRealControlPlane() && calls.ToString().starts_with("1 create events") ? "1 create events, " : "";
  EXPECT_EQ(calls.ToString(), event + "2 patch clusterpolicies.nvidia.com/status");
  EXPECT_TRUE(bed.Ready());
}

TEST(NodesTest, AllDiscoveryLabelsGoneForGoodRemoveNothing) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  const std::string uid = DriverPodUid(bed, "gpu-0");
  for (const auto& [key, value] : GpuPool(1).labels)
    if (key.starts_with("feature.")) bed.RemoveLabel("gpu-0", key);
  bed.RunFor(20min);
  EXPECT_EQ(DriverPodUid(bed, "gpu-0"), uid);
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.present"), "true");
}

TEST(NodesTest, APulledCardIsBelievedAfterTwoProofsAndAWhile) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.RemoveLabel("gpu-0", kPciLabel);
  bed.RunFor(4min);
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.present"), "true");
  EXPECT_THAT(bed.Events("GPUsAbsent"), SizeIs(1));
  bed.RunFor(2min);
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.present"), "false");
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.deploy.driver"), "");
  bed.SetLabel("gpu-0", kPciLabel, "true");
  bed.RunFor(2s);
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.present"), "true");
}

TEST(NodesTest, WhileTheKubeletOffersGpusTheirAbsenceIsNotBelieved) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.SetCapacity("gpu-0", "nvidia.com/gpu", "8");
  bed.RunFor(1s);
  bed.RemoveLabel("gpu-0", kPciLabel);
  bed.RunFor(20min);
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.present"), "true");
}

TEST(NodesTest, ANodeThatComesBackUnderItsNameIsANewNode) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.Delete("/api/v1/nodes/gpu-0");
  bed.RunFor(1s);
  bed.Apply(
      {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "gpu-0"}, {"labels", {{kPciLabel, "true"}}}}}});
  bed.RunFor(2s);
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.deploy.driver"), "true");
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.deploy.mig-manager"), "");
  bed.RunFor(1min);
  bed.SetLabel("gpu-0", "nvidia.com/mig.capable", "true");
  bed.RunFor(2s);
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.deploy.mig-manager"), "true");
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/mig.config"), "all-disabled");
}

TEST(NodesTest, OneNodeThatCannotBeWrittenHoldsUpNoOther) {
  GPUOP_EMBEDDED_ONLY("refuses requests");
  Bed bed({.pools = {GpuPool(5)}, .start = false});
  sim::FaultRule fault;
  fault.verb = "patch", fault.resource = "nodes", fault.name = "gpu-0", fault.code = 500;
  bed.faults().Add(fault);
  bed.StartOperator();
  bed.Apply(DefaultPolicy());
  bed.RunFor(10s);
  for (int i = 1; i < 5; ++i) EXPECT_EQ(bed.Label("gpu-" + std::to_string(i), "nvidia.com/gpu.present"), "true");
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.present"), "");
  EXPECT_EQ(bed.State(), "notReady");
  bed.faults().Clear();
  EXPECT_TRUE(bed.BecomesReady());
}

TEST(NodesTest, TwoOperatingSystemsHaveTheirOwnDrivers) {
  Bed bed({.pools = {GpuPool(4, "old-{i}", "ubuntu", "22.04"), GpuPool(2, "new-{i}", "ubuntu", "24.04")}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  for (int i = 0; i < 4; ++i)
    EXPECT_THAT(bed.PodImages("old-" + std::to_string(i), "nvidia-driver"),
                ElementsAre("nvcr.io/nvidia/driver:595.91.07-ubuntu22.04"));
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(bed.PodImages("new-" + std::to_string(i), "nvidia-driver"),
                ElementsAre("nvcr.io/nvidia/driver:595.91.07-ubuntu24.04"));
  const kube::CallScope calls(bed.door());
  bed.RunFor(5min);
  EXPECT_EQ(calls.Writes(), 0U) << calls.ToString();
}

TEST(NodesTest, ASecondOperatingSystemTouchesNothingThatRuns) {
  Bed bed({.pools = {GpuPool(2, "old-{i}", "ubuntu", "22.04")}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  const auto before = data::IntOr(bed.DaemonSet("nvidia-driver-daemonset"), "metadata.generation");
  const std::string uid = DriverPodUid(bed, "old-0");
  json::object labels{
      {kPciLabel, "true"}, {kOsId, "ubuntu"}, {"feature.node.kubernetes.io/system-os_release.VERSION_ID", "24.04"}};
  for (int i = 0; i < 5; ++i) {
    bed.Apply({{"apiVersion", "v1"},
               {"kind", "Node"},
               {"metadata", {{"name", "new-" + std::to_string(i)}, {"labels", labels}}}});
    bed.RunFor(2s);
  }
  EXPECT_EQ(data::IntOr(bed.DaemonSet("nvidia-driver-daemonset"), "metadata.generation"), before);
  EXPECT_EQ(DriverPodUid(bed, "old-0"), uid);
  EXPECT_THAT(bed.DaemonSets(), Contains("nvidia-driver-daemonset-ubuntu24.04"));
}

TEST(NodesTest, ContainerEnginesHaveTheirOwnToolkits) {
  Bed bed({.pools = {GpuPool(2, "c-{i}"), GpuPool(1, "o-{i}", "ubuntu", "24.04", "cri-o://1.34.0"),
                     GpuPool(1, "d-{i}", "ubuntu", "24.04", "docker://24.0.0")}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  const auto runtime = [&bed](const std::string& node) {
    for (const json::value pod : bed.List("/api/v1/namespaces/gpu-operator/pods")) {
      if (data::StringOr(pod, "spec.nodeName") != node ||
          !data::StringOr(pod, "metadata.name").starts_with("nvidia-container-toolkit"))
        continue;
      for (const json::value& env : *data::GetArray(pod, "spec.containers[0].env"))
        if (data::StringOr(env, "name") == "RUNTIME") return std::string(data::StringOr(env, "value"));
    }
    return std::string();
  };
  EXPECT_EQ(runtime("c-0"), "containerd");
  EXPECT_EQ(runtime("c-1"), "containerd");
  EXPECT_EQ(runtime("o-0"), "crio");
  EXPECT_EQ(runtime("d-0"), "docker");
}

TEST(NodesTest, PrecompiledDriversFollowEachKernel) {
  Bed bed({.pools = {GpuPool(2, "a-{i}", "ubuntu", "22.04", "containerd://2.0", "5.15.0-117-generic"),
                     GpuPool(1, "b-{i}", "ubuntu", "22.04", "containerd://2.0", "5.15.0-118-generic")}});
  bed.Apply(DefaultPolicy(R"({"driver":{"usePrecompiled":true,"version":"550"}})"));
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  EXPECT_THAT(bed.PodImages("a-0", "nvidia-driver"),
              ElementsAre("nvcr.io/nvidia/driver:550-5.15.0-117-generic-ubuntu22.04"));
  EXPECT_THAT(bed.PodImages("b-0", "nvidia-driver"),
              ElementsAre("nvcr.io/nvidia/driver:550-5.15.0-118-generic-ubuntu22.04"));
}

TEST(NodesTest, TheDriverOfAKernelStaysWhileItsNodeIsNotReady) {
  GPUOP_EMBEDDED_ONLY("a node is lost by the control plane's clock");
  Bed bed({.pools = {GpuPool(1, "a-{i}", "ubuntu", "22.04", "containerd://2.0", "5.15.0-117-generic")}});
  bed.Apply(DefaultPolicy(R"({"driver":{"usePrecompiled":true,"version":"550"}})"));
  ASSERT_TRUE(bed.BecomesReady());
  const auto before = bed.List("/apis/apps/v1/namespaces/gpu-operator/daemonsets").size();
  bed.Partition("a-0");
  const kube::CallScope calls(bed.door());
  bed.RunFor(20min);
  EXPECT_THAT(calls.ToString(), Not(HasSubstr("delete")));
  EXPECT_EQ(bed.List("/apis/apps/v1/namespaces/gpu-operator/daemonsets").size(), before);
}

TEST(NodesTest, SwitchingToPrecompiledReplacesTheVariants) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.Patch(kPolicyPath, R"({"spec":{"driver":{"usePrecompiled":true}}})");
  bed.RunFor(90s);
  EXPECT_THAT(bed.DaemonSets(), Not(Contains("nvidia-driver-daemonset")));
  EXPECT_THAT(bed.PodImages("gpu-0", "nvidia-driver"), ElementsAre(HasSubstr("6.8.0-31-generic")));
  bed.Patch(kPolicyPath, R"({"spec":{"driver":{"enabled":false}}})");
  bed.RunFor(90s);
  EXPECT_THAT(bed.PodImages("gpu-0", "nvidia-driver"), IsEmpty());
  for (const std::string& name : bed.DaemonSets()) EXPECT_FALSE(name.starts_with("nvidia-driver")) << name;
}

TEST(NodesTest, NodesThatDiscoveryHasNotDescribedHoldUpNobody) {
  sim::HollowPool bare = GpuPool(1, "bare-{i}");
  bare.labels = {{kPciLabel, "true"}};
  Bed bed({.pools = {GpuPool(1), bare}});
  bed.Apply(DefaultPolicy());
  bed.RunFor(60s);
  EXPECT_THAT(bed.PodImages("gpu-0", "nvidia-driver"), SizeIs(1));
  EXPECT_THAT(bed.PodImages("bare-0", "nvidia-driver"), IsEmpty());
  EXPECT_THAT(bed.PodImages("bare-0", "gpu-feature-discovery"), SizeIs(1));
  EXPECT_THAT(bed.Condition("NodeFeaturesMissing"), HasSubstr("system-os_release"));
}

struct OsCase {
  const char *id, *version;
};
class OddOsTest : public testing::TestWithParam<OsCase> {};
TEST_P(OddOsTest, WithAHostDriverEveryOtherOperandRuns) {
  Bed bed({.pools = {GpuPool(1, "gpu-{i}", GetParam().id, GetParam().version)}});
  bed.Apply(DefaultPolicy(R"({"driver":{"enabled":false}})"));
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  EXPECT_THAT(bed.PodImages("gpu-0", "nvidia-device-plugin-daemonset"), SizeIs(1));
}
INSTANTIATE_TEST_SUITE_P(All, OddOsTest,
                         testing::Values(OsCase{"talos", "v1.13.0"}, OsCase{"ubuntu", "24.04"}, OsCase{"rhel", "9.6"},
                                         OsCase{"sles", "15-SP6"}, OsCase{"arch", "rolling"}, OsCase{"unknown", ""}));

TEST(NodesTest, AWrongWorkloadWordDeploysNothingAndIsTold) {
  Bed bed({.pools = {GpuPool(1), GpuPool(1, "vm-{i}")}});
  bed.SetLabel("vm-0", "nvidia.com/gpu.workload.config", "kata");
  bed.Apply(DefaultPolicy(R"({"sandboxWorkloads":{"enabled":true}})"));
  bed.RunFor(30s);
  EXPECT_THAT(bed.PodImages("vm-0", "nvidia"), IsEmpty());
  EXPECT_THAT(bed.Condition("InvalidWorkloadConfig"), HasSubstr(" on vm-0: no operand"));
  EXPECT_THAT(bed.Events("InvalidWorkloadConfig"), testing::Contains(HasSubstr("gpu.workload.config=kata")));
  bed.SetLabel("vm-0", "nvidia.com/gpu.workload.config", "vm-passthrough");
  ASSERT_TRUE(bed.BecomesReady(2min)) << bed.Condition("Error");
  EXPECT_TRUE(bed.Until([&] { return bed.Condition("InvalidWorkloadConfig").empty(); }));
  EXPECT_THAT(bed.PodImages("vm-0", "nvidia-vfio-manager"), SizeIs(1));
}

TEST(NodesTest, GroupsThatNoDriverImageExistsForAreNamed) {
  Bed bed({.pools = {GpuPool(1), GpuPool(1, "f-{i}", "fedora", "43")}});
  bed.Apply(DefaultPolicy());
  bed.RunFor(60s);
  EXPECT_THAT(bed.PodImages("gpu-0", "nvidia-driver"), SizeIs(1));
  EXPECT_THAT(bed.PodImages("f-0", "nvidia-driver"), IsEmpty());
  EXPECT_THAT(bed.Condition("UnsupportedDriverOS"), HasSubstr("fedora43"));
}

}  // namespace
}  // namespace gpuop::e2e
