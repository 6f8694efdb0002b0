#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operands/nfd/sources/kernel_config.h"
#include "operands/nfd/sources/source.h"
#include "operands/nfd/worker/discovery.h"
#include "os/fake_fs.h"

namespace gpuop::operands::nfd {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

/// A host's tree, mounted as in node feature discovery's Pods.
struct Machine {
  Machine() {
    fs.Put("/host-sys/keep", "");
    fs.Put("/host-etc/os-release",
           "NAME=\"Ubuntu\"\nID=ubuntu\nVERSION_ID=\"22.04\"\n# comment\nPRETTY_NAME='Ubuntu 22.04'\nbad line\n");
    fs.Put("/proc/version", "Linux version 5.15.0-1053-nvidia (buildd@x) #1 SMP\n");
    fs.Put("/proc/modules",
           "nvidia 54018048 2 nvidia_uvm, Live 0x0\nib_uverbs 1 0 - Live 0x0\nrdma_ucm 1 0 - Live 0x0\n");
    fs.Put("/proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n");
  }
  void AddPci(const std::string& address, const std::string& vendor, const std::string& device_class,
              const std::string& device = "0x20b0") {
    const std::string at = "/host-sys/bus/pci/devices/" + address;
    fs.Put(at + "/vendor", vendor + "\n");
    fs.Put(at + "/device", device + "\n");
    fs.Put(at + "/class", device_class + "\n");
    fs.Put(at + "/subsystem_vendor", vendor + "\n");
    fs.Put(at + "/subsystem_device", "0x1463\n");
  }
  void Put(const std::string& path, const std::string& text) { fs.Put("/host-sys" + path, text); }

  Found Ask(Found (*find)(const Question&)) {
    const Host host(fs);
    return find({host, settings, clock, "n1"});
  }

