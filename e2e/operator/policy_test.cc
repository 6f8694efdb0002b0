// What a ClusterPolicy becomes, on the embedded cluster.

#include <gtest/gtest.h>

#include "data/json.h"
#include "e2e/operator/bed.h"

namespace gpuop::e2e {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

TEST(PolicyTest, ADefaultPolicyBecomesReadyOnOneNode) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  EXPECT_THAT(
      bed.DaemonSets(),
      UnorderedElementsAre("gpu-feature-discovery", "nvidia-container-toolkit-daemonset", "nvidia-dcgm-exporter",
                           "nvidia-device-plugin-daemonset", "nvidia-device-plugin-mps-control-daemon",
                           "nvidia-driver-daemonset", "nvidia-mig-manager", "nvidia-operator-validator"));
  EXPECT_EQ(bed.Condition("Ready"),
            "True Reconciled: ClusterPolicy is ready as all resources have been successfully reconciled");
  EXPECT_EQ(bed.Condition("Error"), "False Ready: ");
  EXPECT_EQ(bed.Condition("DriverReady"), "True Ready: ");
  EXPECT_EQ(data::StringOr(bed.Policy(), "status.namespace"), "gpu-operator");
  EXPECT_THAT(bed.Events("Ready"), SizeIs(1));
}

TEST(PolicyTest, EverythingBelongsToThePolicyAndTellsItsState) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  const std::string uid(data::StringOr(bed.Policy(), "metadata.uid"));
  for (const std::string path :
       {"/apis/apps/v1/namespaces/gpu-operator/daemonsets", "/api/v1/namespaces/gpu-operator/services",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/gpu-operator/roles", "/apis/node.k8s.io/v1/runtimeclasses"}) {
    for (const json::value object : bed.List(path)) {
      const bool of_the_chart = path.ends_with("/roles") && data::StringOr(object, "metadata.name") == "gpu-operator";
      if (of_the_chart) continue;
      EXPECT_EQ(data::StringOr(object, "metadata.ownerReferences[0].uid"), uid) << path;
      EXPECT_TRUE(data::GetObject(object, "metadata.labels")->contains("nvidia.com/gpu-operator.state")) << path;
    }
  }
}

