#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/inventory_reader.h"
#include "gpu/nvml_fake.h"
#include "os/fake_fs.h"

namespace gpuop::gpu {
namespace {

using nvml::Return;
using What = InventoryChange::What;

/// Eight A100-SXM4-40GB behind switches, as in a DGX A100.
struct Dgx {
  FakeNvml fake;
  os::FakeFs host;
  std::unique_ptr<Nvml> nvml;
  std::unique_ptr<InventoryReader> reader;

  Dgx() {
    static constexpr const char* kBuses[] = {"07", "0F", "47", "4E", "87", "90", "B7", "BD"};
    for (unsigned i = 0; i < 8; ++i) {
      FakeGpu& gpu = fake.gpus.emplace_back();
      gpu.uuid = "GPU-12345678-1234-1234-1234-12345678000" + std::to_string(i);
      gpu.pci = std::string("00000000:") + kBuses[i] + ":00.0";
      gpu.minor = i;
      gpu.mig = FindMigModel("A100-40GB");
      gpu.links.assign(12, "switch");
    }
    nvml = Nvml::Start(fake.Table()).value();
    reader = std::make_unique<InventoryReader>(*nvml, &host);
  }
  Inventory Read() { return reader->Read().value(); }
};

TEST(InventoryTest, ReadsWhatAMachineHas) {
  Dgx dgx;
  ASSERT_TRUE(os::MakeFolders(dgx.host, "/sys/bus/pci/devices/0000:0f:00.0"));
  ASSERT_TRUE(dgx.host.WriteAtomic("/sys/bus/pci/devices/0000:0f:00.0/numa_node", "3\n"));
  const Inventory inventory = dgx.Read();
  EXPECT_EQ(inventory.driver_version, "550.163.01");
  EXPECT_EQ(inventory.cuda_version, 12040);
  ASSERT_EQ(inventory.devices.size(), 8U);
  const Device& device = inventory.devices[1];
  EXPECT_EQ(device.unreadable, "");
  EXPECT_EQ(device.uuid, "GPU-12345678-1234-1234-1234-123456780001");
  EXPECT_EQ(device.product, "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(device.brand, "NVIDIA");
  EXPECT_EQ(device.family, "ampere");
  EXPECT_EQ(device.minor, 1U);
  EXPECT_EQ(device.pci.Sysfs(), "0000:0f:00.0");
  EXPECT_EQ(device.pci.Nvml(), "00000000:0F:00.0");
  EXPECT_EQ(device.pci.device_id, 0x20B0);
  EXPECT_EQ(device.numa_node, 3);
  EXPECT_EQ(inventory.devices[0].numa_node, std::nullopt);
  EXPECT_EQ(device.memory_mib, 40960U);
  EXPECT_TRUE(device.mig.capable);
  EXPECT_FALSE(device.mig.enabled);
  ASSERT_NE(device.mig_model, nullptr);
  EXPECT_EQ(device.mig_model->name, "A100-40GB");
  EXPECT_EQ(device.links.size(), 12U);
  EXPECT_EQ(inventory.Between(0, 7)->links, 12U);
  EXPECT_EQ(inventory.Between(0, 3)->path, Closeness::Path::kNode);
  EXPECT_EQ(inventory.Between(3, 0)->path, Closeness::Path::kNode);
  EXPECT_EQ(inventory.Between(0, 4)->path, Closeness::Path::kSystem);
  EXPECT_EQ(inventory.Between(0, 8), nullptr);
  EXPECT_EQ(inventory.FindDevice(device.uuid), &device);
}

TEST(InventoryTest, ReadsGpuInstancesAndWhatRunsInThem) {
  Dgx dgx;
  FakeGpu& gpu = dgx.fake.gpus[0];
  gpu.mig_enabled = gpu.mig_pending = true;
  gpu.AddInstance("1g.5gb");
  gpu.AddInstance("3g.20gb", {1, 2});
  gpu.AddInstance("2g.10gb").compute_slices.clear();
  const Inventory inventory = dgx.Read();
  const MigState& mig = inventory.devices[0].mig;
  ASSERT_EQ(mig.instances.size(), 3U);
  std::vector<std::string> got;
  for (const GpuInstance& gi : mig.instances) {
    got.push_back(std::to_string(gi.id) + " " + gi.profile + "@" + std::to_string(gi.placement.start));
    for (const ComputeInstance& ci : gi.compute_instances)
      got.push_back("  " + ci.uuid + " " + ci.profile + " " + std::to_string(ci.placement.start) + ":" +
                    std::to_string(ci.placement.size));
  }
  EXPECT_THAT(got, testing::ElementsAre("1 3g.20gb@0", "  MIG-0-1-0 1c.3g.20gb 0:1", "  MIG-0-1-1 2c.3g.20gb 1:2",
                                        "5 2g.10gb@4", "13 1g.5gb@6", "  MIG-0-13-0 1g.5gb 0:1"));
  EXPECT_EQ(mig.instances[2].compute_instances[0].memory_mib, 4864U);
  EXPECT_EQ(mig.instances[2].compute_instances[0].multiprocessors, 14U);
}

TEST(InventoryTest, MigDevicesAreSeenEvenWhereInstancesMayNotBeListed) {
  Dgx dgx;
  FakeGpu& gpu = dgx.fake.gpus[0];
  gpu.mig_enabled = gpu.mig_pending = true;
  gpu.AddInstance("3g.20gb");
  dgx.fake.fail["nvmlDeviceGetGpuInstances"] = Return::kNoPermission;
  const Inventory inventory = dgx.Read();
  const MigState& mig = inventory.devices[0].mig;
  ASSERT_EQ(mig.instances.size(), 1U);
  EXPECT_EQ(mig.instances[0].profile, "3g.20gb");
  EXPECT_EQ(mig.instances[0].compute_instances[0].uuid, "MIG-0-2-0");
}

TEST(InventoryTest, ALostGpuIsPresentWithItsReasonAndHidesNoOther) {
  Dgx dgx;
  const Inventory before = dgx.Read();
  dgx.fake.lost[dgx.fake.gpus[2].uuid] = true;
  dgx.fake.fail["nvmlDeviceGetHandleByIndex_v2@" + dgx.fake.gpus[5].uuid] = Return::kUnknown;
  const Inventory after = dgx.Read();
  ASSERT_EQ(after.devices.size(), 8U);
  EXPECT_EQ(after.devices[2].unreadable, "nvmlDeviceGetPciInfo_v3: NVML_ERROR_GPU_IS_LOST");
  EXPECT_EQ(after.devices[5].unreadable, "nvmlDeviceGetHandleByIndex_v2: NVML_ERROR_UNKNOWN");
  for (const unsigned i : {0U, 1U, 3U, 4U, 6U, 7U}) EXPECT_EQ(after.devices[i], before.devices[i]);
}

TEST(InventoryTest, OneFailingCallTellsWhichAndKeepsTheIdentity) {
  Dgx dgx;
  dgx.fake.fail["nvmlDeviceGetMemoryInfo@" + dgx.fake.gpus[1].uuid] = Return::kUnknown;
  const Inventory inventory = dgx.Read();
  EXPECT_EQ(inventory.devices[1].unreadable, "nvmlDeviceGetMemoryInfo: NVML_ERROR_UNKNOWN");
  EXPECT_EQ(inventory.devices[1].uuid, dgx.fake.gpus[1].uuid);
  EXPECT_EQ(inventory.devices[1].pci.bus, 0x0f);
}

TEST(InventoryTest, UnifiedMemoryHasNoSize) {
  FakeNvml fake;
  FakeGpu& gpu = fake.gpus.emplace_back();
  gpu.name = "NVIDIA GB10";
  gpu.compute_major = 12;
  gpu.compute_minor = 1;
  gpu.has_memory_info = false;
  auto nvml = Nvml::Start(fake.Table()).value();
  const Inventory inventory = InventoryReader(*nvml).Read().value();
  EXPECT_EQ(inventory.devices[0].unreadable, "");
  EXPECT_TRUE(inventory.devices[0].unified_memory);
  EXPECT_EQ(inventory.devices[0].memory_mib, 0U);
  EXPECT_EQ(inventory.devices[0].family, "blackwell");
  EXPECT_FALSE(inventory.devices[0].mig.capable);
}

TEST(InventoryTest, TheFabricIsNamedByItsClusterAndClique) {
  Dgx dgx;
  auto& fabric = dgx.fake.gpus[0].fabric;
  fabric.state = nvml::kGpuFabricStateCompleted;
  fabric.status = Return::kSuccess;
  fabric.clusterUuid[15] = 1;
  fabric.cliqueId = 7;
  const Inventory inventory = dgx.Read();
  EXPECT_EQ(inventory.devices[0].fabric.cluster_uuid, "00000000-0000-0000-0000-000000000001");
  EXPECT_EQ(inventory.devices[0].fabric.status, "NVML_SUCCESS");
  EXPECT_EQ(inventory.devices[0].fabric.clique_id, 7U);
  EXPECT_EQ(inventory.devices[1].fabric.state, Fabric::State::kNotSupported);
}

TEST(InventoryTest, ADriverThatDoesNotCountItsGpusIsAnError) {
  Dgx dgx;
  dgx.fake.fail["nvmlDeviceGetCount_v2"] = Return::kUnknown;
  EXPECT_EQ(dgx.reader->Read().error(), (Error{Code::kIo, "nvmlDeviceGetCount_v2: NVML_ERROR_UNKNOWN"}));
}

TEST(InventoryTest, ASecondPassAsksLess) {
  Dgx dgx;
  for (FakeGpu& gpu : dgx.fake.gpus) {
    gpu.mig_enabled = gpu.mig_pending = true;
    gpu.AddInstance("1g.5gb");
  }
  dgx.Read();
  const unsigned first = std::exchange(dgx.fake.calls, 0);
  dgx.Read();
  EXPECT_LT(dgx.fake.calls + 8 * 18, first);  // profiles and topology are known by now
}

struct DiffCase {
  const char* name;
  std::function<void(Dgx&)> change;
  std::vector<InventoryChange> want;
};

TEST(InventoryDiffTest, TellsWhatChangedDeviceByDevice) {
  const std::string uuid2 = "GPU-12345678-1234-1234-1234-123456780002";
  const std::string uuid7 = "GPU-12345678-1234-1234-1234-123456780007";
  const std::vector<DiffCase> cases = {
      {"nothing", [](Dgx&) {}, {}},
      {"driver", [](Dgx& d) { d.fake.driver_version = "580.1"; }, {{What::kDriver, ""}}},
      {"mode", [](Dgx& d) { d.fake.gpus[2].mig_pending = true; }, {{What::kMigMode, uuid2}}},
      {"mode and devices",
       [](Dgx& d) {
         d.fake.gpus[2].mig_enabled = d.fake.gpus[2].mig_pending = true;
         d.fake.gpus[2].AddInstance("1g.5gb");
       },
       {{What::kMigMode, uuid2}, {What::kMigDevices, uuid2}}},
      {"link", [](Dgx& d) { d.fake.gpus[2].links[3] = ""; }, {{What::kLinks, uuid2}}},
      {"fabric",
       [](Dgx& d) { d.fake.gpus[2].fabric.state = nvml::kGpuFabricStateInProgress; },
       {{What::kFabric, uuid2}}},
      {"lost",
       [](Dgx& d) { d.fake.fail["nvmlDeviceGetUUID@" + d.fake.gpus[2].uuid] = Return::kGpuIsLost; },
       {{What::kLost, "0000:47:00.0"}}},
      {"gone", [](Dgx& d) { d.fake.gpus.pop_back(); }, {{What::kRemoved, uuid7}}},
      {"other", [](Dgx& d) { d.fake.gpus[2].memory_mib = 9; }, {{What::kOther, uuid2}}},
  };
  for (const DiffCase& c : cases) {
    Dgx dgx;
    const Inventory before = dgx.Read();
    c.change(dgx);
    const Inventory after = dgx.Read();
    EXPECT_EQ(Diff(before, after), c.want) << c.name;
    EXPECT_EQ(Diff(after, after), std::vector<InventoryChange>()) << c.name;
  }
}

TEST(InventoryDiffTest, AGpuThatComesBackIsRecoveredAndOneThatComesAnewIsAdded) {
  Dgx dgx;
  const Inventory whole = dgx.Read();
  dgx.fake.fail["nvmlDeviceGetUUID@" + dgx.fake.gpus[2].uuid] = Return::kGpuIsLost;
  const Inventory lost = dgx.Read();
  EXPECT_EQ(Diff(lost, whole), (std::vector<InventoryChange>{{What::kRecovered, whole.devices[2].uuid}}));
  Inventory fewer = whole;
  fewer.devices.erase(fewer.devices.begin());
  EXPECT_EQ(Diff(fewer, whole), (std::vector<InventoryChange>{{What::kAdded, whole.devices[0].uuid}}));
}

TEST(InventoryTest, FamiliesFollowTheComputeCapability) {
  const std::tuple<unsigned, unsigned, const char*> cases[] = {
      {1, 0, "tesla"},      {2, 0, "fermi"},      {3, 5, "kepler"},     {5, 2, "maxwell"},    {6, 1, "pascal"},
      {7, 0, "volta"},      {7, 5, "turing"},     {8, 0, "ampere"},     {8, 6, "ampere"},     {8, 9, "ada-lovelace"},
      {9, 0, "hopper"},     {10, 0, "blackwell"}, {10, 3, "blackwell"}, {12, 1, "blackwell"}, {13, 0, "rubin"},
      {11, 0, "undefined"}, {4, 0, "undefined"},
  };
  for (const auto& [major, minor, name] : cases) EXPECT_EQ(FamilyName(major, minor), name);
}

}  // namespace
}  // namespace gpuop::gpu
