#include "operands/device_plugin/host_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operands/device_plugin/testing/profiles.h"
#include "os/fake_fs.h"

namespace gpuop::operands::device_plugin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kSpec = "/var/run/cdi/k8s.device-plugin.nvidia.com-gpu.json";

/// A node whose driver has the few files that a spec needs.
struct Node {
  Node() {
    fs.Put("/lib/x86_64-linux-gnu/libcuda.so.550.163.01", "");
    for (unsigned i = 0; i < 8; ++i) fs.PutDevice("/dev/nvidia" + std::to_string(i), {.major = 195, .minor = i});
    fs.PutDevice("/dev/nvidiactl", {.major = 195, .minor = 255});
  }
  Result<Extras> Prepare(const std::vector<std::string>& args, const char* file = nullptr) {
    return PrepareHost({fs, fs, fs}, machine, SettingsOf(args, file));
  }
  std::string Read(const std::string& path) const { return fs.Read(path).value_or(""); }

  os::FakeFs fs;
  gpu::Inventory machine = MachineOf("a100");
};

TEST(HostFilesTest, WithoutCdiNothingIsWritten) {
  Node node;
  const auto before = node.fs.Snapshot();
  const auto extras = node.Prepare({"--pass-device-specs"});
  ASSERT_TRUE(extras) << extras.error().text;
  EXPECT_THAT(extras->control_nodes, ElementsAre("/dev/nvidiactl"));
  EXPECT_EQ(node.fs.Snapshot(), before);
}

TEST(HostFilesTest, TheSpecNamesEveryGpuAndIsWrittenOnce) {
  Node node;
  ASSERT_TRUE(node.Prepare({"--device-list-strategy=cdi-cri"}));
  const std::string spec = node.Read(kSpec);
  for (const gpu::Device& device : node.machine.devices) EXPECT_THAT(spec, HasSubstr(device.uuid));
  EXPECT_THAT(spec, HasSubstr("k8s.device-plugin.nvidia.com/gpu"));
  const std::size_t changes = node.fs.changes();
  ASSERT_TRUE(node.Prepare({"--device-list-strategy=cdi-cri"}));
  EXPECT_EQ(node.fs.changes(), changes);
  ASSERT_TRUE(node.Prepare({"--device-list-strategy=cdi-cri", "--device-id-strategy=index"}));
  EXPECT_THAT(node.Read(kSpec), Not(HasSubstr("GPU-")));
}

TEST(HostFilesTest, AGpuThatIsMissingIsLeftOut) {
  Node node;
  node.machine.devices[3].unreadable = "NVML_ERROR_GPU_IS_LOST";
  ASSERT_TRUE(node.Prepare({"--device-list-strategy=cdi-cri"}));
  EXPECT_THAT(node.Read(kSpec), Not(HasSubstr(node.machine.devices[3].uuid)));
  EXPECT_THAT(node.Read(kSpec), HasSubstr(node.machine.devices[4].uuid));
}

TEST(HostFilesTest, OtherDevicesAreOfferedWhereTheNodeHasThem) {
  Node node;
  const std::vector<std::string> args = {"--device-list-strategy=cdi-cri", "--gdrcopy-enabled", "--mofed-enabled",
                                         "--imex-channel-ids=0"};
  const auto without = node.Prepare(args);
  ASSERT_TRUE(without) << without.error().text;
  EXPECT_EQ(*without, Extras());
  node.fs.PutDevice("/dev/gdrdrv", {.major = 240, .minor = 0});
  node.fs.PutDevice("/dev/nvidia-caps-imex-channels/channel0", {.major = 241, .minor = 0});
  const auto with = node.Prepare(args);
  ASSERT_TRUE(with) << with.error().text;
  EXPECT_THAT(with->cdi_devices, ElementsAre("gdrcopy=all"));
  EXPECT_THAT(with->imex_channels, ElementsAre(0U));
  EXPECT_THAT(node.Read("/var/run/cdi/k8s.device-plugin.nvidia.com-imex-channel.json"), HasSubstr("channel0"));
  EXPECT_EQ(node.Read("/var/run/cdi/k8s.device-plugin.nvidia.com-mofed.json"), "");
}

TEST(HostFilesTest, AChannelThatIsRequiredAndNotThereIsAnError) {
  Node node;
  const auto extras = node.Prepare({"--imex-channel-ids=0", "--imex-required"});
  ASSERT_FALSE(extras);
  EXPECT_EQ(extras.error().text,
            "IMEX channel 0: no character device at "
            "/dev/nvidia-caps-imex-channels/channel0");
}

TEST(HostFilesTest, AFullDiskOrAReadOnlyFolderIsSaidAndLeavesTheOldSpec) {
  Node node;
  ASSERT_TRUE(node.Prepare({"--device-list-strategy=cdi-cri"}));
  const std::string before = node.Read(kSpec);
  node.machine.devices.pop_back();
  node.fs.fail_from = node.fs.changes() + 1, node.fs.fail_until = node.fs.changes() + 100;
  node.fs.fault = {Code::kIo, "no space left on device"};
  const auto extras = node.Prepare({"--device-list-strategy=cdi-cri"});
  ASSERT_FALSE(extras);
  EXPECT_THAT(extras.error().text, HasSubstr("CDI specs"));
  EXPECT_THAT(extras.error().text, HasSubstr("no space left on device"));
  EXPECT_EQ(node.Read(kSpec), before);
}

TEST(HostFilesTest, SharesByMpsWaitForTheirDaemon) {
  Node node;
  const char* file = "sharing: {mps: {resources: [{name: gpu, replicas: 4}]}}";
  const auto early = node.Prepare({"--mps-root=/run/nvidia/mps"}, file);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().text,
            "the MPS daemon of nvidia.com/gpu has not started: there is no "
            "/mps/nvidia.com/gpu/.started");
  node.fs.Put("/mps/nvidia.com/gpu/.started", "");
  EXPECT_TRUE(node.Prepare({"--mps-root=/run/nvidia/mps"}, file));
}

}  // namespace
}  // namespace gpuop::operands::device_plugin