TEST(PolicyTest, WithoutGpuNodesItIsReadyAndHasNoDaemonSets) {
  Bed bed({.pools = {CpuPool(2)}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  EXPECT_THAT(bed.Condition("Ready"), StartsWith("True NoGPUNodes: No GPU node found"));
  EXPECT_THAT(bed.DaemonSets(), IsEmpty());
  EXPECT_EQ(bed.Label("cpu-0", "nvidia.com/gpu.present"), "");
}

TEST(PolicyTest, WithoutDiscoveryItSaysSo) {
  sim::HollowPool plain = CpuPool(1);
  plain.labels.clear();
  Bed bed({.pools = {plain}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  EXPECT_THAT(bed.Condition("Ready"), StartsWith("True NFDLabelsMissing"));
}

TEST(PolicyTest, DaemonSetsOutliveTheLastGpuNode) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  const auto before = bed.DaemonSets();
  bed.Delete("/api/v1/nodes/gpu-0");
  bed.RunFor(1s);
  EXPECT_EQ(bed.DaemonSets(), before);
}

TEST(PolicyTest, IsNeverReadyBeforeItsPodsAre) {
  Bed bed({.pools = {GpuPool(3)}, .timelines = {Pods("*", "ready-after", "20s")}});
  bed.Apply(DefaultPolicy());
  for (int i = 0; i < 60; ++i) {
    bed.RunFor(250ms);
    if (!bed.Ready()) continue;
    for (const json::value ds : bed.List("/apis/apps/v1/namespaces/gpu-operator/daemonsets"))
      ASSERT_EQ(data::IntOr(ds, "status.numberAvailable"), data::IntOr(ds, "status.desiredNumberScheduled"));
  }
  EXPECT_TRUE(bed.BecomesReady());
}

TEST(PolicyTest, StateAndConditionsNeverDisagree) {
  Bed bed({.pools = {GpuPool(2)}, .timelines = {Pods("*", "ready-after", "3s")}});
  bed.Apply(DefaultPolicy());
  for (int i = 0; i < 200; ++i) {
    bed.RunFor(50ms);
    const json::value policy = bed.Policy();
    const std::string_view state = data::StringOr(policy, "status.state");
    if (state.empty()) continue;
    EXPECT_EQ(state == "ready", bed.Condition(policy, "Ready").starts_with("True"));
    EXPECT_EQ(state == "ready", bed.Condition(policy, "Error").starts_with("False"));
  }
}

TEST(PolicyTest, SaysPerOperandWhatIsWaitedFor) {
  Bed bed({.pools = {GpuPool(2)}, .timelines = {Pods("nvidia-dcgm-exporter-*", "ready-after", "never")}});
  bed.Apply(DefaultPolicy());
  bed.RunFor(60s);
  EXPECT_EQ(bed.State(), "notReady");
  EXPECT_EQ(bed.Condition("DcgmExporterReady"),
            "False NotReady: DaemonSet nvidia-dcgm-exporter: 0 of 2 Pods available");
  EXPECT_EQ(bed.Condition("DriverReady"), "True Ready: ");
  EXPECT_EQ(bed.Condition("Error"),
            "True OperandNotReady: ClusterPolicy is not ready; states not ready: [state-dcgm-exporter]");
}

struct SwitchCase {
  const char *name, *patch, *daemon_set, *condition, *says;
};
class SwitchTest : public testing::TestWithParam<SwitchCase> {};

/// Each operand goes with all that is its own, alone, and comes back.
TEST_P(SwitchTest, TakesAwayOneOperandAndBringsItBack) {
  const SwitchCase& c = GetParam();
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  const auto before = bed.DaemonSets();
  ASSERT_THAT(before, Contains(c.daemon_set));
  bed.Patch(kPolicyPath, std::string(R"({"spec":{")") + c.patch + R"(":{"enabled":false}}})");
  bed.RunFor(20s);
  EXPECT_THAT(bed.DaemonSets(), Not(Contains(c.daemon_set)));
  EXPECT_THAT(bed.Condition(c.condition), StartsWith(c.says));
  EXPECT_TRUE(bed.Ready());
  bed.Patch(kPolicyPath, std::string(R"({"spec":{")") + c.patch + R"(":{"enabled":true}}})");
  bed.RunFor(20s);
  EXPECT_EQ(bed.DaemonSets(), before);
  EXPECT_TRUE(bed.Ready());
}
INSTANTIATE_TEST_SUITE_P(
    All, SwitchTest,
    testing::Values(
        SwitchCase{"Driver", "driver", "nvidia-driver-daemonset", "DriverReady",
                   "True HostOwned: owned by the host on 1 node"},
        SwitchCase{"Toolkit", "toolkit", "nvidia-container-toolkit-daemonset", "ContainerToolkitReady",
                   "True HostOwned: owned by the host on 1 node"},
        SwitchCase{"DevicePlugin", "devicePlugin", "nvidia-device-plugin-daemonset", "DevicePluginReady",
                   "True Disabled"},
        SwitchCase{"DcgmExporter", "dcgmExporter", "nvidia-dcgm-exporter", "DcgmExporterReady", "True Disabled"},
        SwitchCase{"FeatureDiscovery", "gfd", "gpu-feature-discovery", "GpuFeatureDiscoveryReady", "True Disabled"},
        SwitchCase{"MigManager", "migManager", "nvidia-mig-manager", "MigManagerReady", "True Disabled"}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(PolicyTest, OperandsThatAreOffByDefaultCanBeSwitchedOn) {
  Bed bed;
  bed.Apply(DefaultPolicy(R"({"dcgm":{"enabled":true},"nodeStatusExporter":{"enabled":true}})"));
  ASSERT_TRUE(bed.BecomesReady());
  EXPECT_THAT(bed.DaemonSets(), testing::IsSupersetOf({"nvidia-dcgm", "nvidia-node-status-exporter"}));
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.deploy.dcgm"), "true");
}

TEST(PolicyTest, TheSandboxSetComesForVirtualMachines) {
  Bed bed({.pools = {GpuPool(1), GpuPool(1, "vm-{i}")}});
  bed.SetLabel("vm-0", "nvidia.com/gpu.workload.config", "vm-passthrough");
  bed.Apply(DefaultPolicy(R"({"sandboxWorkloads":{"enabled":true}})"));
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  EXPECT_THAT(bed.DaemonSets(),
              testing::IsSupersetOf({"nvidia-sandbox-validator", "nvidia-vfio-manager",
                                     "nvidia-sandbox-device-plugin-daemonset", "nvidia-vgpu-device-manager"}));
  EXPECT_EQ(bed.Label("vm-0", "nvidia.com/gpu.deploy.vfio-manager"), "true");
  EXPECT_EQ(bed.Label("vm-0", "nvidia.com/gpu.deploy.driver"), "");
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.deploy.driver"), "true");
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.deploy.vfio-manager"), "");
}

TEST(PolicyTest, AChangeOfOneFieldChangesOnlyTheDaemonSetsItConcerns) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  const auto generations = [&bed] {
    std::map<std::string, std::int64_t> out;
    for (const json::value ds : bed.List("/apis/apps/v1/namespaces/gpu-operator/daemonsets"))
      out[std::string(data::StringOr(ds, "metadata.name"))] = data::IntOr(ds, "metadata.generation");
    return out;
  };
  auto wanted = generations();
  bed.Patch(kPolicyPath, R"({"spec":{"devicePlugin":{"env":[{"name":"PASS_DEVICE_SPECS","value":"false"}]}}})");
  bed.RunFor(20s);
  ++wanted["nvidia-device-plugin-daemonset"];
  EXPECT_EQ(generations(), wanted);
  EXPECT_TRUE(bed.Ready());
}

TEST(PolicyTest, ANewImageReachesTheDaemonSet) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.Patch(
      kPolicyPath,
      R"({"spec":{"gfd":{"version":"sha256:0123456789012345678901234567890123456789012345678901234567890123"}}})");
  bed.RunFor(30s);
  EXPECT_EQ(data::StringOr(bed.DaemonSet("gpu-feature-discovery"), "spec.template.spec.containers[0].image"),
            "nvcr.io/nvidia/k8s-device-plugin@sha256:0123456789012345678901234567890123456789012345678901234567890123");
  EXPECT_TRUE(bed.Ready());
}

TEST(PolicyTest, ASecondPolicyIsIgnoredAndToldSo) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.RunFor(2s);
  bed.Apply(DefaultPolicy(R"({"driver":{"enabled":false}})", "another"));
  bed.RunFor(5s);
  EXPECT_EQ(bed.State("another"), "ignored");
  EXPECT_THAT(bed.Condition(bed.Policy("another"), "Error"), HasSubstr("ClusterPolicy cluster-policy is older"));
  EXPECT_TRUE(bed.Ready());
  EXPECT_THAT(bed.DaemonSets(), Contains("nvidia-driver-daemonset"));
}

TEST(PolicyTest, TheNextOldestTakesOverWhenTheFirstGoes) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.RunFor(2s);
  bed.Apply(DefaultPolicy(R"({"gfd":{"enabled":false}})", "another"));
  bed.RunFor(2s);
  bed.Delete(kPolicyPath);
  // What only the first wanted is left to the garbage collector.
  const auto taken_over = [&bed] {
    return bed.State("another") == "ready" && bed.DaemonSet("gpu-feature-discovery").is_null();
  };
  EXPECT_TRUE(bed.Until(taken_over, 2min)) << bed.State("another");
  EXPECT_THAT(bed.DaemonSets(), Contains("nvidia-driver-daemonset"));
}

TEST(PolicyTest, AServiceThatChangesKeepsItsAddress) {
  static constexpr const char* kService = "/api/v1/namespaces/gpu-operator/services/nvidia-dcgm-exporter";
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  const json::value before = bed.Get(kService);
  ASSERT_NE(data::StringOr(before, "spec.clusterIP"), "");
  ASSERT_EQ(data::StringOr(before, "spec.internalTrafficPolicy"), "Cluster");
  bed.Patch(kPolicyPath, R"({"spec":{"dcgmExporter":{"service":{"internalTrafficPolicy":"Local"}}}})");
  ASSERT_TRUE(bed.Until([&] { return data::StringOr(bed.Get(kService), "spec.internalTrafficPolicy") == "Local"; }));
  EXPECT_EQ(data::StringOr(bed.Get(kService), "spec.clusterIP"), data::StringOr(before, "spec.clusterIP"));
  EXPECT_EQ(data::StringOr(bed.Get(kService), "metadata.uid"), data::StringOr(before, "metadata.uid"));
  bed.Patch(kPolicyPath, R"({"spec":{"dcgmExporter":{"enabled":false}}})");
  EXPECT_TRUE(bed.Until([&] { return bed.Get(kService).is_null(); }));
}

TEST(PolicyTest, PodSecurityLabelsComeAndGoWithTheSwitch) {
  Bed bed;
  bed.Apply(DefaultPolicy(R"({"psa":{"enabled":true}})"));
  ASSERT_TRUE(bed.BecomesReady());
  const auto label = [&bed](const char* which) {
    const json::value ns = bed.Get("/api/v1/namespaces/gpu-operator");
    const json::value* v =
        data::GetObject(ns, "metadata.labels")->if_contains(std::string("pod-security.kubernetes.io/") + which);
    return v == nullptr ? std::string() : std::string(v->as_string());
  };
  for (const char* which : {"enforce", "audit", "warn"}) EXPECT_EQ(label(which), "privileged");
  bed.Patch(kPolicyPath, R"({"spec":{"psa":{"enabled":false}}})");
  bed.RunFor(5s);
  for (const char* which : {"enforce", "audit", "warn"}) EXPECT_EQ(label(which), "");
}

TEST(PolicyTest, RuntimeClassesFollowCdiAndNri) {
  Bed bed;
  const auto classes = [&bed] {
    std::vector<std::string> out;
    for (const json::value c : bed.List("/apis/node.k8s.io/v1/runtimeclasses"))
      out.emplace_back(data::StringOr(c, "metadata.name"));
    return out;
  };
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  EXPECT_THAT(classes(), UnorderedElementsAre("nvidia", "nvidia-cdi", "nvidia-legacy"));
  bed.Patch(kPolicyPath, R"({"spec":{"cdi":{"nriPluginEnabled":true}}})");
  ASSERT_TRUE(bed.Until([&] { return classes().empty(); }));
  bed.Patch(kPolicyPath, R"({"spec":{"cdi":{"nriPluginEnabled":false,"enabled":false}}})");
  EXPECT_TRUE(bed.Until([&] { return classes() == std::vector<std::string>{"nvidia"}; }));
}

TEST(PolicyTest, AMissingConfigMapHoldsTheDriverAsItIs) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  const json::value before = bed.DaemonSet("nvidia-driver-daemonset").at("spec");
  bed.Patch(kPolicyPath, R"({"spec":{"driver":{"version":"600.1","repoConfig":{"configMapName":"site-repos"}}}})");
  bed.RunFor(10s);
  EXPECT_EQ(bed.State(), "notReady");
  EXPECT_THAT(bed.Condition("DriverReady"),
              testing::AllOf(StartsWith("False PrerequisiteNotMet"), HasSubstr("site-repos")));
  EXPECT_EQ(bed.DaemonSet("nvidia-driver-daemonset").at("spec"), before);
  EXPECT_THAT(bed.Events("PrerequisiteNotMet"), SizeIs(1));
  EXPECT_EQ(bed.Condition("DcgmExporterReady"), "True Ready: ");
  bed.Apply({{"apiVersion", "v1"},
             {"kind", "ConfigMap"},
             {"metadata", {{"name", "site-repos"}, {"namespace", "gpu-operator"}}},
             {"data", {{"site.list", "deb x"}}}});
  bed.RunFor(10s);
  EXPECT_THAT(data::StringOr(bed.DaemonSet("nvidia-driver-daemonset"), "spec.template.spec.containers[0].image"),
              HasSubstr("600.1"));
}

}  // namespace
}  // namespace gpuop::e2e
