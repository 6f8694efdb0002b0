// Computing on a device, and what its errors mean.

#include "operands/validator/compute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "gpu/cuda/fake.h"

namespace gpuop::operands::validator {
namespace {

using enum api::ReasonCode;

class ComputeTest : public testing::Test {
 protected:
  ComputeResult Run(bool busy = false) {
    const auto driver = gpu::cuda::Driver::Start(cuda_.Table());
    if (!driver) return {.finding = {ReasonOfCuda(driver.error()), driver.error().text}};
    return Compute(**driver, [&](const std::string&) { return busy; }, [&](const std::string&) { ++told_; });
  }
  gpu::cuda::FakeDriver cuda_;
  int told_ = 0;
};

TEST_F(ComputeTest, EveryDeviceComputes) {
  cuda_.devices = 3;
  const ComputeResult result = Run();
  EXPECT_EQ(result.finding.code, kProved) << result.finding.evidence;
  EXPECT_EQ(result.proved, 3U);
  EXPECT_EQ(told_, 3);
  EXPECT_EQ(cuda_.held(), 0);
}

TEST_F(ComputeTest, OneTurnedBitIsAWrongResult) {
  cuda_.wrong_kernel = "gpuop_vector_add";
  EXPECT_EQ(Run().finding.code, kCudaWrongResult);
}

TEST_F(ComputeTest, ErrorsAreNamed) {
  using gpu::cuda::Status;
  const std::tuple<const char*, Status, api::ReasonCode> cases[] = {
      {"cuInit", Status::kNoDevice, kCudaNoDevice},
      {"cuInit", Status::kSystemNotReady, kFabricNotReady},
      {"cuInit", Status::kSystemDriverMismatch, kDriverVersionMismatch},
      {"cuInit", Status::kUnknown, kCudaInitFailed},
      {"cuDevicePrimaryCtxRetain", Status::kDeviceUnavailable, kGpuNeedsReset},
      {"cuModuleLoadData", Status::kUnsupportedPtxVersion, kCudaDriverTooOld},
  };
  for (const auto& [call, status, want] : cases) {
    cuda_.fail = {{call, status}};
    EXPECT_EQ(Run().finding.code, want) << call;
  }
}

TEST_F(ComputeTest, ADeviceThatAProgramHoldsForItselfIsNotBroken) {
  cuda_.fail = {{"cuDevicePrimaryCtxRetain", gpu::cuda::Status::kDeviceUnavailable}};
  const ComputeResult result = Run(true);
  EXPECT_EQ(result.finding.code, kProved);
  EXPECT_EQ(result.busy.size(), 1U);
}

TEST_F(ComputeTest, NoDeviceIsNoProof) {
  cuda_.devices = 0;
  EXPECT_EQ(Run().finding.code, kCudaNoDevice);
}

TEST(ComputeTextTest, ATerminationMessageIsReadBack) {
  const api::Finding finding{kCudaHung, "GPU \"1\""};
  EXPECT_EQ(ReadFinding(WriteFinding(finding)).value(), finding);
  EXPECT_FALSE(ReadFinding("[Vector addition of 50000 elements]"));
}

}  // namespace
}  // namespace gpuop::operands::validator
