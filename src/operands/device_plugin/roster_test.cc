#include "operands/device_plugin/roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operands/device_plugin/testing/profiles.h"

namespace gpuop::operands::device_plugin {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

/// A node with two GPUs, the second with two MIG devices, and its roster.
struct Node {
  explicit Node(const char* settings = nullptr)
      : roster(SettingsOf({"--mig-strategy=mixed"}, settings)), machine(MachineOf("a100")) {
    machine.devices.resize(2);
    machine.closeness.resize(4);
    SetMig(machine, 1, "3g.20gb*2");
    See();
  }
  void See() { roster.See(machine, {}, now); }
  void Hear(unsigned xid, std::size_t gpu = 0, std::optional<unsigned> gi = {}, std::optional<unsigned> ci = {}) {
    roster.Hear({.kind = gpu::DeviceEvent::Kind::kXid,
                 .uuid = machine.devices[gpu].uuid,
                 .data = xid,
                 .gpu_instance = gi,
                 .compute_instance = ci,
                 .text = {}},
                now);
  }
  /// "GPU-0 MIG-1-1-0 MIG-1-2-0!": the last digits, "!" for unfit.
  std::string Look() const {
    std::string out;
    for (const ResourceState& state : roster.Resources())
      for (std::size_t i = 0; i < state.troubles.size(); ++i) {
        const std::string& uuid = state.resource.units[i].uuid;
        out.append(out.empty() ? "" : " ").append(uuid.starts_with("GPU") ? "GPU-0" : uuid);
        if (!state.troubles[i].empty()) out.append("!");
      }
    return out;
  }
  std::string Why(std::size_t resource = 0) const { return roster.Resources()[resource].troubles[0]; }

