#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operands/device_plugin/plugin_bed_test.h"

namespace gpuop::operands::device_plugin {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(PluginTest, OffersWhatTheDriverHasAndRegistersOnce) {
  Bed bed;
  bed.Start();
  EXPECT_EQ(bed.Look(), "gpu=8/8");
  EXPECT_EQ(bed.kubelet.registrations["nvidia.com/gpu"], 1);
  bed.Run(1h);
  EXPECT_EQ(bed.kubelet.registrations["nvidia.com/gpu"], 1);
  EXPECT_EQ(bed.prepared, 1);
  EXPECT_EQ(bed.report.fit, 8U);
  EXPECT_TRUE(bed.report.resources["nvidia.com/gpu"].live);
}

TEST(PluginTest, NothingIsOfferedBeforeTheNodeIsReadyForIt) {
  Bed bed;
  bed.prepare_fails = Error{Code::kIo, "disk full"};
  bed.Start();
  bed.Run(20s);
  EXPECT_EQ(bed.Look(), "");
  EXPECT_THAT(bed.log.Lines(), Contains(HasSubstr("disk full")));
  bed.prepare_fails.reset();
  bed.Run(10s);
  EXPECT_EQ(bed.Look(), "gpu=8/8");
}

TEST(PluginTest, ALostGpuTakesItselfOutInTwoSecondsAndComesBack) {
  Bed bed;
  bed.Start();
  bed.driver.machine.devices[3].unreadable = "NVML_ERROR_GPU_IS_LOST";
  bed.plugin->OnEvent(Event(Kind::kLost));
  bed.Run(100ms);
  EXPECT_EQ(bed.Look(), "gpu=7/8");
  EXPECT_EQ(bed.report.fit, 7U);
  EXPECT_EQ(bed.report.known, 8U);
  EXPECT_EQ(bed.report.troubles.begin()->second, "GPU is missing: NVML_ERROR_GPU_IS_LOST");
  EXPECT_EQ(bed.prepared, 1);  // what others run on is not touched
  bed.driver.machine.devices[3].unreadable.clear();
  bed.Run(2s);
  EXPECT_EQ(bed.Look(), "gpu=8/8");
}

TEST(PluginTest, AGpuThatVanishesWithoutAWordIsSeenInTwoSeconds) {
  Bed bed;
  bed.Start();
  bed.driver.machine.devices.pop_back();
  bed.driver.machine.closeness.resize(49);
  bed.Run(2s);
  EXPECT_EQ(bed.Look(), "gpu=7/8");
}

TEST(PluginTest, ADriverThatHangsOrBreaksLeavesNothingHealthyUntilItAnswers) {
  Bed bed;
  bed.Start();
  bed.driver.hangs = true;
  bed.Run(2s);
  EXPECT_EQ(bed.Look(), "gpu=0/8");
  bed.driver.Mend();
  bed.Run(2s);
  EXPECT_EQ(bed.Look(), "gpu=8/8");
  bed.driver.fails = Error{Code::kIo, "nvmlDeviceGetCount_v2: NVML_ERROR_UNKNOWN"};
  bed.Run(2s);
  EXPECT_EQ(bed.Look(), "gpu=0/8");
  bed.driver.fails.reset();
  bed.Run(2s);
  EXPECT_EQ(bed.Look(), "gpu=8/8");
}

TEST(PluginTest, ADriverThatWatchesIsAskedOnlyWhenThereIsSomethingToAsk) {
  Bed bed;
  bed.watches = true;
  bed.Start();
  bed.Run(10s);
  const unsigned asked = bed.driver.asked;
  bed.Run(1h);
  EXPECT_EQ(bed.driver.asked, asked);
  bed.driver.machine.devices.pop_back();
  bed.driver.machine.closeness.resize(49);
  bed.Run(2s);
  EXPECT_EQ(bed.Look(), "gpu=7/8");
  bed.driver.machine = MachineOf("a100");
  bed.Run(10s);
  EXPECT_EQ(bed.Look(), "gpu=8/8");
  const unsigned asked_then = bed.driver.asked;
  bed.Run(1h);
  EXPECT_EQ(bed.driver.asked, asked_then);
}

TEST(PluginTest, ADriverThatWatchesAndHangsIsKnownInTwoSecondsAndAFalseAlarmChangesNothing) {
  Bed bed;
  bed.watches = true;
  bed.Start();
  bed.Run(10s);
  bed.driver.hangs = true;
  bed.Run(2s);
  EXPECT_EQ(bed.Look(), "gpu=0/8");
  bed.driver.Mend();
  bed.Run(2s);
  EXPECT_EQ(bed.Look(), "gpu=8/8");
  bed.Run(10s);
  const std::size_t lines = bed.log.Lines().size();
  bed.plugin->OnHang();
  bed.Run(10s);
  EXPECT_EQ(bed.log.Lines().size(), lines);
}

TEST(PluginTest, AGpuWhoseNameFailedOnceJoinsLater) {
  Bed bed;
  bed.driver.machine.devices[5].unreadable = "nvmlDeviceGetName: NVML_ERROR_UNKNOWN";
  bed.Start();
  EXPECT_EQ(bed.Look(), "gpu=7/7");
  bed.driver.machine.devices[5].unreadable.clear();
  bed.Run(10s);
  EXPECT_EQ(bed.Look(), "gpu=8/8");
  EXPECT_EQ(bed.fatal, "");
}

TEST(PluginTest, WithoutADriverItEndsOrWaitsAsTold) {
  Bed strict;
  strict.driver.fails = Error{Code::kNotFound, "no libnvidia-ml.so.1"};
  strict.Start();
  EXPECT_EQ(strict.fatal, "no libnvidia-ml.so.1");
  Bed patient(1, {"--fail-on-init-error=false"});
  patient.driver.fails = Error{Code::kNotFound, "no libnvidia-ml.so.1"};
  patient.Start();
  patient.Run(90s);
  EXPECT_EQ(patient.fatal, "");
  EXPECT_EQ(patient.Look(), "");
  patient.driver.fails.reset();
  patient.Run(6s);
  EXPECT_EQ(patient.Look(), "gpu=8/8");
}

TEST(PluginTest, ANodeThatDoesNotFitItsMigStrategyEndsOrWaitsAsTold) {
  Bed strict(1, {"--mig-strategy=single"});
  SetMig(strict.driver.machine, 0, "on");
  strict.Start();
  EXPECT_THAT(strict.fatal, HasSubstr("has no MIG devices"));
  Bed patient(1, {"--mig-strategy=single", "--fail-on-init-error=false"});
  SetMig(patient.driver.machine, 0, "on");
  patient.Start();
  EXPECT_EQ(patient.Look(), "");
  EXPECT_EQ(patient.fatal, "");
}

TEST(PluginTest, NoGpusIsNoError) {
  Bed bed;
  bed.driver.machine = {};
  bed.Start();
  bed.Run(10s);
  EXPECT_EQ(bed.Look(), "");
  EXPECT_EQ(bed.fatal, "");
}

TEST(PluginTest, MigDevicesFollowTheGpuWithoutARestart) {
  Bed bed(1, {"--mig-strategy=mixed"});
  bed.Start();
  const auto changed = [&] {
    bed.plugin->OnEvent(Event(Kind::kMigConfig, bed.driver.machine.devices[0].uuid));
    bed.Run(100ms);
  };
  SetMig(bed.driver.machine, 0, "3g.20gb,1g.5gb*2");
  changed();
  EXPECT_EQ(bed.Look(), "gpu=7/7 mig-1g.5gb=2/2 mig-3g.20gb=1/1");
  SetMig(bed.driver.machine, 0, "1g.5gb*7");
  changed();
  EXPECT_EQ(bed.Look(), "gpu=7/7 mig-1g.5gb=7/7");
  EXPECT_EQ(bed.kubelet.registrations["nvidia.com/gpu"], 1);
  bed.driver.machine.devices[0].mig = {};
  changed();
  EXPECT_EQ(bed.Look(), "gpu=8/8");
}

TEST(PluginTest, OtherSettingsAreTakenWhileItRuns) {
  Bed bed;
  bed.Start();
  bed.plugin->Use(std::make_shared<const Settings>(
                      SettingsOf({}, "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 4}]}}")),
                  true);
  bed.Run(100ms);
  EXPECT_EQ(bed.Look(), "gpu=32/32");
  EXPECT_EQ(bed.kubelet.registrations["nvidia.com/gpu"], 2);
  bed.plugin->OnKubelet();
  bed.Run(100ms);
  EXPECT_EQ(bed.kubelet.registrations["nvidia.com/gpu"], 3);
}

}  // namespace
}  // namespace gpuop::operands::device_plugin
