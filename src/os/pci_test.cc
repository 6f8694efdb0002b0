#include "os/pci.h"

#include "os/fake_fs.h"
#include "os/real_fs.h"

namespace gpuop::os {
namespace {

/// As the kernel lays it out: the bus's folder holds links into the tree of devices.
void AddGpu(FakeFs& fs) {
  const std::string at = "/sys/devices/pci0000:3a/0000:3b:00.0";
  fs.Put(at + "/vendor", "0x10de\n");
  fs.Put(at + "/device", "0x20b5\n");
  fs.Put(at + "/subsystem_vendor", "0x10de\n");
  fs.Put(at + "/subsystem_device", "0x1533\n");
  fs.Put(at + "/class", "0x030200\n");
  fs.Put(at + "/revision", "0xa1\n");
  fs.Put(at + "/numa_node", "1\n");
  fs.Put("/sys/kernel/iommu_groups/42/type", "DMA\n");
  fs.Put("/sys/bus/pci/drivers/nvidia/bind", "");
  ASSERT_TRUE(MakeFolders(fs, "/sys/bus/pci/devices"));
  ASSERT_TRUE(fs.Symlink("../../../bus/pci/drivers/nvidia", at + "/driver"));
  ASSERT_TRUE(fs.Symlink("../../../kernel/iommu_groups/42", at + "/iommu_group"));
  ASSERT_TRUE(fs.Symlink("../../../devices/pci0000:3a/0000:3b:00.0", "/sys/bus/pci/devices/0000:3b:00.0"));
}

TEST(Pci, ReadsADevice) {
  FakeFs fs;
  AddGpu(fs);
  EXPECT_EQ(ReadPciDevices(fs).value(), (std::vector<PciDevice>{{.address = "0000:3b:00.0",
                                                                 .vendor = 0x10de,
                                                                 .device = 0x20b5,
                                                                 .subsystem_vendor = 0x10de,
                                                                 .subsystem_device = 0x1533,
                                                                 .class_code = 0x030200,
                                                                 .revision = 0xa1,
                                                                 .numa_node = 1,
                                                                 .driver = "nvidia",
                                                                 .iommu_group = 42}}));
}

TEST(Pci, BearsMissingAndOddFiles) {
  FakeFs fs;
  EXPECT_TRUE(ReadPciDevices(fs).value().empty());
  const std::string folder = "/sys/bus/pci/devices/0000:00:01.0/";
  fs.Put(folder + "vendor", "0x1af4\n");
  fs.Put(folder + "device", "0x1000\n");
  fs.Put(folder + "class", "0x020000\n");
  fs.Put(folder + "numa_node", "-1\n");
  fs.Put(folder + "revision", "what\n");
  fs.Put("/sys/bus/pci/devices/0000:00:02.0/vendor", "0x1af4\n");
  const auto devices = ReadPciDevices(fs).value();
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0],
            (PciDevice{.address = "0000:00:01.0", .vendor = 0x1af4, .device = 0x1000, .class_code = 0x020000}));
}

TEST(Pci, ReadsThisMachines) {
  auto fs = std::move(RealFs::Open("/").value());
  const auto devices = ReadPciDevices(*fs);
  ASSERT_TRUE(devices) << devices.error().text;
  const auto names = fs->List("/sys/bus/pci/devices");
  EXPECT_EQ(devices->size(), names ? names->size() : 0U);
  for (const PciDevice& d : *devices) EXPECT_NE(d.vendor, 0) << d.address;
}

}  // namespace
}  // namespace gpuop::os