  Roster roster;
  gpu::Inventory machine;
  TimePoint now = TimePoint(1h);
};

constexpr const char* kFit = "GPU-0 MIG-1-1-0 MIG-1-2-0";

TEST(RosterTest, AnErrorTakesOutTheGpuThatHadItAndNothingElse) {
  Node node;
  EXPECT_EQ(node.Look(), kFit);
  node.Hear(48);
  EXPECT_EQ(node.Look(), "GPU-0! MIG-1-1-0 MIG-1-2-0");
  EXPECT_EQ(node.Why(), "Xid 48 (uncorrectable (double-bit) memory error)");
}

TEST(RosterTest, AnErrorOfAMigDeviceLeavesItsNeighboursFit) {
  Node node;
  node.Hear(48, 1, 2, 0);
  EXPECT_EQ(node.Look(), "GPU-0 MIG-1-1-0 MIG-1-2-0!");
  node.Hear(48, 1);
  EXPECT_EQ(node.Look(), "GPU-0 MIG-1-1-0! MIG-1-2-0!");
}

TEST(RosterTest, ProgramsOwnErrorsChangeNothing) {
  Node node;
  for (const unsigned xid : {13U, 31U, 43U, 45U, 68U, 109U}) node.Hear(xid);
  EXPECT_EQ(node.Look(), kFit);
}

TEST(RosterTest, ALostGpuStaysInTheListWithItsMigDevicesUntilItIsBack) {
  Node node;
  auto& lost = node.machine.devices[1];
  const gpu::Device was = lost;
  lost = gpu::Device();
  lost.index = 1;
  lost.unreadable = "nvmlDeviceGetHandleByIndex_v2: NVML_ERROR_UNKNOWN";
  node.See();
  EXPECT_EQ(node.Look(), "GPU-0 MIG-1-1-0! MIG-1-2-0!");
  EXPECT_EQ(node.Why(1), "GPU is missing: nvmlDeviceGetHandleByIndex_v2: NVML_ERROR_UNKNOWN");
  EXPECT_EQ(node.roster.present(), 1U);
  node.machine.devices.pop_back();
  node.See();
  EXPECT_EQ(node.Why(1), "GPU is missing: the driver does not list it");
  node.machine.devices.push_back(was);
  node.See();
  EXPECT_EQ(node.Look(), kFit);
}

TEST(RosterTest, AnErrorIsForgottenWhenItsGpuWasGone) {
  Node node;
  node.Hear(79);
  node.machine.devices[0].unreadable = "nvmlDeviceGetUUID: NVML_ERROR_GPU_IS_LOST";
  node.See();
  EXPECT_EQ(node.Look(), "GPU-0! MIG-1-1-0 MIG-1-2-0");
  node.machine.devices[0].unreadable.clear();
  node.See();
  EXPECT_EQ(node.Look(), kFit);
}

TEST(RosterTest, AReadingThatFailedOnceIsNoReset) {
  Node node;
  node.Hear(79);
  node.machine.devices[0].unreadable = "nvmlDeviceGetName: NVML_ERROR_UNKNOWN";
  node.See();
  node.machine.devices[0].unreadable.clear();
  node.See();
  EXPECT_EQ(node.Look(), "GPU-0! MIG-1-1-0 MIG-1-2-0");
}

TEST(RosterTest, AResetThatTheDriverAdvisedEndsIt) {
  Node node;
  node.Hear(48);
  node.machine.devices[0].recovery_action = 1;
  node.See();
  EXPECT_EQ(node.Look(), "GPU-0! MIG-1-1-0 MIG-1-2-0");
  node.now += 1h;  // time alone does not help
  node.See();
  EXPECT_EQ(node.Look(), "GPU-0! MIG-1-1-0 MIG-1-2-0");
  node.machine.devices[0].recovery_action = 0;
  node.See();
  EXPECT_EQ(node.Look(), kFit);
}

TEST(RosterTest, AdviceToResetIsEnough) {
  Node node;
  node.machine.devices[0].recovery_action = 2;
  node.See();
  EXPECT_EQ(node.Why(), "the driver advises to reset it");
  node.machine.devices[0].recovery_action = 3;  // to drain peers is no reason
  node.See();
  EXPECT_EQ(node.Look(), kFit);
}

TEST(RosterTest, QuietHealsWhatIsNotFatalAndWhereTheDriverGivesAdviceTheRest) {
  Node node;
  node.Hear(94);
  node.Hear(48, 1);
  node.now += 4min;
  EXPECT_FALSE(node.roster.Pass(node.now));
  node.Hear(94);  // the same again: quiet begins anew
  node.now += 4min;
  EXPECT_FALSE(node.roster.Pass(node.now));
  node.now += 2min;
  EXPECT_TRUE(node.roster.Pass(node.now));
  EXPECT_EQ(node.Look(), "GPU-0 MIG-1-1-0! MIG-1-2-0!");
  node.machine.devices[1].recovery_action = 0;  // a driver that gives advice, and has none
  node.See();
  EXPECT_EQ(node.Look(), kFit);
}

TEST(RosterTest, NeverMeansNever) {
  Node node("health: {xids: [{xid: 79, recovery: never}]}");
  node.Hear(79);
  node.machine.devices[0].recovery_action = 1;
  node.See();
  node.machine.devices[0].recovery_action = 0;
  node.now += 1000h;
  node.See();
  node.roster.Miss({Code::kUnavailable, "gone"});
  node.See();
  EXPECT_EQ(node.Look(), "GPU-0! MIG-1-1-0 MIG-1-2-0");
}

TEST(RosterTest, ADriverThatCannotBeAskedTakesAllOutAndComesBackAsNew) {
  Node node;
  node.Hear(48);
  node.roster.Miss({Code::kIo, "nvmlDeviceGetCount_v2: NVML_ERROR_UNKNOWN"});
  EXPECT_EQ(node.Look(), "GPU-0! MIG-1-1-0! MIG-1-2-0!");
  EXPECT_THAT(node.Why(1), HasSubstr("the driver cannot be asked: nvmlDeviceGetCount_v2"));
  EXPECT_EQ(node.roster.present(), 0U);
  node.See();
  EXPECT_EQ(node.Look(), "GPU-0! MIG-1-1-0 MIG-1-2-0");  // it was there all the time
  node.roster.Miss({Code::kUnavailable, "nvmlInit_v2: NVML_ERROR_DRIVER_NOT_LOADED"});
  node.See();
  EXPECT_EQ(node.Look(), kFit);
}

TEST(RosterTest, AMigDeviceThatIsMadeAnewHasNoPast) {
  Node node;
  node.Hear(48, 1, 2, 0);
  SetMig(node.machine, 1, "3g.20gb");
  node.See();
  EXPECT_EQ(node.Look(), "GPU-0 MIG-1-1-0");
  SetMig(node.machine, 1, "3g.20gb*2");
  node.See();
  EXPECT_EQ(node.Look(), kFit);
}

TEST(RosterTest, OtherSettingsKeepWhatIsKnown) {
  Node node;
  node.Hear(48);
  node.roster.Use(SettingsOf({"--mig-strategy=none"}));
  ASSERT_EQ(node.roster.Resources().size(), 1U);
  EXPECT_EQ(node.roster.Resources()[0].resource.units.size(), 2U);
  EXPECT_NE(node.Why(), "");
}

}  // namespace
}  // namespace gpuop::operands::device_plugin
