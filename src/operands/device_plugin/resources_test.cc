#include "operands/device_plugin/resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operands/device_plugin/shares.h"
#include "operands/device_plugin/testing/profiles.h"

namespace gpuop::operands::device_plugin {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// "gpu=8 mig-1g.5gb=2": what the kubelet would count.
std::string Counts(const Plan& plan) {
  std::string out;
  for (const Resource& resource : plan.resources) {
    std::size_t count = 0;
    for (const Unit& unit : resource.units) count += IdsOf(unit).size();
    out.append(out.empty() ? "" : " ").append(resource.name.substr(11)).append("=").append(std::to_string(count));
  }
  return out;
}

/// "0:3g.20gb,2g.10gb" divides GPU 0.
struct Case {
  const char* name;
  std::vector<std::pair<std::size_t, const char*>> mig;
  std::vector<std::string> args;
  const char* settings;
  const char* want;
  const char* misfit;
};

class ResourcesTest : public testing::TestWithParam<Case> {};

TEST_P(ResourcesTest, AreWhatTheSettingsMakeOfTheGpus) {
  const Case& c = GetParam();
  gpu::Inventory machine = MachineOf("a100");
  for (const auto& [index, text] : c.mig) SetMig(machine, index, text);
  const Plan plan = PlanResources(machine, MinorsOf(machine), SettingsOf(c.args, c.settings));
  EXPECT_EQ(Counts(plan), c.want);
  EXPECT_EQ(plan.misfit ? plan.misfit->text : "", c.misfit);
}

using Divided = std::vector<std::pair<std::size_t, const char*>>;
Divided All(const char* text) {
  return {{0, text}, {1, text}, {2, text}, {3, text}, {4, text}, {5, text}, {6, text}, {7, text}};
}

constexpr const char* kShared4 = "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 4}]}}";

INSTANTIATE_TEST_SUITE_P(
    All, ResourcesTest,
    testing::Values(
        Case{"WholeGpus", {}, {}, nullptr, "gpu=8", ""}, Case{"ShareByFour", {}, {}, kShared4, "gpu=32", ""},
        Case{"ShareUnderAnotherName",
             {},
             {},
             "sharing: {timeSlicing: {renameByDefault: true, resources: [{name: gpu, replicas: 4}]}}",
             "gpu.shared=32",
             ""},
        Case{"OneReplicaIsNoSharing",
             {},
             {},
             "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 1}]}}",
             "gpu=8",
             ""},
        Case{"ShareSomeGpusOnly",
             {},
             {},
             "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 10, devices: [0], rename: gpu.shared}]}}",
             "gpu=7 gpu.shared=10",
             ""},
        Case{"ShareTheFirstTwo",
             {},
             {},
             "sharing: {timeSlicing: {renameByDefault: true, resources: [{name: gpu, replicas: 3, devices: 2}]}}",
             "gpu=6 gpu.shared=6",
             ""},
        Case{"ShareByUuid",
             {},
             {},
             "sharing: {timeSlicing: {renameByDefault: true, resources: [{name: gpu, replicas: 2, devices: "
             "[GPU-12345678-1234-1234-1234-123456780005]}]}}",
             "gpu=7 gpu.shared=2",
             ""},
        Case{"NoneLooksAtNoMig", All("1g.5gb*7"), {}, nullptr, "gpu=8", ""},
        Case{"SingleSevenSlicesEach", All("1g.5gb*7"), {"--mig-strategy=single"}, nullptr, "gpu=56", ""},
        Case{"SingleWithoutMig", {}, {"--mig-strategy=single"}, nullptr, "gpu=8", ""},
        Case{"SingleWithAnEmptyGpu",
             {{0, "on"}},
             {"--mig-strategy=single"},
             nullptr,
             "",
             "MIG strategy single: GPU 0 is in MIG mode and has no MIG devices"},
        Case{"SingleWithSomeGpusWhole",
             {{0, "1g.5gb*7"}},
             {"--mig-strategy=single"},
             nullptr,
             "",
             "MIG strategy single: some GPUs are in MIG mode and others are not"},
        Case{"SingleWithTwoKinds",
             All("3g.20gb,2g.10gb"),
             {"--mig-strategy=single"},
             nullptr,
             "",
             "MIG strategy single: the node has MIG devices of more than one kind (3g.20gb, 2g.10gb)"},
        Case{"SingleServesComputeSplits", All("1c.3g.20gb*3"), {"--mig-strategy=single"}, nullptr, "gpu=24", ""},
        Case{"Mixed",
             {{0, "1g.5gb*2,2g.10gb,3g.20gb"}},
             {"--mig-strategy=mixed"},
             nullptr,
             "gpu=7 mig-1g.5gb=2 mig-2g.10gb=1 mig-3g.20gb=1",
             ""},
        Case{"MixedWithAttribute",
             {{0, "1g.5gb+me,1g.5gb"}},
             {"--mig-strategy=mixed"},
             nullptr,
             "gpu=7 mig-1g.5gb=1 mig-1g.5gb.me=1",
             ""},
        Case{"MixedWithAnEmptyGpu", {{1, "on"}}, {"--mig-strategy=mixed"}, nullptr, "gpu=7", ""},
        Case{"MixedAllEmpty", All("on"), {"--mig-strategy=mixed"}, nullptr, "", ""},
        Case{"MixedHasNoNameForComputeSplits",
             {{0, "1c.3g.20gb*3"}},
             {"--mig-strategy=mixed"},
             nullptr,
             "gpu=7",
             "MIG strategy mixed: no resource name fits MIG device MIG-0-1-0 (1c.3g.20gb) on GPU 0"},
        Case{"MixedSharedSlices",
             {{0, "1g.5gb*7"}},
             {"--mig-strategy=mixed"},
             "sharing: {timeSlicing: {resources: [{name: mig-1g.5gb, replicas: 2}]}}",
             "gpu=7 mig-1g.5gb=14",
             ""},
        Case{"NamesByPattern",
             {{0, "1g.5gb*7"}},
             {"--mig-strategy=mixed"},
             "resources: {gpus: [{pattern: '*A100*', name: a100}], mig: [{pattern: '1g.*', name: small}]}",
             "a100=7 small=7",
             ""},
        Case{"APatternIsTheWholeName",
             {{0, "1g.5gb+me"}},
             {"--mig-strategy=mixed"},
             "resources: {mig: [{pattern: 1g.5gb, name: small}]}",
             "gpu=7 mig-1g.5gb.me=1",
             ""},
        Case{"MpsOnASingleStrategysMigDevices",
             All("1g.5gb*7"),
             {"--mig-strategy=single", "--mps-root=/run/mps"},
             "sharing: {mps: {resources: [{name: gpu, replicas: 4}]}}",
             "gpu=56",
             ""}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(ResourcesTest, AttributesOfProfilesAreInTheNamesAndInWhatAPatternMeans) {
  gpu::Inventory machine = MachineOf("a100");
  machine.devices.resize(1);
  machine.devices[0].mig_model = gpu::FindMigModel("RTX-PRO-6000");
  SetMig(machine, 0, "1g.24gb,1g.24gb-me,1g.24gb+gfx,1g.24gb+me.all");
  const auto counts = [&](const char* file) {
    return Counts(PlanResources(machine, MinorsOf(machine), SettingsOf({"--mig-strategy=mixed"}, file)));
  };
  EXPECT_EQ(counts(nullptr), "mig-1g.24gb=1 mig-1g.24gb-me=1 mig-1g.24gb.gfx=1 mig-1g.24gb.me.all=1");
  EXPECT_EQ(counts("resources: {mig: [{pattern: 1g.24gb, name: small}]}"),
            "mig-1g.24gb-me=1 mig-1g.24gb.gfx=1 mig-1g.24gb.me.all=1 small=1");
  EXPECT_EQ(counts("resources: {mig: [{pattern: '1g.*', name: small}]}"), "small=4");
  EXPECT_EQ(counts("resources: {mig: [{pattern: '*', name: any}]}"), "any=4");
  EXPECT_EQ(counts("resources: {mig: [{pattern: '2g.*', name: two}]}"), counts(nullptr));
}

TEST(ResourcesTest, OfMixedModelsEachHasItsNameAndIsCountedOnce) {
  gpu::Inventory machine = MachineOf("a100");
  for (std::size_t i = 0; i < 8; ++i) machine.devices[i].product = i < 4 ? "Tesla V100-SXM2-32GB" : "Tesla T4";
  const char* patterns = "resources: {gpus: [{pattern: '*V100*', name: v100}, {pattern: '*T4*', name: t4}]}";
  EXPECT_EQ(Counts(PlanResources(machine, {}, SettingsOf({}, patterns))), "t4=4 v100=4");
  EXPECT_EQ(Counts(PlanResources(machine, {}, SettingsOf({}))), "gpu=8");
}

TEST(ResourcesTest, ADisplayAdaptorAndALostGpuAreNoUnits) {
  gpu::Inventory machine = MachineOf("a100");
  machine.devices[3].product = "DGX Display";
  machine.devices[5].unreadable = "NVML_ERROR_GPU_IS_LOST";
  EXPECT_EQ(Counts(PlanResources(machine, {}, SettingsOf({}))), "gpu=6");
}

TEST(ResourcesTest, UnitsKnowTheirNodesNumaAndIndex) {
  gpu::Inventory machine = MachineOf("a100");
  SetMig(machine, 1, "1g.5gb*2");
  machine.devices[0].numa_node.reset();
  const Plan plan =
      PlanResources(machine, MinorsOf(machine), SettingsOf({"--mig-strategy=mixed", "--pass-device-specs"}));
  const Unit& gpu = plan.resources[0].units[0];
  EXPECT_EQ(gpu.index, "0");
  EXPECT_EQ(gpu.numa, std::nullopt);
  EXPECT_THAT(gpu.nodes, ElementsAre("/dev/nvidia0"));
  const Unit& mig = plan.resources[1].units[1];
  EXPECT_EQ(mig.index, "1:1");
  EXPECT_EQ(mig.gpu, machine.devices[1].uuid);
  EXPECT_EQ(mig.numa, 0);
  EXPECT_THAT(mig.nodes,
              ElementsAre("/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap156", "/dev/nvidia-caps/nvidia-cap157"));
  const Plan blind = PlanResources(machine, {}, SettingsOf({"--mig-strategy=mixed", "--pass-device-specs"}));
  EXPECT_THAT(blind.warnings, Contains(HasSubstr("mig-minors has no line for gpu1/gi1/access")));
}

TEST(ResourcesTest, SharingHearsOfWhatIsNotThere) {
  const Plan plan =
      PlanResources(MachineOf("a100"), {},
                    SettingsOf({}, "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2, devices: [0, 9]}]}}"));
  EXPECT_THAT(plan.warnings, ElementsAre("sharing: nvidia.com/gpu has no device \"9\""));
  EXPECT_EQ(Counts(plan), "gpu=9");
  const Plan many =
      PlanResources(MachineOf("a100"), {},
                    SettingsOf({}, "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2, devices: 9}]}}"));
  EXPECT_THAT(many.warnings, ElementsAre("sharing: nvidia.com/gpu has 8 devices, not 9"));
}

TEST(ResourcesTest, TheOlderFormOfMigUuidsIsTakenApart) {
  const auto id = ParseLegacyMigId("MIG-GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f/3/0");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->gpu, "GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f");
  EXPECT_EQ(id->gpu_instance, 3U);
  EXPECT_EQ(id->compute_instance, 0U);
  for (const char* bad : {"", "MIG-5c89852c-d268-c3f3-1b07-005d5ae1dc3f", "GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f",
                          "MIG-GPU-5c89852c/3", "MIG-GPU-5c89852c/a/b", "MIG-GPU-5c89852c/3/-1"})
    EXPECT_FALSE(ParseLegacyMigId(bad)) << bad;
}

TEST(ResourcesTest, SocketsAreNamedAfterResources) {
  EXPECT_EQ(SocketNameOf("nvidia.com/gpu"), "nvidia-gpu.sock");
  EXPECT_EQ(SocketNameOf("nvidia.com/gpu.shared"), "nvidia-gpu.shared.sock");
  EXPECT_EQ(SocketNameOf("nvidia.com/mig-1g.5gb"), "nvidia-mig-1g.5gb.sock");
}

}  // namespace
}  // namespace gpuop::operands::device_plugin
