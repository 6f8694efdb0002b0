#include <algorithm>
#include <map>

#include "base/rng.h"
#include "gpu/mig_geometry.h"
#include "machine/nvml/nvml_fixture_test.h"
#include "machine/state/clients.h"
#include "machine/state/fake_machine.h"

namespace gpuop::machine {
namespace {

using gpu::nvml::GpuInstance;
using gpu::nvml::GpuInstancePlacement;

/// What a brute-force search knows of one profile: only what NVML itself says of it.
struct Known {
  unsigned id = 0, slices = 0, most = 0;
  std::vector<GpuInstancePlacement> placements;
  gpu::nvml::GpuInstanceProfileInfo info{};
};
struct Held {
  const Known* profile;
  GpuInstancePlacement at;
  unsigned id;
};

class MigTest : public NvmlTest {
 protected:
  /// Every profile of the device.
  std::vector<Known> Profiles(gpu::nvml::Device device) {
    std::vector<Known> out;
    for (unsigned p = 0; p < gpu::nvml::kGpuInstanceProfileCount; ++p) {
      Known known;
      if (nvml_->Try(&F::DeviceGetGpuInstanceProfileInfo, device, p, &known.info) != Return::kSuccess) continue;
      known.id = known.info.id;
      known.slices = known.info.sliceCount;
      known.most = known.info.instanceCount;
      unsigned count = 0;
      EXPECT_EQ(nvml_->Try(&F::DeviceGetGpuInstancePossiblePlacements_v2, device, known.id,
                           static_cast<GpuInstancePlacement*>(nullptr), &count),
                Return::kSuccess);
      known.placements.resize(count);
      EXPECT_EQ(
          nvml_->Try(&F::DeviceGetGpuInstancePossiblePlacements_v2, device, known.id, known.placements.data(), &count),
          Return::kSuccess);
      out.push_back(known);
    }
    return out;
  }

  /// Whether one more fits at `at`, tried against every rule by hand.
  static bool Fits(const std::vector<Held>& held, const Known& profile, GpuInstancePlacement at,
                   const gpu::MigModel& model) {
    unsigned slices = profile.slices, same = 1;
    gpu::MigEngines engines{profile.info.copyEngineCount, profile.info.decoderCount, profile.info.encoderCount,
                            profile.info.jpegCount, profile.info.ofaCount};
    for (const Held& other : held) {
      if (at.start < other.at.start + other.at.size && other.at.start < at.start + at.size) return false;
      slices += other.profile->slices;
      same += other.profile->id == profile.id;
      const auto& info = other.profile->info;
      engines.copy += info.copyEngineCount, engines.decoder += info.decoderCount;
      engines.encoder += info.encoderCount, engines.jpeg += info.jpegCount, engines.ofa += info.ofaCount;
    }
    const gpu::MigEngines& all = model.engines;
    return slices <= model.compute_slices && same <= profile.most && engines.copy <= all.copy &&
           engines.decoder <= all.decoder && engines.encoder <= all.encoder && engines.jpeg <= all.jpeg &&
           engines.ofa <= all.ofa;
  }
  static bool FitsAnywhere(const std::vector<Held>& held, const Known& profile, const gpu::MigModel& model) {
    return std::ranges::any_of(profile.placements, [&](const auto& at) { return Fits(held, profile, at, model); });
  }

  /// Makes one, where NVML wants or at a random place, and holds the answer to the brute force.
  void Create(gpu::nvml::Device device, const std::vector<Known>& profiles, std::vector<Held>& held,
              const gpu::MigModel& model, Rng& rng) {
    const Known& profile = profiles[rng.Below(profiles.size())];
    const bool placed = rng.Below(2) == 0;
    const GpuInstancePlacement at = profile.placements[rng.Below(profile.placements.size())];
    GpuInstance made = nullptr;
    const Return answer = placed ? nvml_->Try(&F::DeviceCreateGpuInstanceWithPlacement, device, profile.id, &at, &made)
                                 : nvml_->Try(&F::DeviceCreateGpuInstance, device, profile.id, &made);
    const bool fits = placed ? Fits(held, profile, at, model) : FitsAnywhere(held, profile, model);
    ASSERT_EQ(answer, fits ? Return::kSuccess : Return::kInsufficientResources)
        << model.name << " profile " << profile.id << (placed ? " at " : " not at ") << at.start;
    if (!fits) return;
    const auto info = nvml_->Get(&F::GpuInstanceGetInfo, made);
    ASSERT_TRUE(info) << info.error().text;
    EXPECT_EQ(info->profileId, profile.id);
    if (placed) EXPECT_EQ(info->placement.start, at.start);
    EXPECT_TRUE(Fits(held, profile, info->placement, model));
    for (const Held& other : held) EXPECT_NE(other.id, info->id);
    held.push_back({&profile, info->placement, info->id});
  }

