// Broken configurations of GPU feature discovery: each is refused, in words that name what is wrong and where.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operands/gfd/options.h"
#include "os/fake_fs.h"

namespace gpuop::operands::gfd {
namespace {

using testing::HasSubstr;

struct Case {
  const char* name;
  const char* settings;
  const char* says;
};

class GfdBadSettingsTest : public testing::TestWithParam<Case> {};

Result<Options> Load(const std::string& text) {
  os::FakeFs fs;
  fs.Put("/config/config.yaml", text);
  ASSIGN(const PluginSettings settings, ReadPluginSettings(fs, "/config/config.yaml"));
  ASSIGN(const Given given, ReadGiven({"--config-file=/config/config.yaml", "--node-name=n1"},
                                      [](const std::string&) -> std::optional<std::string> { return std::nullopt; }));
  return MakeOptions(given, &settings);
}

TEST_P(GfdBadSettingsTest, AreRefusedByFileAndField) {
  const auto options = Load(GetParam().settings);
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().code, Code::kInvalid);
  EXPECT_THAT(options.error().text, HasSubstr("/config/config.yaml"));
  EXPECT_THAT(options.error().text, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    All, GfdBadSettingsTest,
    testing::Values(
        Case{"NoYaml", "flags: [", "/config/config.yaml: "},
        Case{"AnAnchorToNothing", "flags: *nothing\n", "/config/config.yaml: "}, Case{"AText", "hello", "object"},
        Case{"AList", "- flags\n", "object"},
        Case{"TabIndent", "flags:\n\tmigStrategy: none\n", "/config/config.yaml: "},
        Case{"BinaryBytes", "\xff\xfe\xfd", "/config/config.yaml: "},
        Case{"Version2", "version: v2", "version: \"v2\" is unknown"}, Case{"VersionNumber", "version: 1", "version"},
        Case{"VersionUpper", "version: V1", "version: \"V1\" is unknown"}, Case{"FlagsAreAList", "flags: []", "flags"},
        Case{"FlagsAreAText", "flags: none", "flags"}, Case{"UnknownTop", "flag: {}", "flag: unknown field"},
        Case{"MigStrategyAtTheTop", "migStrategy: single", "it belongs to flags.migStrategy"},
        Case{"MigStrategyUnderGfd", "flags: {gfd: {migStrategy: single}}", "it belongs to flags.migStrategy"},
        Case{"MigStrategyUnknown", "flags: {migStrategy: all}", "flags.migStrategy: \"all\""},
        Case{"MigStrategyIsAList", "flags: {migStrategy: [none]}", "migStrategy"},
        Case{"MigStrategyIsANumber", "flags: {migStrategy: 1}", "migStrategy"},
        Case{"FailOnInitErrorIsAText", "flags: {failOnInitError: \"yes please\"}", "failOnInitError"},
        Case{"FailOnInitErrorIsANumber", "flags: {failOnInitError: 1}", "failOnInitError"},
        Case{"UseNodeFeatureApiIsAText", "flags: {useNodeFeatureAPI: maybe}", "useNodeFeatureAPI"},
        Case{"GfdIsAList", "flags: {gfd: []}", "gfd"},
        Case{"OneshotAtTheTop", "oneshot: true", "it belongs to flags.gfd.oneshot"},
        Case{"OneshotUnderFlags", "flags: {oneshot: true}", "it belongs to flags.gfd.oneshot"},
        Case{"OneshotIsAText", "flags: {gfd: {oneshot: twice}}", "oneshot"},
        Case{"NoTimestampUnderFlags", "flags: {noTimestamp: true}", "it belongs to flags.gfd.noTimestamp"},
        Case{"NoTimestampIsANumber", "flags: {gfd: {noTimestamp: 0}}", "noTimestamp"},
        Case{"SleepIntervalUnderFlags", "flags: {sleepInterval: 5s}", "it belongs to flags.gfd.sleepInterval"},
        Case{"SleepIntervalIsAWord", "flags: {gfd: {sleepInterval: often}}", "sleepInterval"},
        Case{"SleepIntervalHasNoUnit", "flags: {gfd: {sleepInterval: 5x}}", "sleepInterval"},
        Case{"SleepIntervalIsAList", "flags: {gfd: {sleepInterval: [5s]}}", "sleepInterval"},
        Case{"SleepIntervalIsATruth", "flags: {gfd: {sleepInterval: true}}", "sleepInterval"},
        Case{"OutputFileIsAList", "flags: {gfd: {outputFile: [a]}}", "outputFile"},
        Case{"MachineTypeFileUnderFlags", "flags: {machineTypeFile: /x}", "it belongs to flags.gfd.machineTypeFile"},
        Case{"MachineTypeFileIsANumber", "flags: {gfd: {machineTypeFile: 7}}", "machineTypeFile"},
        Case{"UnknownUnderGfd", "flags: {gfd: {sleep: 5s}}", "flags.gfd.sleep: unknown field"},
        Case{"MisspeltCase", "flags: {MigStrategy: none}", "flags.MigStrategy: unknown field"},
        Case{"SharingIsAText", "sharing: none", "sharing"},
        Case{"TimeSlicingAtTheTop", "timeSlicing: {}", "it belongs to sharing.timeSlicing"},
        Case{"TimeSlicingUnderFlags", "flags: {timeSlicing: {}}", "it belongs to sharing.timeSlicing"},
        Case{"TimeSlicingWithoutResources", "sharing: {timeSlicing: {renameByDefault: true}}", "at least one resource"},
        Case{"ResourcesAreAnObject", "sharing: {timeSlicing: {resources: {name: gpu}}}", "resources"},
        Case{"ResourceIsAText", "sharing: {timeSlicing: {resources: [gpu]}}", "resources[0]"},
        Case{"ResourceWithoutName", "sharing: {mps: {resources: [{replicas: 2}]}}", "resources[0].name: must be given"},
        Case{"NameOfAnother", "sharing: {mps: {resources: [{name: amd.com/gpu, replicas: 2}]}}", "no resource name"},
        Case{"NameIsUpper", "sharing: {mps: {resources: [{name: GPU, replicas: 2}]}}", "no resource name"},
        Case{"NameIsTooLong",
             "sharing: {mps: {resources: [{name: "
             "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, replicas: 2}]}}",
             "at most 63 characters"},
        Case{"NameIsEmptyAfterPrefix", "sharing: {mps: {resources: [{name: nvidia.com/, replicas: 2}]}}",
             "no resource name"},
        Case{"ReplicasNegative", "sharing: {timeSlicing: {resources: [{name: gpu, replicas: -3}]}}", "replicas"},
        Case{"ReplicasFraction", "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2.5}]}}", "replicas"},
        Case{"ReplicasText", "sharing: {timeSlicing: {resources: [{name: gpu, replicas: many}]}}", "replicas"},
        Case{"ReplicasHuge", "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 99999999999999999999}]}}",
             "replicas"},
        Case{"ReplicasBesideResources", "sharing: {timeSlicing: {replicas: 4, resources: []}}", "replicas"},
        Case{"DevicesNotAll", "sharing: {mps: {resources: [{name: gpu, replicas: 2, devices: not-all}]}}", "devices"},
        Case{"DevicesNegative", "sharing: {mps: {resources: [{name: gpu, replicas: 2, devices: -2}]}}", "devices"},
        Case{"DevicesFraction", "sharing: {mps: {resources: [{name: gpu, replicas: 2, devices: 2.0}]}}", "devices"},
        Case{"DevicesListNegative", "sharing: {mps: {resources: [{name: gpu, replicas: 2, devices: [-1]}]}}",
             "devices"},
        Case{"DevicesListText", "sharing: {mps: {resources: [{name: gpu, replicas: 2, devices: [\"-1\"]}]}}",
             "devices"},
        Case{"DevicesShortUuid", "sharing: {mps: {resources: [{name: gpu, replicas: 2, devices: [GPU-UUID]}]}}",
             "devices"},
        Case{"DevicesObject", "sharing: {mps: {resources: [{name: gpu, replicas: 2, devices: {a: 1}}]}}", "devices"},
        Case{"RenameByDefaultIsAText", "sharing: {mps: {renameByDefault: so, resources: [{name: gpu, replicas: 2}]}}",
             "renameByDefault"},
        Case{"FailRequestsAtTheTop", "failRequestsGreaterThanOne: true",
             "it belongs to sharing.timeSlicing.failRequestsGreaterThanOne"},
        Case{"UnknownInAResource", "sharing: {mps: {resources: [{name: gpu, replicas: 2, memory: 1}]}}",
             "memory: unknown field"},
        Case{"UnknownSharing", "sharing: {mig: {}}", "sharing.mig: unknown field"}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(GfdSettingsFileTest, WhatIsNotThereOrTooLongIsNamed) {
  os::FakeFs fs;
  EXPECT_EQ(ReadPluginSettings(fs, "/config/config.yaml").error().code, Code::kNotFound);
  fs.Put("/config/config.yaml", std::string(os::Fs::kReadLimit + 1, '#'));
  const auto settings = ReadPluginSettings(fs, "/config/config.yaml");
  EXPECT_EQ(settings.error().code, Code::kTooLarge);
  EXPECT_THAT(settings.error().text, HasSubstr("/config/config.yaml"));
}

TEST(GfdSettingsFileTest, NothingAndCommentsAreTheDefaults) {
  for (const char* text : {"", "# nothing\n", "version: v1\n", "version: \"\"\n", "{}"})
    EXPECT_TRUE(Load(text)) << text;
  os::FakeFs fs;
  fs.PutDevice("/dev/null", {});
  ASSERT_TRUE(os::MakeFolders(fs, "/config"));
  ASSERT_TRUE(fs.Symlink("/dev/null", "/config/config.yaml"));
  EXPECT_TRUE(ReadPluginSettings(fs, "/config/config.yaml"));
}

}  // namespace
}  // namespace gpuop::operands::gfd
