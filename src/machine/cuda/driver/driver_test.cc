#include "machine/cuda/driver/driver.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "machine/cuda/driver/image.h"
#include "machine/state/fake_machine.h"
#include "machine/state/mig.h"

namespace gpuop::machine::cuda {
namespace {

constexpr const char* kPtx = R"(.version 8.0
.target sm_60
.address_size 64
.visible .global .align 4 .u32 total = 5;
.visible .entry add(.param .u64 p, .param .u32 n) {
.reg .b64 %rd<3>; .reg .b32 %r<5>;
ld.param.u64 %rd1, [p];
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
mul.wide.u32 %rd2, %r2, 4;
add.s64 %rd1, %rd1, %rd2;
add.u32 %r3, %r2, %r1;
st.global.u32 [%rd1], %r3;
ret; }
)";

/// A machine of two devices and a driver on it.
struct DriverTest : testing::Test {
  DriverTest() {
    auto machine = fake.state().Write();
    machine->cuda_driver = 13000;
    for (std::size_t i = 0; i < 2; ++i) {
      layout::DeviceFacts& facts = machine->devices[i].facts;
      facts.compute_major = 8;
      facts.sm_count = 4;
    }
  }
  std::unique_ptr<Driver> Open(std::optional<std::string> visible = std::nullopt) {
    std::unique_ptr<Driver> driver;
    last = Driver::Open(Found{fake.Another(), Nodes::All()}, visible, driver);
    return driver;
  }
  template <class F>
  void Change(F change) {
    auto machine = fake.state().Write();
    change(*machine);
  }

  /// Adds 10 to the thread's number in 64 threads; what the memory holds then.
  std::vector<std::uint32_t> Compute(Context& context) {
    JitLog log;
    std::shared_ptr<Module> module;
    EXPECT_EQ(Module::Load(context, kPtx, log, module), Cu::kSuccess) << log.error;
    Allocation memory;
    EXPECT_EQ(context.Allocate(Allocation::Kind::kDevice, 256, memory), Cu::kSuccess);
    std::vector<std::byte> params(12);
    const std::uint32_t n = 10;
    std::memcpy(params.data(), &memory.base, 8);
    std::memcpy(params.data() + 8, &n, 4);
    last = context.Launch(*module->Find("add"), {.block = {64, 1, 1}}, params, nullptr);
    if (last == Cu::kSuccess) last = context.Synchronize(nullptr);
    std::vector<std::uint32_t> values(64);
    std::memcpy(values.data(), memory.host, 256);
    EXPECT_EQ(context.Free(memory.base), Cu::kSuccess);
    return values;
  }

