// What is different on OpenShift.

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
using testing::StartsWith;

constexpr const char* kStream = "/apis/image.openshift.io/v1/namespaces/openshift/imagestreams/driver-toolkit";
constexpr const char* kRhcosFeature = "feature.node.kubernetes.io/system-os_release.OSTREE_VERSION";
constexpr const char* kRhcosLabel = "nvidia.com/gpu-operator.rhcos";
constexpr const char* kWithToolkit = R"({"operator":{"use_ocp_driver_toolkit":true}})";

std::vector<sim::HollowPool> TwoVersions() {
  return {RhcosPool("old", kOldRhcos, kOldRhcos), RhcosPool("new", kNewRhcos, kNewRhcos)};
}

/// The Driver Toolkit's image in the driver's Pod of a node; "" when there is no such Pod.
std::string ToolkitImage(Bed& bed, const std::string& node) {
  for (const json::value pod : bed.List("/api/v1/namespaces/gpu-operator/pods")) {
    if (data::StringOr(pod, "spec.nodeName") != node || !data::StringOr(pod, "metadata.name").starts_with("nvidia-"))
      continue;
    for (const json::value& container : *data::GetArray(pod, "spec.containers"))
      if (data::StringOr(container, "name") == "openshift-driver-toolkit-ctr")
        return std::string(data::StringOr(container, "image"));
  }
  return {};
}

TEST(OpenShiftTest, EachVersionOfTheSystemHasADriverWithItsToolkit) {
  Bed bed({.pools = TwoVersions(), .openshift = true});
  bed.Apply(DefaultPolicy(kWithToolkit));
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  EXPECT_EQ(ToolkitImage(bed, "old-0"), std::string("quay.example/dtk:") + kOldRhcos);
  EXPECT_EQ(ToolkitImage(bed, "new-0"), std::string("quay.example/dtk:") + kNewRhcos);
  EXPECT_EQ(bed.Label("new-0", kRhcosLabel), kNewRhcos);
  EXPECT_EQ(bed.Metric("gpu_operator_openshift_driver_toolkit_enabled"), 1);
  EXPECT_EQ(bed.Metric("gpu_operator_openshift_driver_toolkit_imagestream_broken"), 0);
  const kube::CallScope calls(bed.door());
  bed.RunFor(5min);
  EXPECT_EQ(calls.Writes(), 0U) << calls.ToString();
}

TEST(OpenShiftTest, ConstraintsMonitorsAndRulesComeAndGo) {
  Bed bed({.pools = {RhcosPool("n", kOldRhcos, kOldRhcos)}, .openshift = true});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  const auto names = [&bed](const std::string& path) {
    std::vector<std::string> out;
    for (const json::value object : bed.List(path)) out.emplace_back(data::StringOr(object, "metadata.name"));
    return out;
  };
  constexpr const char* kConstraints = "/apis/security.openshift.io/v1/securitycontextconstraints";
  EXPECT_THAT(names(kConstraints), Contains("nvidia-driver"));
  EXPECT_THAT(names("/apis/monitoring.coreos.com/v1/namespaces/gpu-operator/prometheusrules"), Not(IsEmpty()));
  EXPECT_THAT(names("/apis/rbac.authorization.k8s.io/v1/namespaces/gpu-operator/roles"), Contains("prometheus-k8s"));
  bed.Patch(kPolicyPath, R"({"spec":{"driver":{"enabled":false}}})");
  bed.RunFor(5s);
  EXPECT_THAT(names(kConstraints), Not(Contains("nvidia-driver")));
}

