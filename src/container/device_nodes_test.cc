#include "container/device_nodes.h"

#include "os/fake_fs.h"

namespace gpuop::container {
namespace {

TEST(ControlNodesTest, ComeFromTheKernelsList) {
  const auto nodes =
      ControlNodes("Character devices:\n  1 mem\n195 nvidia\n510 nvidia-uvm\n\nBlock devices:\n195 nvidia\n");
  ASSERT_EQ(nodes.size(), 4U);
  EXPECT_EQ(nodes[0].path, "/dev/nvidiactl");
  EXPECT_EQ(nodes[0].device, (os::DeviceNumbers{.major = 195, .minor = 255}));
  EXPECT_EQ(nodes[3].device, (os::DeviceNumbers{.major = 510, .minor = 1}));
  EXPECT_EQ(ControlNodes("Character devices:\n195 nvidia-frontend\n").size(), 2U);
  EXPECT_TRUE(ControlNodes("").empty());
}

TEST(AllDriverNodesTest, AreWhatTheDriverMayAskFor) {
  os::FakeFs host;
  host.Put("/proc/devices", "Character devices:\n195 nvidia\n508 nvidia-caps\n510 nvidia-uvm\n");
  host.Put("/proc/driver/nvidia/gpus/0000:3b:00.0/information", "GPU UUID: \t GPU-1\nDevice Minor: \t 2\n");
  host.Put("/proc/driver/nvidia-caps/mig-minors", "config 1\nmonitor 2\ngpu2/gi1/access 12\nnonsense\n");
  std::map<std::string, unsigned> minors;
  for (const DriverNode& node : AllDriverNodes(host)) minors[node.path] = node.device.minor;
  EXPECT_EQ(minors, (std::map<std::string, unsigned>{{"/dev/nvidiactl", 255},
                                                     {"/dev/nvidia-modeset", 254},
                                                     {"/dev/nvidia-uvm", 0},
                                                     {"/dev/nvidia-uvm-tools", 1},
                                                     {"/dev/nvidia2", 2},
                                                     {"/dev/nvidia-caps/nvidia-cap1", 1},
                                                     {"/dev/nvidia-caps/nvidia-cap2", 2},
                                                     {"/dev/nvidia-caps/nvidia-cap12", 12}}));
  EXPECT_TRUE(AllDriverNodes(os::FakeFs()).empty());
}

}  // namespace
}  // namespace gpuop::container
