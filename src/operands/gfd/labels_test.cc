#include "operands/gfd/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "base/testing/source_dir.h"
#include "base/text.h"
#include "data/json.h"
#include "gpu/mig_name.h"
#include "os/real_fs.h"

namespace gpuop::operands::gfd {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;
using testing::Pair;

struct Profile {
  const char *name, *product, *driver;
  unsigned gpus, memory_mib, major, minor;
  int cuda;
  bool fabric;
  const char* mig_model;
};
// The simulated drivers of the records, as k8s-test-infra describes them; all of them answer the call for the MIG mode.
constexpr Profile kProfiles[] = {
    {"a100", "NVIDIA A100-SXM4-40GB", "550.163.01", 8, 40960, 8, 0, 12040, false, "A100-40GB"},
    {"h100", "NVIDIA H100 80GB HBM3", "550.163.01", 8, 81920, 9, 0, 12040, true, "H100-80GB"},
    {"b200", "NVIDIA B200", "560.35.03", 8, 196608, 10, 0, 12060, false, "B200"},
    {"gb200", "NVIDIA GB200", "580.65.06", 8, 196608, 10, 0, 13000, true, "GB200"},
    {"gb300", "NVIDIA GB300 NVL", "570.124.06", 8, 294912, 10, 0, 12080, true, "GB300"},
    {"l40s", "NVIDIA L40S", "550.163.01", 8, 49152, 8, 9, 12040, false, nullptr},
    {"t4", "NVIDIA T4", "550.163.01", 4, 16384, 7, 5, 12040, false, nullptr},
};

/// Adds compute instances named "1g.5gb" or "1c.3g.20gb", `count` of them.
void AddMig(gpu::Device& device, std::string_view text) {
  const auto star = Cut(text, '*');
  const std::int64_t count = star ? *ParseInt(star->second) : 1;
  const std::string_view name = star ? star->first : text;
  const gpu::MigName parsed = *gpu::ParseMigName(name);
  const std::string instance_name = gpu::ToText({parsed.g, parsed.g, parsed.gb, parsed.with, parsed.without});
  const gpu::MigProfile& profile = *device.mig_model->FindByName(instance_name);
  for (std::int64_t i = 0; i < count; ++i) {
    const unsigned per_instance = parsed.g / parsed.c;
    if (parsed.c == parsed.g || i % per_instance == 0) {
      gpu::GpuInstance& gi = device.mig.instances.emplace_back();
      gi.profile = instance_name;
      gi.slices = profile.slices;
      gi.memory_mib = profile.memory_mib;
    }
    gpu::ComputeInstance& ci = device.mig.instances.back().compute_instances.emplace_back();
    ci.profile = name;
    ci.slices = parsed.c;
    ci.multiprocessors = profile.multiprocessors * parsed.c / parsed.g;
    ci.engines = profile.engines;
  }
}

void ApplyMig(gpu::Device& device, std::string_view state) {
  if (state == "off") return;
  device.mig.enabled = device.mig.pending = true;
  if (state == "on") return;
  for (const std::string_view part : Split(state, ',')) AddMig(device, part);
}

gpu::Inventory MakeInventory(const Profile& profile, std::string_view mig) {
  gpu::Inventory inventory;
  inventory.driver_version = profile.driver;
  inventory.cuda_version = profile.cuda;
  for (unsigned i = 0; i < profile.gpus; ++i) {
    gpu::Device& device = inventory.devices.emplace_back();
    device.index = i;
    device.product = profile.product;
    device.memory_mib = profile.memory_mib;
    device.compute_major = profile.major;
    device.compute_minor = profile.minor;
    device.mig.capable = true;
    if (profile.mig_model != nullptr) device.mig_model = gpu::FindMigModel(profile.mig_model);
    if (profile.fabric)
      device.fabric = {gpu::Fabric::State::kCompleted, "NVML_SUCCESS", "00000000-0000-0000-0000-000000000001", 0};
    if (mig.empty()) continue;
    for (const std::string_view entry : Split(mig, ';')) {
      const auto cut = Cut(entry, ':').value();
      if (cut.first == "*" || ParseInt(cut.first) == std::int64_t{i}) ApplyMig(device, cut.second);
    }
  }
  return inventory;
}

const HostFacts kHost = {.machine_type = "DGXA100 920-23687-2530-000", .gpu_classes = {0x030200, 0x030200}};

TEST(GfdLabelsTest, AreThoseThatNvidiasProgramGives) {
  auto fs = os::RealFs::Open(SourceDir()).value();
  const data::Json records = data::ParseJson(fs->Read("/testdata/gfd/labels.json").value()).value();
  std::size_t compared = 0;
  for (const data::Json& run : *data::GetArray(records, "runs")) {
    const std::string_view name = data::StringOr(run, "profile");
    const auto* const profile = std::ranges::find_if(kProfiles, [&](const Profile& p) { return p.name == name; });
    ASSERT_NE(profile, std::end(kProfiles)) << name;
    LabelSettings settings{.strategy = *ParseMigStrategy(data::StringOr(run, "strategy")), .sharing = {}};
    const std::string sharing(data::StringOr(run, "sharing"));
    if (const auto text = data::GetString(records, "sharing." + sharing))
      settings.sharing = ParsePluginSettings(*text, sharing).value().sharing;
    Labels want;
    for (const auto& [key, value] : *data::GetObject(run, "labels"))
      want[std::string(key)] = data::AsView(value.as_string());
    const gpu::Inventory inventory = MakeInventory(*profile, data::StringOr(run, "mig"));
    HostFacts host = kHost;
    if (data::GetString(run, "class") == "0x030000") host.gpu_classes = {0x030000};
    EXPECT_EQ(MakeLabels(&inventory, host, settings).labels, want) << data::ToJson(run);
    ++compared;
  }
  EXPECT_GE(compared, 75U);
}

TEST(GfdLabelsTest, WithoutADriverOnlyTheHostSpeaks) {
  HostFacts host;
  host.timestamp = 1700000000;
  host.vgpu = VgpuHost{"460.16", "r460_00"};
  EXPECT_EQ(MakeLabels(nullptr, host, {}).labels, (Labels{{"nvidia.com/gfd.timestamp", "1700000000"},
                                                          {"nvidia.com/vgpu.present", "true"},
                                                          {"nvidia.com/vgpu.host-driver-version", "460.16"},
                                                          {"nvidia.com/vgpu.host-driver-branch", "r460_00"}}));
}

TEST(GfdLabelsTest, ALostGpuIsNotCounted) {
  gpu::Inventory inventory = MakeInventory(kProfiles[0], "");
  inventory.devices[3].unreadable = "nvmlDeviceGetMemoryInfo: NVML_ERROR_GPU_IS_LOST";
  const auto made = MakeLabels(&inventory, kHost, {});
  EXPECT_THAT(made.labels, Contains(Pair("nvidia.com/gpu.count", "7")));
  EXPECT_THAT(made.warnings, Contains(testing::HasSubstr("GPU 3 cannot be read")));
}

TEST(GfdLabelsTest, MpsAndMigDoNotGoTogetherButTheRestIsSaid) {
  const gpu::Inventory inventory = MakeInventory(kProfiles[0], "*:1g.5gb*7");
  LabelSettings settings;
  settings.sharing =
      ParsePluginSettings("version: v1\nsharing: {mps: {resources: [{name: gpu, replicas: 5}]}}", "c")->sharing;
  const auto made = MakeLabels(&inventory, kHost, settings);
  EXPECT_THAT(made.labels, Contains(Pair("nvidia.com/mps.capable", "false")));
  EXPECT_THAT(made.labels, Contains(Pair("nvidia.com/gpu.count", "8")));
  EXPECT_FALSE(made.warnings.empty());
}

TEST(GfdLabelsTest, UnifiedMemoryHasNoSizeLabel) {
  gpu::Inventory inventory = MakeInventory(kProfiles[6], "");
  for (gpu::Device& device : inventory.devices) device.memory_mib = 0;
  EXPECT_THAT(MakeLabels(&inventory, kHost, {}).labels, Not(Contains(Key("nvidia.com/gpu.memory"))));
}

TEST(GfdLabelsTest, SeveralModelsAreTheMostFrequentOneAndEachByItself) {
  gpu::Inventory inventory = MakeInventory(kProfiles[6], "");
  gpu::Device other = MakeInventory(kProfiles[0], "").devices[0];
  inventory.devices.insert(inventory.devices.begin(), other);
  const auto made = MakeLabels(&inventory, kHost, {});
  EXPECT_THAT(made.labels, Contains(Pair("nvidia.com/gpu.product", "NVIDIA-T4")));
  EXPECT_THAT(made.labels, Contains(Pair("nvidia.com/gpu.count", "4")));
  EXPECT_THAT(made.labels, Contains(Pair("gpu-operator.dev/gpu-count.NVIDIA-A100-SXM4-40GB", "1")));
  EXPECT_THAT(made.labels, Contains(Pair("gpu-operator.dev/gpu-memory.NVIDIA-T4", "16384")));
}

TEST(GfdLabelsTest, TheOrderInWhichTheDriverTellsOfGpusChangesNothing) {
  // A DGX Station: four GPUs and a display adaptor that is none; and a node of two models, as many of each.
  gpu::Inventory station = MakeInventory(kProfiles[0], "");
  station.devices.resize(4);
  station.devices.push_back(station.devices[0]);
  station.devices.back().product = "NVIDIA DGX Display";
  gpu::Inventory halves = MakeInventory(kProfiles[6], "");
  for (int i = 0; i < 4; ++i) halves.devices.push_back(MakeInventory(kProfiles[0], "").devices[0]);
  Rng rng(95);
  for (gpu::Inventory* inventory : {&station, &halves}) {
    const Labels first = MakeLabels(inventory, kHost, {}).labels;
    EXPECT_EQ(first.at("nvidia.com/gpu.product"), "NVIDIA-A100-SXM4-40GB");
    EXPECT_EQ(first.at("nvidia.com/gpu.count"), "4");
    for (int pass = 0; pass < 100; ++pass) {
      for (std::size_t i = inventory->devices.size(); i > 1; --i)
        std::swap(inventory->devices[i - 1], inventory->devices[rng.Below(i)]);
      EXPECT_EQ(MakeLabels(inventory, kHost, {}).labels, first);
    }
  }
}

TEST(GfdLabelsTest, AMigLabelHasTheNameOfItsResource) {
  // An A100-40GB's three slices have 20,096 MiB; the name is the profile's, not rounded from that.
  const gpu::Inventory inventory = MakeInventory(kProfiles[0], "0:3g.20gb");
  const auto made = MakeLabels(&inventory, kHost, {.strategy = MigStrategy::kMixed, .sharing = {}});
  EXPECT_THAT(made.labels, Contains(Pair("nvidia.com/mig-3g.20gb.count", "1")));
  EXPECT_THAT(made.labels, Contains(Pair("nvidia.com/mig-3g.20gb.product", "NVIDIA-A100-SXM4-40GB-MIG-3g.20gb")));
}

TEST(GfdLabelsTest, SharingIsThatOfTheResourceAsTheDevicePluginOffersIt) {
  const auto labels = [](const std::string& text, MigStrategy strategy, const char* mig) {
    const PluginSettings settings = ParsePluginSettings(text, "c").value();
    const auto inventory = MakeInventory(kProfiles[0], mig);
    return MakeLabels(&inventory, kHost,
                      {.strategy = strategy, .sharing = settings.sharing, .names = settings.resources})
        .labels;
  };
  const std::string names =
      "resources: {gpus: [{pattern: '*A100*', name: a100}], mig: [{pattern: 1g.*, name: slice}]}\n";
  const auto gpus = labels(names + "sharing: {timeSlicing: {resources: [{name: a100, replicas: 4}]}}", {}, "");
  EXPECT_EQ(gpus.at("nvidia.com/gpu.replicas"), "4");
  EXPECT_EQ(gpus.at("nvidia.com/gpu.product"), "NVIDIA-A100-SXM4-40GB-SHARED");
  EXPECT_EQ(labels(names + "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 4}]}}", {}, "")
                .at("nvidia.com/gpu.replicas"),
            "1")
      << "nobody offers nvidia.com/gpu";
  const auto slices = labels(names + "sharing: {timeSlicing: {resources: [{name: slice, replicas: 2}]}}",
                             MigStrategy::kMixed, "*:1g.5gb*7");
  EXPECT_EQ(slices.at("nvidia.com/mig-1g.5gb.replicas"), "2");
  // A name of its own says as much as ".shared".
  const auto renamed = labels("sharing: {timeSlicing: {resources: [{name: gpu, rename: half, replicas: 2}]}}", {}, "");
  EXPECT_EQ(renamed.at("nvidia.com/gpu.product"), "NVIDIA-A100-SXM4-40GB");
  EXPECT_EQ(renamed.at("nvidia.com/gpu.replicas"), "2");
}

TEST(GfdLabelsTest, TheCliqueIsSaidOnlyWhenAllAgree) {
  gpu::Inventory inventory = MakeInventory(kProfiles[1], "");
  EXPECT_THAT(MakeLabels(&inventory, kHost, {}).labels,
              Contains(Pair("nvidia.com/gpu.clique", "00000000-0000-0000-0000-000000000001.0")));
  inventory.devices[2].fabric.clique_id = 1;
  EXPECT_THAT(MakeLabels(&inventory, kHost, {}).labels, Not(Contains(Key("nvidia.com/gpu.clique"))));
  inventory.devices[2].fabric = {gpu::Fabric::State::kInProgress, "", "", 0};
  EXPECT_THAT(MakeLabels(&inventory, kHost, {}).labels, Not(Contains(Key("nvidia.com/gpu.clique"))));
}

TEST(GfdLabelsTest, ModesFollowThePciClasses) {
  const gpu::Inventory inventory = MakeInventory(kProfiles[0], "");
  const auto mode = [&](std::vector<std::uint32_t> classes) {
    return MakeLabels(&inventory, {.machine_type = {}, .gpu_classes = std::move(classes)}, {})
        .labels["nvidia.com/gpu.mode"];
  };
  EXPECT_EQ(mode({0x030200, 0x030200}), "compute");
  EXPECT_EQ(mode({0x030000}), "graphics");
  EXPECT_EQ(mode({0x030000, 0x030200}), "unknown");
  EXPECT_EQ(mode({}), "unknown");
}

TEST(GfdLabelsTest, OddDriverVersionsAreLeftOutAndTold) {
  gpu::Inventory inventory = MakeInventory(kProfiles[0], "");
  inventory.driver_version = "550.54.15";
  EXPECT_THAT(MakeLabels(&inventory, kHost, {}).labels, Contains(Pair("nvidia.com/cuda.driver.rev", "15")));
  inventory.driver_version = "550.54";
  EXPECT_THAT(MakeLabels(&inventory, kHost, {}).labels, Contains(Pair("nvidia.com/cuda.driver.rev", "")));
  inventory.driver_version = "nightly";
  const auto made = MakeLabels(&inventory, kHost, {});
  EXPECT_THAT(made.labels, Not(Contains(Key("nvidia.com/cuda.driver-version.full"))));
  EXPECT_THAT(made.labels, Contains(Key("nvidia.com/gpu.product")));
  EXPECT_FALSE(made.warnings.empty());
}

TEST(GfdLabelsTest, ValuesAreSanitized) {
  EXPECT_EQ(SanitizeValue(" input  with multiple   spaces   "), "input-with-multiple-spaces");
  EXPECT_EQ(SanitizeValue("some / thing /else"), "some-thing-else");
  EXPECT_EQ(SanitizeValue("NVIDIA-TITAN-X-(Pascal)"), "NVIDIA-TITAN-X-Pascal");
}

std::string ConfigSpace(std::string_view capability) {
  std::string space(256, '\0');
  space[0x06] = 0x10;
  space[0x34] = 0x40;
  space.replace(0x40, 3, std::string("\x05\x60\x00", 3));  // another capability first
  space.replace(0x60, capability.size(), capability);
  return space;
}

TEST(VgpuTest, AGuestsConfigurationSpaceNamesTheHostsDriver) {
  std::string capability(
      "\x09\x00\x1b"
      "VF\x00\x16"
      "460.16\0\0\0\0"
      "r460_00\0\0\0",
      27);
  EXPECT_EQ(ParseVgpu(ConfigSpace(capability)), (VgpuHost{"460.16", "r460_00"}));
  capability[3] = 'X';
  EXPECT_EQ(ParseVgpu(ConfigSpace(capability)), std::nullopt);
  EXPECT_EQ(ParseVgpu(""), std::nullopt);
  std::string ring(256, '\0');
  ring[0x06] = 0x10;
  ring[0x34] = 0x40;
  ring[0x40] = 0x05;
  ring[0x41] = 0x40;
  EXPECT_EQ(ParseVgpu(ring), std::nullopt);
}

}  // namespace
}  // namespace gpuop::operands::gfd
