// What the driver says, and how it is asked.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/nvml_fake.h"
#include "operands/host/machine_files_test.h"
#include "operands/validator/driver_check.h"
#include "operands/validator/probe.h"

namespace gpuop::operands::validator {
namespace {

using testing::HasSubstr;
using enum api::ReasonCode;

std::string Names(const std::vector<api::Finding>& findings) {
  std::string out;
  for (const api::Finding& f : findings) out.append(out.empty() ? "" : " ").append(api::Find(f.code).name);
  return out;
}

class AskDriverTest : public testing::Test {
 protected:
  AskDriverTest() {
    for (unsigned i = 0; i < 2; ++i) {
      gpu::FakeGpu& gpu = nvml_.gpus.emplace_back();
      gpu.uuid = "GPU-0000000" + std::to_string(i);
      gpu.pci = "00000000:0" + std::to_string(i + 7) + ":00.0";
      gpu.minor = i;
    }
  }
  DriverState Ask() {
    auto nvml = gpu::Nvml::Start(nvml_.Table());
    if (!nvml) return {.findings = {FindingOf(nvml.error())}};
    auto state = AskDriver(**nvml);
    return state ? *std::move(state) : DriverState{.findings = {FindingOf(state.error())}};
  }
  gpu::FakeNvml nvml_;
};

TEST_F(AskDriverTest, AHealthyMachineHasNoFindings) {
  const DriverState state = Ask();
  EXPECT_EQ(Names(state.findings), "");
  ASSERT_EQ(state.gpus.size(), 2U);
  EXPECT_EQ(state.gpus[1].pci, "0000:08:00.0");
  EXPECT_EQ(state.driver_version, "550.163.01");
}

TEST_F(AskDriverTest, ALostGpuIsNamedAndTheOthersAreRead) {
  nvml_.lost["GPU-00000001"] = true;
  const DriverState state = Ask();
  EXPECT_EQ(Names(state.findings), "GPULost");
  EXPECT_THAT(state.findings[0].evidence, HasSubstr("GPU 1"));
  EXPECT_TRUE(state.gpus[0].unreadable.empty());
}

TEST_F(AskDriverTest, AFabricThatIsNotReadyIsTheHostDriversFault) {
  nvml_.gpus[0].fabric.state = 2;
  EXPECT_EQ(Names(Ask().findings), "FabricNotReady");
}

TEST_F(AskDriverTest, ALinkThatItsEqualHasUpIsDown) {
  nvml_.gpus[0].links = {"switch", "switch"};
  nvml_.gpus[1].links = {"switch", ""};
  const DriverState state = Ask();
  EXPECT_EQ(Names(state.findings), "NVLinkDown");
  EXPECT_THAT(state.findings[0].evidence, HasSubstr("1 of 2 NVLinks are up"));
}

TEST_F(AskDriverTest, WhatInitSaysIsNamed) {
  nvml_.fail["nvmlInit_v2"] = gpu::nvml::Return::kLibRmVersionMismatch;
  EXPECT_EQ(Names(Ask().findings), "DriverVersionMismatch");
  nvml_.fail["nvmlInit_v2"] = gpu::nvml::Return::kDriverNotLoaded;
  EXPECT_EQ(Names(Ask().findings), "DriverNotLoaded");
  nvml_.fail["nvmlInit_v2"] = gpu::nvml::Return::kUnknown;
  EXPECT_EQ(Names(Ask().findings), "DriverFailed");
}

TEST(ProbeTest, TheChildsAnswerComesBackWhole) {
  const DriverState state{.driver_version = "1.2",
                          .gpus = {{.index = 1, .uuid = "GPU-x", .pci = "0000:07:00.0", .product = "A", .mig = true}},
                          .findings = {{kGpuLost, "GPU 1: \"lost\""}}};
  const auto back = ReadDriverState(WriteDriverState(state));
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(back->gpus, state.gpus);
  EXPECT_EQ(back->findings, state.findings);
  EXPECT_FALSE(ReadDriverState(R"({"findings":[{"reason":"Other"}]})"));
}

TEST(ProbeTest, AChildThatHangsDiesOrTalksNonsenseIsAFinding) {
  const std::pair<Result<os::Exit>, const char*> cases[] = {
      {Fail(Code::kTimeout, "x: not done"), "DriverHung"},
      {os::Exit{.status = -1, .signal = 11}, "DriverFailed"},
      {os::Exit{.out = "no JSON"}, "DriverFailed"},
      {os::Exit{.out = R"({"driverVersion":"1"})"}, ""},
  };
  for (const auto& [exit, want] : cases) {
    os::FakeProcesses processes;
    processes.Install("/proc/self/exe", [&](const os::Command&) { return exit; });
    EXPECT_EQ(Names(AskDriverInChild(processes, {"/lib.so"}, std::chrono::seconds(60), {}).findings), want);
  }
}

TEST(DriverCheckTest, ADriverThatCannotAnswerIsNotAskedAndOneThatCanIs) {
  os::FakeFs fs;
  host::PutMachine(fs, 2);
  int asked = 0;
  const auto ask = [&] {
    ++asked;
    return DriverState{.driver_version = "550.163.01", .gpus = {{}}};
  };
  EXPECT_EQ(Names(CheckDriver(fs, fs, ask).findings), "GPUMissing");  // two on the bus, one answered
  EXPECT_EQ(asked, 1);
  host::UnloadDriver(fs);
  EXPECT_EQ(CheckDriver(fs, fs, ask).Broken()->code, kDriverNotLoaded);
  EXPECT_EQ(asked, 1);
}

TEST(DriverCheckTest, OneFaultIsToldOnce) {
  os::FakeFs fs;
  host::PutMachine(fs, 2);
  fs.Put("/sys/bus/pci/devices/0000:07:00.0/config", "\xff\xff\xff\xff");
  const DriverReport report = CheckDriver(fs, fs, [] {
    return DriverState{.driver_version = "1", .gpus = {{}, {}}, .findings = {{kDriverFailed, "UNKNOWN"}}};
  });
  EXPECT_EQ(Names(report.findings), "GPUOffBus");
}

}  // namespace
}  // namespace gpuop::operands::validator