  void Destroy(gpu::nvml::Device device, std::vector<Held>& held, Rng& rng) {
    if (held.empty()) return;
    const auto at = held.begin() + static_cast<std::ptrdiff_t>(rng.Below(held.size()));
    const auto instance = nvml_->Get(&F::DeviceGetGpuInstanceById, device, at->id);
    ASSERT_TRUE(instance) << instance.error().text;
    EXPECT_EQ(nvml_->Try(&F::GpuInstanceDestroy, *instance), Return::kSuccess);
    EXPECT_EQ(nvml_->Try(&F::GpuInstanceDestroy, *instance), Return::kInvalidArgument);
    held.erase(at);
  }
};

TEST_F(MigTest, RandomCreateAndDestroyAgreeWithBruteForceOnEveryModel) {
  FakeMachine fake(1);
  ::setenv("GPUOP_MACHINE_STATE", fake.path().c_str(), 1);
  for (const gpu::MigModel& model : gpu::MigModels()) {
    SCOPED_TRACE(model.name);
    {
      auto machine = fake.state().Write();
      machine->devices[0].facts.mig_model.Set(model.name);
      machine->devices[0].mig_current = machine->devices[0].mig_pending = 1;
      machine->devices[0].instances = {};
    }
    Open();
    const auto device = Device(0);
    const auto profiles = Profiles(device);
    ASSERT_FALSE(profiles.empty());
    Rng rng(7);
    std::vector<Held> held;
    for (int step = 0; step < 300 && !HasFailure(); ++step) {
      if (rng.Below(3) < 2)
        Create(device, profiles, held, model, rng);
      else
        Destroy(device, held, rng);
      const Known& any = profiles[rng.Below(profiles.size())];
      const auto left = nvml_->Get(&F::DeviceGetGpuInstanceRemainingCapacity, device, any.id);
      ASSERT_TRUE(left) << left.error().text;
      EXPECT_EQ(*left > 0, FitsAnywhere(held, any, model));
    }
  }
}

TEST_F(MigTest, AnIdleGpuChangesItsModeAtOnce) {
  On("dgx-a100");
  const auto device = Device(2);
  Return activation{};
  ASSERT_EQ(nvml_->Try(&F::DeviceSetMigMode, device, 1U, &activation), Return::kSuccess);
  EXPECT_EQ(activation, Return::kSuccess);
  unsigned current = 0, pending = 0;
  ASSERT_EQ(nvml_->Try(&F::DeviceGetMigMode, device, &current, &pending), Return::kSuccess);
  EXPECT_EQ(current, 1U);
  EXPECT_EQ(pending, 1U);
}

TEST_F(MigTest, AGpuInUseKeepsItsModeUntilItIsReset) {
  On("dgx-a100");
  const auto device = Device(0);
  unsigned current = 0, pending = 0;
  {
    auto client = Client::Attach(state(), {.device = 0});
    ASSERT_TRUE(client);
    Return activation{};
    ASSERT_EQ(nvml_->Try(&F::DeviceSetMigMode, device, 1U, &activation), Return::kSuccess);
    EXPECT_EQ(activation, Return::kInUse);
    EXPECT_EQ(machine_->ResetGpu(0).error().code, Code::kConflict);
  }
  ASSERT_EQ(nvml_->Try(&F::DeviceGetMigMode, device, &current, &pending), Return::kSuccess);
  EXPECT_EQ(current, 0U);
  EXPECT_EQ(pending, 1U);
  GpuInstance made = nullptr;
  EXPECT_EQ(nvml_->Try(&F::DeviceCreateGpuInstance, device, 9U, &made), Return::kNotSupported);
  ASSERT_TRUE(machine_->ResetGpu(0));
  ASSERT_EQ(nvml_->Try(&F::DeviceGetMigMode, device, &current, &pending), Return::kSuccess);
  EXPECT_EQ(current, 1U);
}

TEST_F(MigTest, AUsedInstanceIsNotDestroyed) {
  On("mixed");
  const auto devices = nvml_->MigDevices(Device(0));
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 4U);
  const auto gi = nvml_->Get(&F::DeviceGetGpuInstanceId, devices->front());
  const auto ci = nvml_->Get(&F::DeviceGetComputeInstanceId, devices->front());
  ASSERT_TRUE(gi && ci);
  const auto instance = nvml_->Get(&F::DeviceGetGpuInstanceById, Device(0), *gi);
  ASSERT_TRUE(instance);
  const auto compute = nvml_->Get(&F::GpuInstanceGetComputeInstanceById, *instance, *ci);
  ASSERT_TRUE(compute);
  EXPECT_EQ(nvml_->Try(&F::GpuInstanceDestroy, *instance), Return::kInUse);  // it holds a compute instance
  {
    auto client = Client::Attach(state(), {0, *gi, *ci});
    ASSERT_TRUE(client);
    EXPECT_EQ(nvml_->Try(&F::ComputeInstanceDestroy, *compute), Return::kInUse);
  }
  EXPECT_EQ(nvml_->Try(&F::ComputeInstanceDestroy, *compute), Return::kSuccess);
  EXPECT_EQ(nvml_->Try(&F::GpuInstanceDestroy, *instance), Return::kSuccess);
  unsigned id = 0;
  EXPECT_EQ(nvml_->Try(&F::DeviceGetGpuInstanceId, devices->front(), &id), Return::kInvalidArgument);
}

TEST_F(MigTest, AMigDeviceHasItsOwnNameMemoryAndUuid) {
  On("mixed");
  const auto device = Device(0);
  const auto devices = nvml_->MigDevices(device);
  ASSERT_TRUE(devices && !devices->empty());
  std::map<std::string, unsigned long long> memory;
  for (const auto one : *devices) {
    memory[*nvml_->GetText(&F::DeviceGetName, one)] = nvml_->Get(&F::DeviceGetMemoryInfo, one)->total >> 20;
    const auto uuid = nvml_->GetText(&F::DeviceGetUUID, one);
    ASSERT_TRUE(uuid);
    EXPECT_TRUE(uuid->starts_with("MIG-"));
    const auto same = nvml_->Get(&F::DeviceGetHandleByUUID, uuid->c_str());
    ASSERT_TRUE(same);
    EXPECT_EQ(*same, one);
    EXPECT_EQ(*nvml_->Get(&F::DeviceGetDeviceHandleFromMigDeviceHandle, one), device);
    unsigned celsius = 0;
    EXPECT_EQ(nvml_->Try(&F::DeviceGetTemperature, one, gpu::nvml::TemperatureSensors::kGpu, &celsius),
              Return::kNotSupported);
  }
  EXPECT_EQ(memory, (std::map<std::string, unsigned long long>{{"NVIDIA A100-PCIE-40GB MIG 1g.5gb", 4864},
                                                               {"NVIDIA A100-PCIE-40GB MIG 2g.10gb", 9856},
                                                               {"NVIDIA A100-PCIE-40GB MIG 3g.20gb", 19968}}));
}

TEST_F(MigTest, ARebootKeepsTheModeOfAmpereAlone) {
  for (const auto& [machine, kept] : {std::pair("dgx-a100", 1U), {"dgx-h100", 0U}}) {
    SCOPED_TRACE(machine);
    os::TempFolder fresh = *os::TempFolder::Make();
    auto made = MachineFolder::Create(fresh.path() + "/m", *ReadSpec(*ReadyMadeMachine(machine), machine), Files());
    ASSERT_TRUE(made);
    ::setenv("GPUOP_MACHINE_STATE", made->state_path().c_str(), 1);
    Open();
    Return activation{};
    ASSERT_EQ(nvml_->Try(&F::DeviceSetMigMode, Device(1), 1U, &activation), Return::kSuccess);
    ASSERT_TRUE(nvml_->Get(&F::DeviceCreateGpuInstance, Device(1), 9U));
    ASSERT_TRUE(made->Inject({.fault = "reboot"}));
    unsigned current = 9, pending = 9;
    ASSERT_EQ(nvml_->Try(&F::DeviceGetMigMode, Device(1), &current, &pending), Return::kSuccess);
    EXPECT_EQ(current, kept);
    EXPECT_EQ(made->state().Read()->devices[1].instances[1].in_use, 0);
    EXPECT_EQ(made->state().Read()->boots, 2U);
  }
}

}  // namespace
}  // namespace gpuop::machine
