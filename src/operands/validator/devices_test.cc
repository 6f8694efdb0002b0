// Features of a driver container, links in /dev/char, GPUs of virtual machines.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operands/host/machine_files_test.h"
#include "operands/validator/dev_char.h"
#include "operands/validator/driver_features.h"
#include "operands/validator/sandbox.h"

namespace gpuop::operands::validator {
namespace {

using testing::HasSubstr;

std::string ReasonOf(const std::optional<api::Finding>& finding) {
  return finding ? std::string(api::Find(finding->code).name) : "right";
}

TEST(FeaturesTest, V02) {
  os::FakeFs fs;
  const auto check = [&](const char* text) {
    fs.Put("/v/.driver-ctr-ready", text);
    return ReasonOf(CheckFeatures(fs, fs, "/v/.driver-ctr-ready"));
  };
  EXPECT_EQ(check("GDS_ENABLED: false\nGDRCOPY_ENABLED: false\nGPU_DIRECT_RDMA_ENABLED: false\n"), "right");
  EXPECT_EQ(check("OTHER_ENABLED: true\n"), "right");
  EXPECT_EQ(check(""), "right");
  EXPECT_EQ(check("{{{"), "DriverNotReady");
  EXPECT_EQ(check("GDS_ENABLED: true\n"), "FilesystemModuleMissing");
  EXPECT_EQ(check("GPU_DIRECT_RDMA_ENABLED: true\n"), "NetworkModuleMissing");
  EXPECT_EQ(ReasonOf(CheckFeatures(fs, fs, "/none")), "DriverNotReady");
  fs.Put("/proc/modules", "nvidia_fs 1 0 - Live 0x0\n");
  EXPECT_EQ(check("GDS_ENABLED: true\n"), "right");
}

TEST(DevCharTest, LinksAllDevicesThatThereAreOrCouldBe) {
  os::FakeFs fs, dev_char;
  host::PutMachine(fs, 2);
  fs.Put("/proc/driver/nvidia-caps/mig-minors", "config 1\nmonitor 2\ngpu0/gi0/access 3\n");
  dev_char.Put("/195:0", "a file of somebody's");
  ASSERT_TRUE(dev_char.Symlink("../nvidia1", "/195:1"));
  const std::size_t before = dev_char.changes();
  ASSERT_TRUE(LinkDevChar(fs, dev_char));
  EXPECT_EQ(dev_char.changes() - before, 8U);  // all but the one that leads there already
  EXPECT_EQ(dev_char.ReadLink("/195:255").value(), "/dev/nvidiactl");
  EXPECT_EQ(dev_char.ReadLink("/195:0").value(), "/dev/nvidia0");
  EXPECT_EQ(dev_char.ReadLink("/195:1").value(), "../nvidia1");
  EXPECT_EQ(dev_char.ReadLink("/510:0").value(), "/dev/nvidia-uvm");
  EXPECT_EQ(dev_char.ReadLink("/236:3").value(), "/dev/nvidia-caps/nvidia-cap3");
  ASSERT_TRUE(LinkDevChar(fs, dev_char));
  EXPECT_EQ(dev_char.changes() - before, 8U);  // nothing twice
  dev_char.fail["/195:2"] = {Code::kForbidden, "no"};
  dev_char.fail["/195:254"] = {Code::kForbidden, "no"};
  os::FakeFs other;
  other.fail["/195:254"] = {Code::kForbidden, "/195:254: permission denied"};
  EXPECT_THAT(LinkDevChar(fs, other).error().text, HasSubstr("DISABLE_DEV_CHAR_SYMLINK_CREATION=true"));
}

TEST(SandboxTest, V03VirtualFunctions) {
  using V = std::vector<VirtualFunctions>;
  EXPECT_FALSE(VirtualFunctionsInUse({}));
  EXPECT_FALSE(VirtualFunctionsInUse(V{{"a", 0, 16}}));
  EXPECT_TRUE(VirtualFunctionsInUse(V{{"a", 16, 16}}));
  EXPECT_TRUE(VirtualFunctionsInUse(V{{"a", 16, 16}, {"b", 0, 16}}));
  EXPECT_FALSE(VirtualFunctionsReady({}));
  EXPECT_FALSE(VirtualFunctionsReady(V{{"a", 4, 16}}));
  EXPECT_FALSE(VirtualFunctionsReady(V{{"a", 16, 16}, {"b", 0, 16}}));
  EXPECT_TRUE(VirtualFunctionsReady(V{{"a", 16, 16}, {"b", 8, 8}}));
}

TEST(SandboxTest, TheWorkloadIsTheLabelsOrTheDefaultOrPassthrough) {
  EXPECT_EQ(WorkloadOf("container", "vm-vgpu"), "container");
  EXPECT_EQ(WorkloadOf("", "vm-vgpu"), "vm-vgpu");
  EXPECT_EQ(WorkloadOf("bogus", "container"), "container");
  EXPECT_EQ(WorkloadOf("", ""), "vm-passthrough");
  EXPECT_EQ(WorkloadOf("", "bogus"), "vm-passthrough");
}

TEST(SandboxTest, AGpuOfAnotherDriverIsNamed) {
  os::FakeFs fs;
  host::PutMachine(fs, 1);
  EXPECT_THAT(CheckVfio(fs)->evidence, HasSubstr("0000:07:00.0 is bound to nvidia"));
  ASSERT_TRUE(fs.Symlink("../../../bus/pci/drivers/vfio-pci", "/sys/bus/pci/devices/0000:07:00.0/driver"));
  EXPECT_EQ(CheckVfio(fs), std::nullopt);
  EXPECT_EQ(ReasonOf(CheckVgpuHost(fs)), "VGPUManagerNotReady");
  fs.Put("/sys/class/mdev_bus/0000:07:00.0/x", "");
  EXPECT_EQ(CheckVgpuHost(fs), std::nullopt);
  EXPECT_EQ(ReasonOf(CheckVgpuDevices(fs)), "VGPUDevicesMissing");
  fs.Put("/sys/bus/mdev/devices/uuid/x", "");
  EXPECT_EQ(CheckVgpuDevices(fs), std::nullopt);
}

}  // namespace
}  // namespace gpuop::operands::validator
