// Situations from public threads, by the number under which they are known (docs/operator.md lists where each is
// tested).

#include <gtest/gtest.h>

#include "data/json.h"
#include "e2e/operator/bed.h"

namespace gpuop::e2e {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

TEST(CasesTest, C002HoursOfHeartbeatsWakeNobodyAndLogNothing) {
  GPUOP_EMBEDDED_ONLY("kubelets beat by the machine's clock");
  Bed bed({.pools = {GpuPool(50)}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.RunFor(30s);
  const std::size_t lines = bed.log().Lines().size();
  const auto turns = bed.Metric("gpu_operator_reconciliation_total");
  const kube::CallScope calls(bed.door());
  bed.RunFor(1h);
  EXPECT_EQ(bed.log().Lines().size(), lines);
  EXPECT_EQ(bed.Metric("gpu_operator_reconciliation_total"), turns);
  EXPECT_EQ(calls.Writes(), 0U) << calls.ToString();
}

/// Pods of operands on a node that ask for a RuntimeClass, or do not, by their uid; the driver's and the toolkit's,
/// which never do, are left out.
std::map<std::string, std::string> RuntimeClasses(Bed& bed, const std::string& node) {
  std::map<std::string, std::string> out;
  for (const json::value pod : bed.List("/api/v1/namespaces/gpu-operator/pods")) {
    const std::string_view name = data::StringOr(pod, "metadata.name");
    if (data::StringOr(pod, "spec.nodeName") != node) continue;
    if (name.starts_with("nvidia-driver-") || name.starts_with("nvidia-container-toolkit-")) continue;
    out[std::string(data::StringOr(pod, "metadata.uid"))] = data::StringOr(pod, "spec.runtimeClassName");
  }
  return out;
}

TEST(CasesTest, C007DockersNodesKeepTheirPodsWhichNameNoRuntimeClassWhenContainerdComes) {
  sim::HollowPool later = GpuPool(1, "c-{i}");
  later.labels[0] = {"feature.node.kubernetes.io/cpu-model.family", "6"};
  Bed bed({.pools = {GpuPool(3, "d-{i}", "ubuntu", "24.04", "docker://20.10.20"), later}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  const auto docker = RuntimeClasses(bed, "d-2");
  EXPECT_THAT(docker, SizeIs(4));
  EXPECT_THAT(docker, testing::Each(testing::Pair(testing::_, "")));
  bed.SetLabel("c-0", kPciLabel, "true");
  ASSERT_TRUE(bed.Until([&] { return RuntimeClasses(bed, "c-0").size() == 4; }));
  EXPECT_THAT(RuntimeClasses(bed, "c-0"), testing::Each(testing::Pair(testing::_, "nvidia")));
  EXPECT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  EXPECT_EQ(RuntimeClasses(bed, "d-2"), docker);
  EXPECT_EQ(bed.Condition("DevicePluginReady"), "True Ready: ");
}

TEST(CasesTest, C010AMissingDefinitionIsNamedAndFollowedWhenItComes) {
  Bed bed({.start = false});
  const std::string path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nvidiadrivers.nvidia.com";
  const json::value definition = bed.Get(path);
  bed.Delete(path);
  bed.RunFor(2s);
  bed.StartOperator();
  bed.Apply(DefaultPolicy(R"({"driver":{"useNvidiaDriverCRD":true}})"));
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  EXPECT_THAT(bed.Condition("DefinitionsMissing"), HasSubstr("nvidiadrivers.nvidia.com"));
  bed.Apply({{"apiVersion", "apiextensions.k8s.io/v1"},
             {"kind", "CustomResourceDefinition"},
             {"metadata", {{"name", "nvidiadrivers.nvidia.com"}}},
             {"spec", definition.at("spec")}});
  bed.RunFor(5s);
  EXPECT_EQ(bed.Condition("DefinitionsMissing"), "");
}

TEST(CasesTest, C013MissingFeaturesAreToldByConditionAndEvent) {
  sim::HollowPool bare = GpuPool(1, "bare-{i}");
  bare.labels = {{kPciLabel, "true"}};
  Bed bed({.pools = {bare}});
  bed.Apply(DefaultPolicy());
  bed.RunFor(60s);
  EXPECT_THAT(bed.Condition("NodeFeaturesMissing"), HasSubstr("feature.node.kubernetes.io/system-os_release"));
  EXPECT_THAT(bed.Events("NFDLabelsMissing"), SizeIs(1));
  EXPECT_THAT(bed.PodImages("bare-0", "nvidia-device-plugin-daemonset"), SizeIs(1));
}

TEST(CasesTest, C016APersonsNoSurvivesThatFeaturesVanishAndReturn) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.SetLabel("gpu-0", "nvidia.com/gpu.deploy.device-plugin", "false");
  for (const auto& [key, value] : GpuPool(1).labels)
    if (key.starts_with("feature.")) bed.RemoveLabel("gpu-0", key);
  bed.RunFor(20s);
  for (const auto& [key, value] : GpuPool(1).labels) bed.SetLabel("gpu-0", key, value);
  bed.RunFor(10s);
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.deploy.device-plugin"), "false");
  EXPECT_THAT(bed.PodImages("gpu-0", "nvidia-device-plugin-daemonset"), IsEmpty());
}

TEST(CasesTest, C023TheDriverManagersWordOnANodeStaysAndNobodyFights) {
  Bed bed;
  bed.SetLabel("gpu-0", "nvidia.com/gpu.workload.config", "vm-vgpu");
  bed.Apply(DefaultPolicy(R"({"sandboxWorkloads":{"enabled":true}})"));
  bed.RunFor(10s);
  bed.SetLabel("gpu-0", "nvidia.com/gpu.deploy.driver", "pre-installed");
  const kube::CallScope calls(bed.door());
  bed.RunFor(1min);
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.deploy.driver"), "pre-installed");
  EXPECT_THAT(calls.ToString(), testing::Not(HasSubstr("patch nodes")));
}

/// Whose Pods are on gpu-0: a person's, operands of containers, operands of virtual machines.
struct Seen {
  bool work = false, containers = false, machines = false;
};
Seen Look(Bed& bed) {
  Seen out;
  for (const json::value pod : bed.List("/api/v1/pods")) {
    if (data::StringOr(pod, "spec.nodeName") != "gpu-0") continue;
    const std::string_view name = data::StringOr(pod, "metadata.name");
    out.work = out.work || name == "train";
    for (const char* of : {"nvidia-driver-", "nvidia-device-plugin-", "nvidia-dcgm-exporter-", "nvidia-operator-"})
      out.containers = out.containers || name.starts_with(of);
    for (const char* of : {"nvidia-vfio-manager-", "nvidia-sandbox-"})
      out.machines = out.machines || name.starts_with(of);
  }
  return out;
}

TEST(CasesTest, C025OneWorkloadLeavesANodeBeforeTheOtherComes) {
  Bed bed;
  bed.Apply(DefaultPolicy(R"({"sandboxWorkloads":{"enabled":true}})"));
  ASSERT_TRUE(bed.BecomesReady());
  bed.SetCapacity("gpu-0", "nvidia.com/gpu", "8");
  bed.RunFor(1s);
  bed.Apply({{"apiVersion", "v1"},
             {"kind", "Pod"},
             {"metadata", {{"name", "train"}, {"namespace", "default"}}},
             {"spec",
              {{"terminationGracePeriodSeconds", 5},
               {"containers", json::array{{{"name", "main"},
                                           {"image", "registry.example/train:v1"},
                                           {"resources", {{"limits", {{"nvidia.com/gpu", "1"}}}}}}}}}}});
  ASSERT_TRUE(bed.Until([&bed] { return Look(bed).work; }));
  const auto change = [&bed](const std::string& workload, const std::function<bool(const Seen&)>& done) {
    bed.SetLabel("gpu-0", "nvidia.com/gpu.workload.config", workload);
    for (int i = 0; i < 1200; ++i) {
      bed.RunFor(100ms);
      const Seen seen = Look(bed);
      EXPECT_FALSE(seen.containers && seen.machines);
      EXPECT_TRUE(!seen.work || seen.containers);  // who uses GPUs goes before what serves them
      if (done(seen)) return true;
    }
    return false;
  };
  EXPECT_TRUE(change("vm-passthrough", [](const Seen& seen) { return seen.machines; }));
  EXPECT_FALSE(Look(bed).work);
  EXPECT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  EXPECT_TRUE(change("container", [](const Seen& seen) { return seen.containers; }));
  EXPECT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  const json::value node = bed.Get("/api/v1/nodes/gpu-0");
  EXPECT_FALSE(data::GetObject(node, "metadata.annotations")->contains("nvidia.com/gpu-operator.workload-changing"));
}

TEST(CasesTest, C025APodThatABudgetProtectsIsWaitedFor) {
  Bed bed;
  bed.Apply(DefaultPolicy(R"({"sandboxWorkloads":{"enabled":true}})"));
  ASSERT_TRUE(bed.BecomesReady());
  bed.SetCapacity("gpu-0", "nvidia.com/gpu", "8");
  bed.RunFor(1s);
  bed.Apply({{"apiVersion", "policy/v1"},
             {"kind", "PodDisruptionBudget"},
             {"metadata", {{"name", "keep"}, {"namespace", "default"}}},
             {"spec", {{"minAvailable", 1}, {"selector", {{"matchLabels", {{"app", "train"}}}}}}}});
  bed.Apply({{"apiVersion", "v1"},
             {"kind", "Pod"},
             {"metadata", {{"name", "train"}, {"namespace", "default"}, {"labels", {{"app", "train"}}}}},
             {"spec",
              {{"containers", json::array{{{"name", "main"},
                                           {"image", "registry.example/train:v1"},
                                           {"resources", {{"limits", {{"nvidia.com/gpu", "1"}}}}}}}}}}});
  ASSERT_TRUE(bed.Until([&bed] { return Look(bed).work; }));
  bed.RunFor(5s);
  bed.SetLabel("gpu-0", "nvidia.com/gpu.workload.config", "vm-passthrough");
  bed.RunFor(1min);
  EXPECT_TRUE(Look(bed).work && Look(bed).containers && !Look(bed).machines);
  EXPECT_THAT(bed.Events("WorkloadChangeWaits"), SizeIs(1));
  bed.Delete("/apis/policy/v1/namespaces/default/poddisruptionbudgets/keep");
  EXPECT_TRUE(bed.Until([&bed] { return Look(bed).machines; }, 2min));
}

/// The node has all images that the driver's Pod needs, but for the driver's own.
void LacksDriverImage(Bed& bed, const std::string& node) {
  static const std::string kPods = "/api/v1/namespaces/gpu-operator/pods/";
  for (const json::value pod : bed.List("/api/v1/namespaces/gpu-operator/pods")) {
    const std::string name(data::StringOr(pod, "metadata.name"));
    if (data::StringOr(pod, "spec.nodeName") != node || !name.starts_with("nvidia-driver-daemonset-")) continue;
    const json::object waits{{"name", data::StringOr(pod, "spec.containers[0].name")},
                             {"image", data::StringOr(pod, "spec.containers[0].image")},
                             {"imageID", ""},
                             {"ready", false},
                             {"restartCount", 0},
                             {"state", {{"waiting", {{"reason", "ImagePullBackOff"}}}}}};
    bed.Patch(
        kPods + name,
        json::serialize(json::object{
            {"status", {{"initContainerStatuses", nullptr}, {"containerStatuses", json::array{json::value(waits)}}}}}),
        true);
  }
}

TEST(CasesTest, C041APrecompiledDriverThatIsNotPublishedIsNamedAndTouchesNoOtherKernel) {
  Bed bed({.pools = {GpuPool(2, "a-{i}", "ubuntu", "22.04", "containerd://2.0", "5.15.0-117-generic")},
           .timelines = {Pods("nvidia-driver-daemonset-5.15.0-118-*", "waiting", "ErrImagePull")}});
  bed.Apply(DefaultPolicy(R"({"driver":{"usePrecompiled":true,"version":"550"}})"));
  ASSERT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  const auto images = bed.PodImages("a-0", "nvidia-driver");
  bed.Patch("/api/v1/nodes/a-1/status", R"({"status":{"nodeInfo":{"kernelVersion":"5.15.0-118-generic"}}})");
  bed.SetLabel("a-1", "feature.node.kubernetes.io/kernel-version.full", "5.15.0-118-generic");
  bed.RunFor(1min);
  EXPECT_EQ(bed.PodImages("a-0", "nvidia-driver"), images);
  EXPECT_THAT(bed.Condition("DriverImageMissing"), StartsWith("True ImagePullFailed")) << "an image that runs before";
  LacksDriverImage(bed, "a-1");
  ASSERT_TRUE(bed.Until([&] { return bed.Condition("DriverImageMissing").contains("PrecompiledImageMissing"); }));
  EXPECT_THAT(bed.Condition("DriverImageMissing"),
              testing::AllOf(StartsWith("True PrecompiledImageMissing"),
                             HasSubstr("driver:550-5.15.0-118-generic-ubuntu22.04 on a-1: publish the image")));
}

TEST(CasesTest, C056WhereTheDriverManagerFindsAHostsDriverThatNodeKeepsItAndOthersGetOurs) {
  Bed bed({.pools = {GpuPool(1, "dgx-{i}"), GpuPool(1, "plain-{i}")}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  // What it writes when it finds driver and toolkit on the host: no person has to.
  for (const char* operand : {"driver", "container-toolkit"})
    bed.SetLabel("dgx-0", std::string("nvidia.com/gpu.deploy.") + operand, "pre-installed");
  bed.RunFor(40s);
  EXPECT_THAT(bed.PodImages("dgx-0", "nvidia-driver-daemonset"), IsEmpty());
  EXPECT_THAT(bed.PodImages("dgx-0", "nvidia-container-toolkit-daemonset"), IsEmpty());
  EXPECT_THAT(bed.PodImages("dgx-0", "nvidia-device-plugin-daemonset"), SizeIs(1));
  EXPECT_THAT(bed.PodImages("plain-0", "nvidia-driver-daemonset"), SizeIs(1));
  EXPECT_THAT(bed.PodImages("plain-0", "nvidia-container-toolkit-daemonset"), SizeIs(1));
  EXPECT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  EXPECT_THAT(bed.Condition("DriverReady"), HasSubstr("owned by the host, or switched off by label, on 1 node"));
}

/// Adds a condition to a node as its validator does.
void Say(Bed& bed, const std::string& node, const char* status, const char* reason) {
  const json::value now = bed.Get("/api/v1/nodes/" + node);
  json::array conditions;
  for (const json::value& c : now.at("status").at("conditions").as_array())
    if (c.at("type") != "gpu-operator.dev/GPUReady") conditions.push_back(c);
  conditions.push_back({{"type", "gpu-operator.dev/GPUReady"}, {"status", status}, {"reason", reason}});
  bed.Patch("/api/v1/nodes/" + node + "/status",
            json::serialize(json::object{{"status", {{"conditions", conditions}}}}));
}

TEST(StatusTest, NamesNodesThatCannotRunGpuWorkAndTheFirstCheck) {
  Bed bed({.pools = {GpuPool(3)}});
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  EXPECT_EQ(bed.Condition("NodesNotFit"), "");
  Say(bed, "gpu-1", "False", "DriverNotLoaded");
  Say(bed, "gpu-2", "True", "Proved");
  bed.RunFor(6s);
  EXPECT_THAT(bed.Condition("NodesNotFit"),
              testing::AllOf(StartsWith("True GPUWorkFails: 1 of 3 GPU nodes cannot run GPU work"),
                             HasSubstr("DriverNotLoaded on gpu-1"), HasSubstr("first check: ")));
  EXPECT_THAT(bed.Events("GPUWorkFails"), SizeIs(1));
  Say(bed, "gpu-1", "True", "Proved");
  bed.RunFor(6s);
  EXPECT_EQ(bed.Condition("NodesNotFit"), "");
}

}  // namespace
}  // namespace gpuop::e2e
