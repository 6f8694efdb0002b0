#include "operands/plugin_settings.h"

#include <gtest/gtest.h>

namespace gpuop::operands {
namespace {

TEST(PluginSettingsTest, ReadsFlagsAndSharing) {
  const auto settings = ParsePluginSettings(R"(version: v1
flags:
  migStrategy: mixed
  failOnInitError: false
  plugin: {deviceListStrategy: [envvar, cdi-cri]}
  gfd: {oneshot: true, sleepInterval: 10s}
sharing:
  timeSlicing:
    renameByDefault: true
    resources:
    - {name: gpu, replicas: 4}
    - {name: nvidia.com/mig-1g.5gb, replicas: 2, devices: ["0:1", 3, all]}
)",
                                            "c.yaml");
  ASSERT_FALSE(settings);  // "all" stands alone
  const auto good = ParsePluginSettings(
      "sharing: {timeSlicing: {renameByDefault: true, resources: [{name: gpu, replicas: 4, devices: [\"0:1\", 3]}]}}",
      "c.yaml");
  ASSERT_TRUE(good) << good.error().text;
  const ResourceSharing gpu = SharingOf(good->sharing, "nvidia.com/gpu");
  EXPECT_EQ(gpu.replicas, 4);
  EXPECT_TRUE(gpu.renamed);
  EXPECT_EQ(gpu.strategy, SharingStrategy::kTimeSlicing);
  EXPECT_EQ(SharingOf(good->sharing, "nvidia.com/mig-1g.5gb").replicas, 1);
  EXPECT_EQ(StrategyOf(good->sharing), SharingStrategy::kTimeSlicing);
}

TEST(PluginSettingsTest, MpsCountsBeforeTimeSlicingAsAWhole) {
  const auto settings = ParsePluginSettings(
      R"({"sharing":{"mps":{"resources":[{"name":"gpu","replicas":5}]},
          "timeSlicing":{"resources":[{"name":"mig-1g.5gb","replicas":2}]}}})",
      "c.json");
  ASSERT_TRUE(settings) << settings.error().text;
  EXPECT_EQ(SharingOf(settings->sharing, "nvidia.com/gpu").strategy, SharingStrategy::kMps);
  EXPECT_EQ(SharingOf(settings->sharing, "nvidia.com/mig-1g.5gb").strategy, SharingStrategy::kNone);
  EXPECT_EQ(StrategyOf(settings->sharing), SharingStrategy::kMps);
}

TEST(PluginSettingsTest, ResourcesMayHaveNamesOfOnesOwn) {
  const auto settings = ParsePluginSettings(R"(
resources:
  gpus: [{pattern: '*V100*', name: v100}, {pattern: '*100*', name: nvidia.com/hundred}]
  mig: [{pattern: 1g.*, name: slice}]
sharing:
  timeSlicing:
    resources: [{name: v100, replicas: 4, rename: v100.quarter}, {name: slice, replicas: 2}])",
                                            "c");
  ASSERT_TRUE(settings) << settings.error().text;
  EXPECT_EQ(settings->resources.OfGpu("Tesla V100-SXM2-16GB"), "nvidia.com/v100");
  EXPECT_EQ(settings->resources.OfGpu("NVIDIA A100-SXM4-40GB"), "nvidia.com/hundred");
  EXPECT_EQ(settings->resources.OfGpu("Tesla T4"), "nvidia.com/gpu");
  EXPECT_EQ(settings->resources.OfMig("1g.5gb+me"), "nvidia.com/slice");
  EXPECT_EQ(settings->resources.OfMig("3g.20gb+gfx"), "nvidia.com/mig-3g.20gb.gfx");
  EXPECT_TRUE(SharingOf(settings->sharing, "nvidia.com/v100").renamed);
  EXPECT_FALSE(SharingOf(settings->sharing, "nvidia.com/slice").renamed);
}

TEST(PluginSettingsTest, MistakesNameTheFieldAndItsPlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"version: v2", R"(c: version: "v2" is unknown; only v1 is)"},
      {"migStrategy: single", "c: migStrategy: unknown field; it belongs to flags.migStrategy"},
      {"flags: {deviceListStrategy: envvar}",
       "c: flags.deviceListStrategy: unknown field; it belongs to flags.plugin.deviceListStrategy"},
      {"flags: {bogus: 1}", "c: flags.bogus: unknown field"},
      {"sharing: {timeSlicing: {}}", "c: sharing.timeSlicing.resources: must name at least one resource"},
      {"sharing: {timeSlicing: {resources: [{replicas: 2}]}}",
       "c: sharing.timeSlicing.resources[0].name: must be given"},
      {"sharing: {timeSlicing: {resources: [{name: gpu}]}}",
       "c: sharing.timeSlicing.resources[0].replicas: must be 1 or more, is 0"},
      {"sharing: {timeSlicing: {resources: [{name: foo.com/x, replicas: 2}]}}",
       "c: sharing.timeSlicing.resources[0].name: \"nvidia.com/foo.com/x\" is no resource name: at most 63 characters, "
       "and a DNS name after nvidia.com/"},
      {"sharing: {mps: {resources: [{name: gpu, replicas: 2, devices: -2}]}}",
       "c: sharing.mps.resources[0].devices: expected \"all\", a positive count, or a list of devices, got a number "
       "below 1"},
      {"sharing: {mps: {resources: [{name: gpu, replicas: 2, devices: [GPU-UUID]}]}}",
       "c: sharing.mps.resources[0].devices: expected \"all\", a positive count, or a list of devices, got a list "
       "holding \"GPU-UUID\""},
      {"sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2, devices: [0]}, {name: nvidia.com/gpu, replicas: "
       "4}]}}",
       "c: sharing.timeSlicing.resources[1].name: nvidia.com/gpu is in the list already, at [0]"},
      {"flags: {failOnInitError: maybe}", "c: flags.failOnInitError: expected a boolean, got a string"},
      {"[]", "c: expected an object, got an array"},
  };
  for (const auto& [text, error] : cases) {
    const auto settings = ParsePluginSettings(text, "c");
    ASSERT_FALSE(settings) << text;
    EXPECT_EQ(settings.error().text, error);
  }
  EXPECT_TRUE(ParsePluginSettings("", "c"));
}

}  // namespace
}  // namespace gpuop::operands
