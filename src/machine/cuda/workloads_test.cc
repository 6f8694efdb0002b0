// The kernels by which the gpu room proves a device, on our libcuda.so.1 as a program loads it.

#include "gpu/cuda/workloads.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "machine/host/machine_folder.h"
#include "machine/state/fake_machine.h"

namespace gpuop::machine {
namespace {

Result<> RunAll(gpu::cuda::Session& session) {
  TRY(gpu::cuda::RunVectorAdd(session, 5000));
  TRY(gpu::cuda::RunReduction(session, 5000));
  TRY(gpu::cuda::RunMatrixProduct(session, 64));
  return gpu::cuda::RunMemoryPattern(session, 1 << 16, 7);
}

/// In a process of its own: a process has one driver for all its life. Ends it with 0 when all is as it should be.
[[noreturn]] void Prove(FakeMachine& fake) {
  ::setenv("GPUOP_MACHINE_STATE", fake.path().c_str(), 1);
  ::unsetenv("GPUOP_MACHINE_DEV");
  const auto ends = [](const std::string& text, int status) {
    std::fprintf(stderr, "%s\n", text.c_str());
    std::_Exit(status);
  };
  auto driver = gpu::cuda::Driver::Open({OwnDriverFiles().folder + "/libcuda.so.1"});
  if (!driver) ends(driver.error().text, 1);
  auto session = gpu::cuda::OpenWorkloads(**driver, 0);
  if (!session) ends(session.error().text, 2);
  if (const auto done = RunAll(**session); !done) ends(done.error().text, 3);
  fake.Another()->Write()->devices[0].faults = layout::kFaultWrongResult;
  const auto broken = gpu::cuda::RunVectorAdd(**session, 5000);
  if (broken) std::_Exit(4);
  ends(broken.error().text, broken.error().code == Code::kIo ? 0 : 5);
  std::abort();
}

TEST(Workloads, ProveASimulatedDeviceAndFindABrokenOne) {
  FakeMachine fake(1);
  {
    auto machine = fake.state().Write();
    machine->cuda_driver = 12040;
    machine->devices[0].facts.compute_major = 8;
    machine->devices[0].facts.sm_count = 4;
  }
  EXPECT_EXIT(Prove(fake), testing::ExitedWithCode(0), "1 of 5000 wrong");
}

}  // namespace
}  // namespace gpuop::machine