  FakeMachine fake;
  Cu last = Cu::kSuccess;
};

std::vector<std::uint32_t> Expected() {
  std::vector<std::uint32_t> values(64);
  for (std::uint32_t i = 0; i < 64; ++i) values[i] = i + 10;
  return values;
}

TEST_F(DriverTest, NothingComputesUntilTheNvSwitchesAreSetUp) {
  Change([](layout::Machine& m) { m.faults |= layout::kFaultFabric; });
  EXPECT_NE(Open(), nullptr) << "no switch, no fabric";
  Change([](layout::Machine& m) { m.devices[1].facts.nvlink_to_switch = 1; });
  EXPECT_EQ(Open(), nullptr);
  EXPECT_EQ(last, Cu::kSystemNotReady);
  EXPECT_NE(Open("0"), nullptr) << "the other one has none";
  Change([](layout::Machine& m) { m.faults = 0; });
  EXPECT_NE(Open(), nullptr);
}

TEST_F(DriverTest, RunsAKernelAndIsSeenByTheMachine) {
  auto driver = Open();
  ASSERT_NE(driver, nullptr);
  Context* context = nullptr;
  ASSERT_EQ(driver->RetainPrimary(0, context), Cu::kSuccess);
  EXPECT_EQ(Compute(*context), Expected());
  {
    const auto machine = fake.state().Read();
    EXPECT_EQ(machine->devices[0].kernels, 1U);
    EXPECT_TRUE(InUse(*machine, {.device = 0}));
    EXPECT_FALSE(InUse(*machine, {.device = 1}));
  }
  EXPECT_EQ(driver->ReleasePrimary(0), Cu::kSuccess);
  EXPECT_FALSE(InUse(*fake.state().Read(), {.device = 0}));
}

TEST_F(DriverTest, ADeviceIsBusyWhileAKernelRuns) {
  auto driver = Open();
  Context* context = nullptr;
  ASSERT_EQ(driver->CreateContext(0, 0, context), Cu::kSuccess);
  Change([](layout::Machine& machine) { machine.devices[0].faults |= layout::kFaultKernelHang; });
  JitLog log;
  std::shared_ptr<Module> module;
  ASSERT_EQ(Module::Load(*context, kPtx, log, module), Cu::kSuccess) << log.error;
  Allocation memory;
  ASSERT_EQ(context->Allocate(Allocation::Kind::kDevice, 256, memory), Cu::kSuccess);
  std::vector<std::byte> params(12);
  std::memcpy(params.data(), &memory.base, 8);
  ASSERT_EQ(context->Launch(*module->Find("add"), {.block = {64, 1, 1}}, params, nullptr), Cu::kSuccess);
  while (fake.state().Read()->devices[0].utilization_gpu != 100) std::this_thread::yield();
  Change([](layout::Machine& machine) { machine.devices[0].faults = 0; });
  EXPECT_EQ(context->Synchronize(nullptr), Cu::kSuccess);
  EXPECT_EQ(fake.state().Read()->devices[0].utilization_gpu, 0U);
}

TEST_F(DriverTest, AMigDeviceIsCalledAsNvmlCallsIt) {
  Change([](layout::Machine& machine) {
    layout::Device& gpu = machine.devices[0];
    gpu.facts.mig_model.Set("A100-40GB");
    gpu.facts.name.Set("NVIDIA A100-SXM4-40GB");
    gpu.mig_current = 1;
    const gpu::MigModel* model = MigModelOf(gpu);
    ASSERT_NE(model, nullptr);
    const gpu::MigProfile* profile = model->FindByName("3g.20gb");
    ASSERT_NE(profile, nullptr);
    FillInstance(gpu.instances[1], *profile, {0, 4});
    for (const gpu::MigComputeProfile& compute : ComputeProfilesOf(gpu, gpu.instances[1]))
      if (compute.slices == 1) FillComputeInstance(gpu.instances[1].compute[0], compute, 0);
  });
  auto driver = Open();
  ASSERT_NE(driver, nullptr);
  EXPECT_EQ(driver->devices()[0].name, "NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb");
  EXPECT_EQ(driver->devices()[0].sm_count, 14U);
}

TEST_F(DriverTest, GivesNoMoreMemoryThanTheDeviceHas) {
  auto driver = Open();
  Context *first = nullptr, *second = nullptr;
  ASSERT_EQ(driver->CreateContext(0, 0, first), Cu::kSuccess);
  ASSERT_EQ(driver->CreateContext(0, 0, second), Cu::kSuccess);
  const std::uint64_t all = first->memory().total;
  EXPECT_EQ(all, (1024ULL - 16) << 20);
  Allocation half, more;
  EXPECT_EQ(first->Allocate(Allocation::Kind::kDevice, all / 2 + 1024, half), Cu::kSuccess);
  EXPECT_EQ(second->Allocate(Allocation::Kind::kDevice, all / 2, more), Cu::kOutOfMemory);
  EXPECT_EQ(first->Free(half.base), Cu::kSuccess);
  EXPECT_EQ(second->Allocate(Allocation::Kind::kDevice, all / 2, more), Cu::kSuccess);
  EXPECT_EQ(second->memory().free, all - all / 2);
}

TEST_F(DriverTest, ShowsTheDevicesThatTheVariableNames) {
  Change([](layout::Machine& machine) {
    machine.devices[0].facts.uuid.Set("GPU-11111111-2222-3333-4444-555555555555");
    machine.devices[1].facts.uuid.Set("GPU-66666666-2222-3333-4444-555555555555");
  });
  const auto seen = [&](std::optional<std::string> visible) {
    auto driver = Open(visible);
    std::string indices;
    for (const Device& device : driver == nullptr ? std::vector<Device>{} : driver->devices())
      indices += std::to_string(device.place.device);
    return indices;
  };
  EXPECT_EQ(seen(std::nullopt), "01");
  EXPECT_EQ(seen("1,0"), "10");
  EXPECT_EQ(seen("1"), "1");
  EXPECT_EQ(seen("0,7,1"), "0");
  EXPECT_EQ(seen("GPU-666"), "1");
  EXPECT_EQ(seen("0,0"), "");
  EXPECT_EQ(seen(""), "");
  EXPECT_EQ(last, Cu::kNoDevice);
  EXPECT_EQ(seen("-1"), "");
}

TEST_F(DriverTest, TellsTheMachinesFaultsApart) {
  const auto with = [&](std::uint32_t fault) {
    Change([&](layout::Machine& machine) { machine.faults = fault; });
    Open();
    return last;
  };
  EXPECT_EQ(with(0), Cu::kSuccess);
  EXPECT_EQ(with(layout::kFaultModuleMissing), Cu::kNoDevice);
  EXPECT_EQ(with(layout::kFaultVersionMismatch), Cu::kSystemDriverMismatch);
  EXPECT_EQ(with(layout::kFaultUvmMissing), Cu::kUnknown);
}

TEST_F(DriverTest, KeepsAContextsErrorForEver) {
  auto driver = Open();
  Context* context = nullptr;
  ASSERT_EQ(driver->CreateContext(0, 0, context), Cu::kSuccess);
  JitLog log;
  std::shared_ptr<Module> module;
  ASSERT_EQ(Module::Load(*context, kPtx, log, module), Cu::kSuccess);
  const std::vector<std::byte> params(12);
  EXPECT_EQ(context->Launch(*module->Find("add"), {}, params, nullptr), Cu::kSuccess);
  EXPECT_EQ(context->Synchronize(nullptr), Cu::kIllegalAddress);
  EXPECT_EQ(context->Launch(*module->Find("add"), {}, params, nullptr), Cu::kIllegalAddress);
  EXPECT_EQ(fake.state().Read()->devices[0].last_xid, 31U);
  Context* another = nullptr;
  ASSERT_EQ(driver->CreateContext(0, 0, another), Cu::kSuccess);
  EXPECT_EQ(Compute(*another), Expected());
}

TEST_F(DriverTest, AnswersWithWhatTheDeviceSuffers) {
  auto driver = Open();
  Context *lost = nullptr, *reset = nullptr, *ecc = nullptr;
  ASSERT_EQ(driver->CreateContext(0, 0, lost), Cu::kSuccess);
  ASSERT_EQ(driver->CreateContext(1, 0, reset), Cu::kSuccess);
  EXPECT_EQ(lost->Check(), Cu::kSuccess);
  Change([](layout::Machine& machine) {
    machine.devices[0].faults = layout::kFaultOffBus;
    ++machine.devices[1].generation;
  });
  EXPECT_EQ(lost->Check(), Cu::kUnknown);
  EXPECT_EQ(reset->Check(), Cu::kDeviceUnavailable);
  EXPECT_EQ(driver->CreateContext(0, 0, ecc), Cu::kUnknown);
  ASSERT_EQ(driver->CreateContext(1, 0, ecc), Cu::kSuccess);
  Change([](layout::Machine& machine) {
    for (layout::Client& client : machine.clients)
      if (client.in_use != 0) client.dead = 214;
  });
  EXPECT_EQ(ecc->Check(), Cu::kEccUncorrectable);
}

TEST_F(DriverTest, ComputesWronglyOnABrokenDevice) {
  auto driver = Open();
  Context* context = nullptr;
  ASSERT_EQ(driver->CreateContext(0, 0, context), Cu::kSuccess);
  Change([](layout::Machine& machine) { machine.devices[0].faults = layout::kFaultWrongResult; });
  const auto values = Compute(*context);
  EXPECT_EQ(last, Cu::kSuccess);
  EXPECT_NE(values, Expected());
}

TEST_F(DriverTest, HangsUntilTheFaultGoes) {
  auto driver = Open();
  Context* context = nullptr;
  ASSERT_EQ(driver->CreateContext(0, 0, context), Cu::kSuccess);
  Change([](layout::Machine& machine) { machine.devices[0].faults = layout::kFaultKernelHang; });
  JitLog log;
  std::shared_ptr<Module> module;
  ASSERT_EQ(Module::Load(*context, kPtx, log, module), Cu::kSuccess);
  Allocation memory;
  ASSERT_EQ(context->Allocate(Allocation::Kind::kDevice, 256, memory), Cu::kSuccess);
  std::vector<std::byte> params(12);
  std::memcpy(params.data(), &memory.base, 8);
  ASSERT_EQ(context->Launch(*module->Find("add"), {}, params, nullptr), Cu::kSuccess);
  EXPECT_EQ(context->Query(nullptr), Cu::kNotReady);
  Change([](layout::Machine& machine) { machine.devices[0].faults = 0; });
  EXPECT_EQ(context->Synchronize(nullptr), Cu::kSuccess);
}

TEST_F(DriverTest, RefusesCodeThatTheDeviceCannotRun) {
  auto driver = Open();
  Context* context = nullptr;
  ASSERT_EQ(driver->CreateContext(0, 0, context), Cu::kSuccess);
  const auto load = [&](std::string text) {
    JitLog log;
    std::shared_ptr<Module> module;
    last = Module::Load(*context, text.c_str(), log, module);
    return log.error;
  };
  EXPECT_NE(load(".version 9.5\n.target sm_80\n").find("Unsupported .version 9.5; current version is '9.0'"),
            std::string::npos);
  EXPECT_EQ(last, Cu::kUnsupportedPtxVersion);
  EXPECT_NE(load(".version 8.0\n.target sm_90\n").find("SM version"), std::string::npos);
  EXPECT_EQ(last, Cu::kInvalidPtx);
  EXPECT_NE(load(".version 8.0\n.target sm_80\n.entry k() { frobnicate.b32 %r1; }").find("'frobnicate.b32'"),
            std::string::npos);
  EXPECT_EQ(last, Cu::kInvalidPtx);
  load("\x7f\x45LF");
  EXPECT_EQ(last, Cu::kNoBinaryForGpu);
  load("nothing");
  EXPECT_EQ(last, Cu::kInvalidImage);
}

TEST_F(DriverTest, AKernelThatCannotRunKeepsNoOtherKernelOfItsLibraryFromRunning) {
  auto driver = Open();
  Context* context = nullptr;
  ASSERT_EQ(driver->CreateContext(0, 0, context), Cu::kSuccess);
  Library library;
  library.text =
      ".version 8.0\n.target sm_80\n.entry odd() {\nfrobnicate.b32 %laneid;\nret;\n}\n.entry even() { ret; }\n";
  std::shared_ptr<Function> function;
  EXPECT_EQ(driver->Instantiate({&library, "odd"}, *context, function), Cu::kInvalidPtx);
  ASSERT_EQ(driver->Instantiate({&library, "even"}, *context, function), Cu::kSuccess);
  EXPECT_NE(function->program, nullptr);
  EXPECT_NE(function->module->Find("odd")->why.find("line 4"), std::string::npos) << function->module->Find("odd")->why;
  EXPECT_NE(function->module->Find("odd")->why.find("'frobnicate.b32'"), std::string::npos);
}

TEST_F(DriverTest, KnowsTheModulesVariables) {
  auto driver = Open();
  Context* context = nullptr;
  ASSERT_EQ(driver->CreateContext(0, 0, context), Cu::kSuccess);
  JitLog log;
  std::shared_ptr<Module> module;
  ASSERT_EQ(Module::Load(*context, kPtx, log, module), Cu::kSuccess);
  const Module::Global* total = module->FindGlobal("total");
  ASSERT_NE(total, nullptr);
  EXPECT_EQ(total->size, 4U);
  std::uint32_t value = 0;
  const auto allocation = driver->allocations.Find(total->address);
  ASSERT_TRUE(allocation);
  std::memcpy(&value, allocation->host + (total->address - allocation->base), 4);
  EXPECT_EQ(value, 5U);
  EXPECT_EQ(module->FindGlobal("nothing"), nullptr);
}

TEST(NewestPtx, FollowsTheDriver) {
  EXPECT_EQ(NewestPtx(12040), 84);
  EXPECT_EQ(NewestPtx(12080), 87);
  EXPECT_EQ(NewestPtx(12090), 88);
  EXPECT_EQ(NewestPtx(13000), 90);
  EXPECT_EQ(NewestPtx(13050), 95);
  EXPECT_EQ(NewestPtx(11040), 74);
}

}  // namespace
}  // namespace gpuop::machine::cuda