TEST(OpenShiftTest, TheProxyReachesTheDriver) {
  Bed bed({.pools = {RhcosPool("n", kOldRhcos, kOldRhcos)}, .openshift = true});
  bed.Apply(DefaultPolicy(kWithToolkit));
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  const auto sets = bed.DaemonSets();
  const auto driver =
      std::ranges::find_if(sets, [](const std::string& name) { return name.starts_with("nvidia-driver-daemonset"); });
  ASSERT_NE(driver, sets.end());
  const std::string before = json::serialize(bed.DaemonSet(*driver));
  EXPECT_THAT(before, HasSubstr("http://proxy.example:3128"));
  EXPECT_THAT(before, HasSubstr("gpu-operator-trusted-ca"));
  bed.Patch("/apis/config.openshift.io/v1/proxies/cluster", R"({"status":{"httpProxy":"http://other.example:3128"}})");
  bed.RunFor(5s);
  EXPECT_THAT(json::serialize(bed.DaemonSet(*driver)), HasSubstr("http://other.example:3128"));
}

/// C031: both containers of the driver's Pod may install packages.
TEST(OpenShiftTest, RepositoriesAndCertificatesReachBothContainersThatInstall) {
  Bed bed({.pools = {RhcosPool("n", kOldRhcos, kOldRhcos)}, .openshift = true});
  for (const char* name : {"site-repos", "site-ca"})
    bed.Apply({{"apiVersion", "v1"},
               {"kind", "ConfigMap"},
               {"metadata", {{"name", name}, {"namespace", "gpu-operator"}}},
               {"data", {{std::string(name) + ".pem", "x"}}}});
  bed.Apply(DefaultPolicy(R"({"operator":{"use_ocp_driver_toolkit":true},
    "driver":{"repoConfig":{"configMapName":"site-repos"},"certConfig":{"name":"site-ca"}}})"));
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  int containers = 0;
  for (const json::value set : bed.List("/apis/apps/v1/namespaces/gpu-operator/daemonsets")) {
    if (!data::StringOr(set, "metadata.name").starts_with("nvidia-driver-daemonset")) continue;
    for (const json::value& container : *data::GetArray(set, "spec.template.spec.containers")) {
      if (data::StringOr(container, "name") != "nvidia-driver-ctr" &&
          data::StringOr(container, "name") != "openshift-driver-toolkit-ctr")
        continue;
      const std::string mounts = json::serialize(*data::Find(container, "volumeMounts"));
      EXPECT_THAT(mounts, HasSubstr("site-repos.pem")) << data::StringOr(container, "name");
      EXPECT_THAT(mounts, HasSubstr("site-ca.pem")) << data::StringOr(container, "name");
      ++containers;
    }
  }
  EXPECT_EQ(containers, 2);
}

TEST(OpenShiftTest, WithoutTheToolkitTheDriverIsBuiltAsElsewhere) {
  Bed bed({.pools = TwoVersions(), .openshift = true});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  EXPECT_EQ(ToolkitImage(bed, "old-0"), "");
  EXPECT_EQ(bed.Metric("gpu_operator_openshift_driver_toolkit_enabled"), 0);
}

TEST(OpenShiftTest, AToolkitThatCannotBeUsedIsCounted) {
  Bed bed({.pools = {RhcosPool("n", "419.96.202511", "419.96.202511")}, .openshift = true});
  bed.Apply(DefaultPolicy(kWithToolkit));
  bed.RunFor(30s);
  EXPECT_EQ(bed.Metric("gpu_operator_openshift_driver_toolkit_rhcos_tags_missing"), 1);
  bed.Patch(kStream, R"({"spec":{"tags":[{"name":"","from":{"name":"quay.example/dtk:x"}}]}})");
  bed.RunFor(2s);
  EXPECT_EQ(bed.Metric("gpu_operator_openshift_driver_toolkit_imagestream_broken"), 1);
  EXPECT_EQ(bed.Metric("gpu_operator_openshift_driver_toolkit_imagestream_missing"), 1);
  bed.Delete(kStream);
  bed.RunFor(2s);
  EXPECT_EQ(bed.Metric("gpu_operator_openshift_driver_toolkit_imagestream_broken"), 0);
  EXPECT_EQ(bed.Metric("gpu_operator_openshift_driver_toolkit_enabled"), -1);
}

/// Discovery has not looked since the update: what the kubelet says counts (C029).
TEST(OpenShiftTest, AfterAnUpdateTheDriverIsNeverBuiltWithTheOldToolkit) {
  Bed bed({.pools = {RhcosPool("n", kOldRhcos, kNewRhcos)}, .openshift = true});
  bed.Apply(DefaultPolicy(kWithToolkit));
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  EXPECT_EQ(ToolkitImage(bed, "n-0"), std::string("quay.example/dtk:") + kNewRhcos);
  EXPECT_THAT(bed.Condition("StaleNodeFeatures"), StartsWith("True FeaturesDisagree"));
  EXPECT_THAT(bed.Condition("StaleNodeFeatures"), HasSubstr("n-0"));
  bed.SetLabel("n-0", kRhcosFeature, kNewRhcos);
  bed.RunFor(10s);
  EXPECT_EQ(bed.Condition("StaleNodeFeatures"), "");
}

TEST(OpenShiftTest, WhileNobodyTellsTheNewVersionNoDriverIsBuilt) {
  sim::HollowPool pool = RhcosPool("n", kOldRhcos, "");
  Bed bed({.pools = {pool}, .openshift = true});
  bed.Apply(DefaultPolicy(kWithToolkit));
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  ASSERT_EQ(ToolkitImage(bed, "n-0"), std::string("quay.example/dtk:") + kOldRhcos);
  // The kernel's label is as old as the other one, and the kubelet has another kernel by now.
  bed.SetLabel("n-0", "feature.node.kubernetes.io/kernel-version.full", "5.14.0-427.35.1.el9_4.x86_64");
  bed.RunFor(60s);
  EXPECT_EQ(ToolkitImage(bed, "n-0"), "");
  EXPECT_EQ(bed.Label("n-0", kRhcosLabel), "");
  EXPECT_THAT(bed.Condition("StaleNodeFeatures"), HasSubstr("n-0"));
}

TEST(OpenShiftTest, ADiscoveryLabelThatIsAwayForAMomentKeepsTheDriver) {
  Bed bed({.pools = {RhcosPool("n", kOldRhcos, "")}, .openshift = true});
  bed.Apply(DefaultPolicy(kWithToolkit));
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  bed.RemoveLabel("n-0", kRhcosFeature);
  bed.RunFor(30s);
  EXPECT_EQ(ToolkitImage(bed, "n-0"), std::string("quay.example/dtk:") + kOldRhcos);
}

TEST(OpenShiftTest, NvidiaDriversHaveAPoolForEachVersion) {
  Bed bed({.pools = TwoVersions(), .openshift = true});
  bed.Apply(DefaultPolicy(R"({"driver":{"useNvidiaDriverCRD":true},"operator":{"use_ocp_driver_toolkit":true}})"));
  bed.Apply(
      {{"apiVersion", "nvidia.com/v1alpha1"},
       {"kind", "NVIDIADriver"},
       {"metadata", {{"name", "d"}}},
       {"spec",
        {{"default", true},
         {"driverType", "gpu"},
         {"repository", "nvcr.io/nvidia"},
         {"image", "driver"},
         {"version", "580.1"},
         {"manager",
          {{"repository", "nvcr.io/nvidia/cloud-native"}, {"image", "k8s-driver-manager"}, {"version", "v0.12.0"}}}}}});
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  bed.RunFor(30s);
  EXPECT_EQ(ToolkitImage(bed, "old-0"), std::string("quay.example/dtk:") + kOldRhcos);
  EXPECT_EQ(ToolkitImage(bed, "new-0"), std::string("quay.example/dtk:") + kNewRhcos);
}

}  // namespace
}  // namespace gpuop::e2e
