#pragma once
// A ready-made machine and our libnvidia-ml.so.1 on it, in this process.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "gpu/nvml.h"
#include "machine/host/machine_folder.h"
#include "machine/state/state.h"
#include "os/temp_folder.h"

namespace gpuop::machine {

class NvmlTest : public testing::Test {
 protected:
  using F = gpu::nvml::Functions;
  using Return = gpu::nvml::Return;

  /// Our libraries, without a program.
  static DriverFiles Files() {
    DriverFiles files = OwnDriverFiles();
    files.program.clear();
    return files;
  }
  /// Builds the machine; NVML's calls then reach it.
  void On(std::string_view machine) {
    auto spec = ReadSpec(*ReadyMadeMachine(machine), machine);
    ASSERT_TRUE(spec) << spec.error().text;
    auto made = MachineFolder::Create(folder_.path() + "/m", *std::move(spec), Files());
    ASSERT_TRUE(made) << made.error().text;
    machine_ = std::make_unique<MachineFolder>(*std::move(made));
    ::setenv("GPUOP_MACHINE_STATE", machine_->state_path().c_str(), 1);
    ::setenv("GPUOP_MACHINE_DEV", (machine_->root() + "/dev").c_str(), 1);
    Open();
  }
  void Open() {
    nvml_.reset();
    auto opened = gpu::Nvml::Open({OwnDriverFiles().folder + "/libnvidia-ml.so.1"});
    ASSERT_TRUE(opened) << opened.error().text;
    nvml_ = *std::move(opened);
  }
  void TearDown() override {
    nvml_.reset();
    ::unsetenv("GPUOP_MACHINE_STATE");
    ::unsetenv("GPUOP_MACHINE_DEV");
  }
  gpu::nvml::Device Device(unsigned index) {
    auto device = nvml_->Get(&F::DeviceGetHandleByIndex_v2, index);
    EXPECT_TRUE(device) << device.error().text;
    return device.value_or(nullptr);
  }
  void Break(Fault fault) {
    const auto done = machine_->Inject(fault);
    ASSERT_TRUE(done) << done.error().text;
  }
  void Mend(Fault fault) {
    const auto done = machine_->Clear(fault);
    ASSERT_TRUE(done) << done.error().text;
  }
  State& state() { return machine_->state(); }

  /// In memory where that is possible: a machine is a thousand small files.
  os::TempFolder folder_ = *os::TempFolder::Make(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "");
  std::unique_ptr<MachineFolder> machine_;
  std::unique_ptr<gpu::Nvml> nvml_;
};

}  // namespace gpuop::machine
