// NVIDIADrivers on the embedded cluster: routing, pools, conflicts.

#include <gtest/gtest.h>

#include "data/json.h"
#include "e2e/operator/bed.h"

namespace gpuop::e2e {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char* kOwner = "nvidia.com/gpu-operator.driver.owner";
constexpr const char* kByCrd = R"({"driver":{"useNvidiaDriverCRD":true}})";

json::object Driver(const std::string& name, const std::string& version, json::object selector = {},
                    bool is_default = false) {
  json::object spec{
      {"default", is_default},
      {"driverType", "gpu"},
      {"repository", "nvcr.io/nvidia"},
      {"image", "driver"},
      {"version", version},
      {"manager",
       {{"repository", "nvcr.io/nvidia/cloud-native"}, {"image", "k8s-driver-manager"}, {"version", "v0.12.0"}}}};
  if (!selector.empty()) spec["nodeSelector"] = std::move(selector);
  return {{"apiVersion", "nvidia.com/v1alpha1"},
          {"kind", "NVIDIADriver"},
          {"metadata", {{"name", name}}},
          {"spec", std::move(spec)}};
}
std::string PathOf(const std::string& name) { return "/apis/nvidia.com/v1alpha1/nvidiadrivers/" + name; }

sim::HollowPool Pool(std::int64_t count, const std::string& pool, const std::string& os_version = "24.04") {
  sim::HollowPool out = GpuPool(count, pool + "-{i}", "ubuntu", os_version);
  out.labels.emplace_back("pool", pool);
  return out;
}

std::string StateOf(Bed& bed, const std::string& name) {
  return std::string(data::StringOr(bed.Get(PathOf(name)), "status.state"));
}
bool Becomes(Bed& bed, const std::string& name, const std::string& state) {
  return bed.Until([&] { return StateOf(bed, name) == state; }, 2min);
}
std::string ErrorOf(Bed& bed, const std::string& name) { return bed.Condition(bed.Get(PathOf(name)), "Error"); }

TEST(DriverTest, EachPoolHasItsOwnDriverAndTheRestTheDefault) {
  Bed bed({.pools = {Pool(2, "a"), Pool(1, "b"), Pool(1, "c")}});
  bed.Apply(DefaultPolicy(kByCrd));
  bed.Apply(Driver("everywhere", "550.1", {}, true));
  bed.Apply(Driver("for-a", "560.1", {{"pool", "a"}}));
  bed.Apply(Driver("for-b", "570.1", {{"pool", "b"}}));
  for (const char* name : {"everywhere", "for-a", "for-b"})
    EXPECT_TRUE(Becomes(bed, name, "ready")) << ErrorOf(bed, name);
  EXPECT_THAT(bed.PodImages("a-1", "nvidia-gpu-driver"), ElementsAre("nvcr.io/nvidia/driver:560.1-ubuntu24.04"));
  EXPECT_THAT(bed.PodImages("b-0", "nvidia-gpu-driver"), ElementsAre("nvcr.io/nvidia/driver:570.1-ubuntu24.04"));
  EXPECT_THAT(bed.PodImages("c-0", "nvidia-gpu-driver"), ElementsAre("nvcr.io/nvidia/driver:550.1-ubuntu24.04"));
  EXPECT_EQ(bed.Label("a-0", kOwner), "for-a");
  EXPECT_TRUE(bed.BecomesReady());
  EXPECT_EQ(bed.Condition("DriverReady"), "True ByNVIDIADriver: drivers are described by NVIDIADriver objects");
  const kube::CallScope calls(bed.door());
  bed.RunFor(5min);
  EXPECT_EQ(calls.Writes(), 0U) << calls.ToString();
}

TEST(DriverTest, IsNotReadyBeforeItsNodesAreRoutedToIt) {
  GPUOP_EMBEDDED_ONLY("refuses requests");
  Bed bed({.pools = {Pool(1, "a")}, .start = false});
  sim::FaultRule fault;
  fault.verb = "patch", fault.resource = "nodes", fault.code = 500;
  bed.faults().Add(fault);
  bed.StartOperator();
  bed.Apply(DefaultPolicy(kByCrd));
  bed.Apply(Driver("d", "550.1", {}, true));
  bed.RunFor(10s);
  EXPECT_EQ(StateOf(bed, "d"), "notReady");
  EXPECT_THAT(ErrorOf(bed, "d"), HasSubstr("node labels are being written"));
  bed.faults().Clear();
  EXPECT_TRUE(Becomes(bed, "d", "ready")) << ErrorOf(bed, "d");
  EXPECT_THAT(bed.PodImages("a-0", "nvidia-gpu-driver"), SizeIs(1));
}

TEST(DriverTest, OverlappingSelectorsAreToldAndChangeNothing) {
  Bed bed({.pools = {Pool(1, "a"), Pool(1, "b")}});
  bed.Apply(DefaultPolicy(kByCrd));
  bed.Apply(Driver("for-a", "560.1", {{"pool", "a"}}));
  bed.Apply(Driver("for-b", "570.1", {{"pool", "b"}}));
  ASSERT_TRUE(Becomes(bed, "for-a", "ready"));
  ASSERT_TRUE(Becomes(bed, "for-b", "ready"));
  bed.Apply(Driver("rival", "580.1", {{"pool", "a"}}));
  bed.RunFor(10s);
  EXPECT_EQ(StateOf(bed, "for-a"), "notReady");
  EXPECT_EQ(StateOf(bed, "rival"), "notReady");
  EXPECT_THAT(
      ErrorOf(bed, "rival"),
      StartsWith("True ConflictingNodeSelector: multiple NVIDIADrivers match the same node: for-a, rival on a-0"));
  EXPECT_EQ(bed.Label("a-0", kOwner), "for-a");
  EXPECT_THAT(bed.PodImages("a-0", "nvidia-gpu-driver"), ElementsAre(HasSubstr("560.1")));
  EXPECT_EQ(StateOf(bed, "for-b"), "ready");
  bed.Delete(PathOf("rival"));
  EXPECT_TRUE(Becomes(bed, "for-a", "ready"));
}

TEST(DriverTest, TwoDefaultsAreToldAndChangeNothing) {
  Bed bed({.pools = {Pool(1, "a"), Pool(1, "b")}});
  bed.Apply(DefaultPolicy(kByCrd));
  bed.Apply(Driver("first", "560.1", {}, true));
  bed.Apply(Driver("for-b", "570.1", {{"pool", "b"}}));
  ASSERT_TRUE(Becomes(bed, "first", "ready"));
  bed.Apply(Driver("second", "580.1", {}, true));
  bed.RunFor(10s);
  EXPECT_THAT(ErrorOf(bed, "second"),
              StartsWith("True ReconcileFailed: multiple default NVIDIADrivers found: first, second"));
  EXPECT_EQ(bed.Label("a-0", kOwner), "first");
  EXPECT_EQ(StateOf(bed, "for-b"), "ready");
  bed.Delete(PathOf("first"));
  EXPECT_TRUE(Becomes(bed, "second", "ready"));
  EXPECT_EQ(bed.Label("a-0", kOwner), "second");
}

TEST(DriverTest, AnotherDefaultTakesOverWhenTheFieldMoves) {
  Bed bed({.pools = {Pool(1, "a")}});
  bed.Apply(DefaultPolicy(kByCrd));
  bed.Apply(Driver("default", "560.1", {}, true));
  ASSERT_TRUE(Becomes(bed, "default", "ready"));
  bed.Delete(PathOf("default"));
  bed.Apply(Driver("other", "570.1", {}, true));
  EXPECT_TRUE(Becomes(bed, "other", "ready")) << ErrorOf(bed, "other");
  EXPECT_THAT(bed.PodImages("a-0", "nvidia-gpu-driver"), testing::Contains(HasSubstr("570.1")));
}

TEST(DriverTest, ANodeThatComesToMatchAnotherIsRoutedAnew) {
  Bed bed({.pools = {Pool(2, "a")}});
  bed.Apply(DefaultPolicy(kByCrd));
  bed.Apply(Driver("everywhere", "550.1", {}, true));
  bed.Apply(Driver("special", "570.1", {{"special", "yes"}}));
  ASSERT_TRUE(Becomes(bed, "everywhere", "ready"));
  EXPECT_EQ(bed.Label("a-1", kOwner), "everywhere");
  bed.SetLabel("a-1", "special", "yes");
  bed.RunFor(2s);
  EXPECT_EQ(bed.Label("a-1", kOwner), "special");
}

TEST(DriverTest, AVanishedPoolGoesWithItsAccounts) {
  Bed bed({.pools = {Pool(1, "a", "22.04"), Pool(1, "b", "24.04")}});
  bed.Apply(DefaultPolicy(kByCrd));
  bed.Apply(Driver("d", "550.1", {}, true));
  ASSERT_TRUE(Becomes(bed, "d", "ready"));
  const std::string role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/nvidia-gpu-driver-d-ubuntu22.04";
  ASSERT_FALSE(bed.Get(role).is_null());
  bed.SetLabel("a-0", "feature.node.kubernetes.io/system-os_release.VERSION_ID", "24.04");
  bed.RunFor(10s);
  EXPECT_TRUE(bed.Get(role).is_null());
  EXPECT_EQ(StateOf(bed, "d"), "ready");
}

TEST(DriverTest, WithoutNodesItIsReadyAndHasNothing) {
  Bed bed({.pools = {CpuPool(1)}});
  bed.Apply(DefaultPolicy(kByCrd));
  bed.Apply(Driver("d", "550.1", {{"pool", "none"}}));
  EXPECT_TRUE(Becomes(bed, "d", "ready"));
  EXPECT_THAT(bed.DaemonSets(), IsEmpty());
}

TEST(DriverTest, IsDisabledWhileThePolicyDescribesDriversItself) {
  Bed bed({.pools = {Pool(1, "a")}});
  bed.Apply(DefaultPolicy());
  bed.Apply(Driver("d", "550.1", {}, true));
  EXPECT_TRUE(Becomes(bed, "d", "disabled"));
  EXPECT_EQ(bed.Label("a-0", kOwner), "");
  EXPECT_TRUE(bed.BecomesReady());
  EXPECT_THAT(bed.PodImages("a-0", "nvidia-driver-daemonset"), SizeIs(1));
}

TEST(DriverTest, TakingOverFromThePolicyLeavesDriversRunning) {
  Bed bed({.pools = {Pool(1, "a")}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  std::string uid;
  for (const json::value pod : bed.List("/api/v1/namespaces/gpu-operator/pods"))
    if (data::StringOr(pod, "metadata.name").starts_with("nvidia-driver")) uid = data::StringOr(pod, "metadata.uid");
  bed.Apply(Driver("d", "550.1", {}, true));
  bed.Patch(kPolicyPath, std::string(R"({"spec":)") + kByCrd + "}");
  bed.RunFor(30s);
  EXPECT_THAT(bed.DaemonSets(), testing::Not(testing::Contains("nvidia-driver-daemonset")));
  bool still = false;
  for (const json::value pod : bed.List("/api/v1/namespaces/gpu-operator/pods"))
    still = still || data::StringOr(pod, "metadata.uid") == uid;
  EXPECT_TRUE(still);
  EXPECT_EQ(bed.Label("a-0", "nvidia.com/gpu-driver-upgrade-state"), "upgrade-required");
  EXPECT_EQ(bed.State(), "notReady");
  EXPECT_THAT(bed.Condition("Error"), HasSubstr("driver upgrade incomplete on nodes: 1 upgrade-required"));
}

TEST(DriverTest, DeletionTakesAllOfIt) {
  Bed bed({.pools = {Pool(1, "a")}});
  bed.Apply(DefaultPolicy(kByCrd));
  bed.Apply(Driver("d", "550.1", {}, true));
  ASSERT_TRUE(Becomes(bed, "d", "ready"));
  bed.Delete(PathOf("d"));
  bed.RunFor(60s);
  for (const std::string& name : bed.DaemonSets()) EXPECT_FALSE(name.starts_with("nvidia-gpu-driver")) << name;
  EXPECT_EQ(bed.Label("a-0", kOwner), "");
}

struct Case {
  const char *name, *patch, *says;
};
class BadDriverTest : public testing::TestWithParam<Case> {};
TEST_P(BadDriverTest, IsToldByItsFieldAndOthersGoOn) {
  Bed bed({.pools = {Pool(1, "a"), Pool(1, "b")}});
  bed.Apply(DefaultPolicy(kByCrd));
  bed.Apply(Driver("good", "550.1", {{"pool", "b"}}));
  json::object driver = Driver("bad", "560.1", {{"pool", "a"}});
  for (const auto& [key, value] : data::ParseJson(GetParam().patch)->as_object())
    driver["spec"].as_object()[key] = value;
  bed.Apply(driver);
  EXPECT_TRUE(Becomes(bed, "good", "ready")) << ErrorOf(bed, "good");
  EXPECT_EQ(StateOf(bed, "bad"), "notReady");
  EXPECT_THAT(ErrorOf(bed, "bad"), HasSubstr(GetParam().says));
  EXPECT_THAT(bed.PodImages("a-0", "nvidia-gpu-driver"), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(
    All, BadDriverTest,
    testing::Values(
        Case{"ReservedKey", R"({"nodeSelector":{"nvidia.com/gpu-operator.driver.owner":"x"}})", "spec.nodeSelector"},
        Case{"PrecompiledWithGds",
             R"({"usePrecompiled":true,"gds":{"enabled":true,"repository":"r","image":"i","version":"v"}})",
             "spec.usePrecompiled"},
        Case{"GdsWithoutOpenModules", R"({"gds":{"enabled":true,"repository":"r","image":"i","version":"v2.17.5"}})",
             "spec.gds.version"},
        Case{"MissingSecret", R"({"secretEnv":"nowhere"})", "nowhere"},
        Case{"MissingConfigMap", R"({"kernelModuleConfig":{"name":"nowhere"}})", "nowhere"},
        Case{"EnvTwice", R"({"env":[{"name":"A"},{"name":"A"}]})", "spec.env[1].name"},
        Case{"BadImage", R"({"image":"driver:tag"})", "spec.image"},
        Case{"BadToleration", R"({"tolerations":[{"key":"a","operator":"Is"}]})", "spec.tolerations[0].operator"}),
    [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace gpuop::e2e