  os::FakeFs fs;
  FakeClock clock;
  FakeLog log;
  SourceSettings settings = SourceSettings::Default();
};

TEST(NfdSourcesTest, PciLabelsHaveTheFieldsThatAreAskedForInTheirOwnOrder) {
  struct Case {
    std::vector<std::string> classes, fields, want;
  };
  const std::vector<std::string> defaults = SourceSettings::Default().pci.classes;
  for (const Case& c :
       {Case{defaults, {"class", "vendor"}, {"0302_10de.present"}},
        {{"02", "0200", "0207", "0300", "0302"}, {"vendor"}, {"10de.present", "15b3.present", "15b3.sriov.capable"}},
        {{"0302"}, {"device", "vendor", "class", "bogus"}, {"0302_10de_20b0.present"}},
        {{"0302"}, {"bogus"}, {"0302_10de.present"}},
        {{"0302"}, {"subsystem_vendor", "vendor"}, {"10de_10de.present"}},
        {{}, {"vendor"}, {}}}) {
    Machine machine;
    machine.AddPci("0000:07:00.0", "0x10de", "0x030200");
    machine.AddPci("0000:0b:00.0", "0x15b3", "0x020000", "0x101b");
    machine.Put("/bus/pci/devices/0000:0b:00.0/sriov_totalvfs", "8\n");
    machine.settings.pci = {c.classes, c.fields};
    const Found found = machine.Ask(FindPci);
    std::vector<std::string> names;
    for (const auto& [name, value] : found.labels) names.push_back(name);
    EXPECT_EQ(names, c.want);
    const auto& devices = found.features.instances.at("pci.device");
    ASSERT_EQ(devices.size(), 2U);
    EXPECT_THAT(devices[0], UnorderedElementsAre(Pair("class", "0302"), Pair("vendor", "10de"), Pair("device", "20b0"),
                                                 Pair("subsystem_vendor", "10de"), Pair("subsystem_device", "1463")));
    EXPECT_THAT(devices[1], Contains(Pair("sriov_totalvfs", "8")));
  }
}

TEST(NfdSourcesTest, ADeviceThatIsGoingAwayIsPassedOver) {
  Machine machine;
  machine.AddPci("0000:07:00.0", "0x10de", "0x030200");
  machine.fs.Put("/host-sys/bus/pci/devices/0000:08:00.0/class", "0x030200\n");
  EXPECT_EQ(machine.Ask(FindPci).features.instances.at("pci.device").size(), 1U);
}

TEST(NfdSourcesTest, UsbDevicesHaveTheirInterfacesClasses) {
  Machine machine;
  const std::string at = "/bus/usb/devices/";
  machine.Put(at + "1-1/bDeviceClass", "00\n");
  machine.Put(at + "1-1/idVendor", "046d\n");
  machine.Put(at + "1-1/idProduct", "0825\n");
  machine.Put(at + "1-1/serial", "X1\n");
  machine.Put(at + "1-1/1-1:1.0/bInterfaceClass", "0e\n");
  machine.Put(at + "1-1/1-1:1.1/bInterfaceClass", "0e\n");
  machine.Put(at + "1-1/1-1:1.2/bInterfaceClass", "01\n");
  machine.Put(at + "usb1/bDeviceClass", "09\n");
  machine.Put(at + "usb1/idVendor", "1d6b\n");
  machine.Put(at + "usb1/idProduct", "0002\n");
  const Found found = machine.Ask(FindUsb);
  EXPECT_THAT(found.labels, ElementsAre(Pair("0e_046d_0825.present", "true")));
  EXPECT_EQ(found.features.instances.at("usb.device").size(), 3U);
}

TEST(NfdSourcesTest, TheSystemIsNamedByItsRelease) {
  Machine machine;
  machine.Put("/devices/virtual/dmi/id/sys_vendor", "NVIDIA\n");
  const Found found = machine.Ask(FindSystem);
  EXPECT_THAT(found.labels, UnorderedElementsAre(
                                Pair("os_release.ID", "ubuntu"), Pair("os_release.VERSION_ID", "22.04"),
                                Pair("os_release.VERSION_ID.major", "22"), Pair("os_release.VERSION_ID.minor", "04")));
  EXPECT_THAT(found.features.attributes.at("system.osrelease"), Contains(Pair("PRETTY_NAME", "Ubuntu 22.04")));
  EXPECT_THAT(found.features.attributes.at("system.dmiid"), ElementsAre(Pair("sys_vendor", "NVIDIA")));
  EXPECT_THAT(found.features.attributes.at("system.name"), ElementsAre(Pair("nodename", "n1")));
}

TEST(NfdSourcesTest, AVersionThatIsNoPlainNumberStaysWhole) {
  struct Case {
    const char *version, *major, *minor;
  };
  for (const Case& c : {Case{"12", "12", ""},
                        {"9.6", "9", "6"},
                        {"v1.13.0", "", ""},
                        {"15-SP6", "", ""},
                        {"rolling", "", ""},
                        {"24.04.1", "24", "04"}}) {
    Machine machine;
    machine.fs.Put("/host-etc/os-release", "ID=x\nVERSION_ID=" + std::string(c.version) + "\n");
    const TextMap labels = machine.Ask(FindSystem).labels;
    const auto get = [&](const char* name) {
      const auto it = labels.find(name);
      return it == labels.end() ? std::string() : it->second;
    };
    EXPECT_EQ(get("os_release.VERSION_ID"), c.version);
    EXPECT_EQ(get("os_release.VERSION_ID.major"), c.major) << c.version;
    EXPECT_EQ(get("os_release.VERSION_ID.minor"), c.minor) << c.version;
  }
}

TEST(NfdSourcesTest, TheKernelTellsItsVersionModulesAndConfiguration) {
  Machine machine;
  machine.fs.Put("/host-boot/config-5.15.0-1053-nvidia",
                 "# CONFIG_X is not set\nCONFIG_NO_HZ=y\nCONFIG_KVM=m\nCONFIG_HZ=1000\nCONFIG_NAME=\"a b\"\n");
  machine.fs.Put("/host-lib/modules/5.15.0-1053-nvidia/modules.builtin",
                 "kernel/fs/ext4/ext4.ko\nkernel/a/vfio-pci.ko\n");
  machine.Put("/fs/selinux/enforce", "1\n");
  const Found found = machine.Ask(FindKernel);
  EXPECT_THAT(found.labels, UnorderedElementsAre(Pair("version.full", "5.15.0-1053-nvidia"), Pair("version.major", "5"),
                                                 Pair("version.minor", "15"), Pair("version.revision", "0"),
                                                 Pair("config.NO_HZ", "true"), Pair("selinux.enabled", "true")));
  EXPECT_THAT(found.features.attributes.at("kernel.config"),
              UnorderedElementsAre(Pair("NO_HZ", "y"), Pair("KVM", "m"), Pair("HZ", "1000"), Pair("NAME", "a b")));
  EXPECT_THAT(found.features.flags.at("kernel.loadedmodule"), UnorderedElementsAre("nvidia", "ib_uverbs", "rdma_ucm"));
  EXPECT_THAT(found.features.flags.at("kernel.enabledmodule"),
              UnorderedElementsAre("nvidia", "ib_uverbs", "rdma_ucm", "ext4", "vfio_pci"));
}

TEST(NfdSourcesTest, WithoutAListOfModulesSysfsNamesThem) {
  Machine machine;
  ASSERT_TRUE(machine.fs.Remove("/proc/modules"));
  EXPECT_FALSE(machine.Ask(FindKernel).features.flags.contains("kernel.loadedmodule"));
  machine.Put("/module/nvidia/initstate", "live\n");
  machine.Put("/module/nvidia_uvm/initstate", "going\n");
  machine.Put("/module/printk/parameters/time", "Y\n");
  EXPECT_THAT(machine.Ask(FindKernel).features.flags.at("kernel.loadedmodule"), UnorderedElementsAre("nvidia"));
}

TEST(NfdSourcesTest, MemoryNetworkAndStorageAreSeen) {
  Machine machine;
  for (const char* node : {"node0", "node1"}) machine.Put(std::string("/bus/node/devices/") + node + "/cpulist", "0\n");
  machine.Put("/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "512\n");
  machine.Put("/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0\n");
  machine.fs.Put("/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n");
  machine.Put("/bus/nd/devices/dax0.0/devtype", "nd_dax\n");
  const Found memory = machine.Ask(FindMemory);
  EXPECT_THAT(memory.labels, UnorderedElementsAre(Pair("numa", "true"), Pair("swap", "true"),
                                                  Pair("nv.present", "true"), Pair("nv.dax", "true")));
  EXPECT_THAT(
      memory.features.attributes.at("memory.hugepages"),
      UnorderedElementsAre(Pair("enabled", "true"), Pair("hugepages-2Mi", "1048576Ki"), Pair("hugepages-1Gi", "0")));
  EXPECT_THAT(memory.features.attributes.at("memory.numa"),
              UnorderedElementsAre(Pair("is_numa", "true"), Pair("node_count", "2")));

  machine.Put("/class/net/eth0/operstate", "up\n");
  machine.Put("/class/net/eth0/speed", "100000\n");
  machine.Put("/class/net/eth0/device/sriov_totalvfs", "8\n");
  machine.Put("/class/net/eth0/device/sriov_numvfs", "2\n");
  machine.Put("/class/net/lo/operstate", "unknown\n");
  machine.Put("/devices/virtual/net/lo/mtu", "65536\n");
  const Found network = machine.Ask(FindNetwork);
  EXPECT_THAT(network.labels, UnorderedElementsAre(Pair("sriov.capable", "true"), Pair("sriov.configured", "true")));
  EXPECT_THAT(network.features.instances.at("network.device"),
              ElementsAre(UnorderedElementsAre(Pair("name", "eth0"), Pair("operstate", "up"), Pair("speed", "100000"),
                                               Pair("sriov_totalvfs", "8"), Pair("sriov_numvfs", "2"))));
  EXPECT_EQ(network.features.instances.at("network.virtual").size(), 1U);

  machine.Put("/block/nvme0n1/queue/rotational", "0\n");
  machine.Put("/block/sda/queue/rotational", "1\n");
  const Found storage = machine.Ask(FindStorage);
  EXPECT_THAT(storage.labels, ElementsAre(Pair("nonrotationaldisk", "true")));
  EXPECT_EQ(storage.features.instances.at("storage.block").size(), 2U);
}

TEST(NfdSourcesTest, AnEmptyMachineIsNoError) {
  os::FakeFs fs;
  FakeClock clock;
  FakeLog log;
  const Host host(fs);
  NodeDiscovery discovery(host, "n1", clock, log);
  WorkerSettings settings;
  for (const Source& source : Sources())
    if (source.name != "fake") settings.feature_sources.emplace(source.name);
  settings.label_sources = settings.feature_sources;
  const NodeFacts facts = discovery.Look(settings, true);
  EXPECT_THAT(facts.labels, Contains(Key("feature.node.kubernetes.io/cpu-hardware_multithreading")));
  EXPECT_THAT(facts.labels, Not(Contains(Key("feature.node.kubernetes.io/pci-10de.present"))));
}

TEST(NfdSourcesTest, RulesThatAreBuiltInFindRdma) {
  Machine machine;
  machine.AddPci("0000:0b:00.0", "0x15b3", "0x020000");
  Features features = machine.Ask(FindPci).features;
  features.Add(machine.Ask(FindKernel).features);
  std::vector<std::string> complaints;
  EXPECT_THAT(CustomLabels(machine.settings, features, complaints),
              UnorderedElementsAre(Pair("rdma.available", "true"), Pair("rdma.capable", "true")));
}

TEST(NfdSourcesTest, ALabelOfAHigherSourceWins) {
  Machine machine;
  machine.fs.Put(std::string("/etc/kubernetes/node-feature-discovery/features.d/a"),
                 "feature.node.kubernetes.io/fake-fakefeature1=local\nplain=1\n");
  const Host host(machine.fs);
  NodeDiscovery discovery(host, "n1", machine.clock, machine.log);
  WorkerSettings settings;
  settings.feature_sources = settings.label_sources = {"fake", "local"};
  EXPECT_THAT(discovery.Look(settings, true).labels,
              UnorderedElementsAre(Pair("feature.node.kubernetes.io/fake-fakefeature1", "local"),
                                   Pair("feature.node.kubernetes.io/fake-fakefeature2", "true"),
                                   Pair("feature.node.kubernetes.io/fake-fakefeature3", "true"), Pair("plain", "1")));
  settings.label_sources = {"fake"};
  settings.label_whitelist = *data::Regex::Compile("feature3$");
  EXPECT_THAT(discovery.Look(settings, true).labels,
              ElementsAre(Pair("feature.node.kubernetes.io/fake-fakefeature3", "true")));
}

}  // namespace
}  // namespace gpuop::operands::nfd
