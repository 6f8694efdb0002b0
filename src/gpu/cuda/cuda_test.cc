#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "gpu/cuda/driver.h"
#include "gpu/cuda/fake.h"
#include "gpu/cuda/kernels.h"
#include "gpu/cuda/reference.h"
#include "gpu/cuda/workloads.h"
#include "os/process.h"
#include "os/real_fs.h"
#include "os/temp_folder.h"

namespace gpuop::gpu::cuda {
namespace {

TEST(CudaDriverTest, WithoutALibraryThereIsNoDriver) {
  auto driver = Driver::Open({"/nowhere/libcuda.so.1"});
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, Code::kNotFound);
}

TEST(CudaDriverTest, ErrorsCarryCudasOwnNames) {
  FakeDriver fake;
  fake.devices = 0;
  EXPECT_EQ(Driver::Start(fake.Table()).error(), (Error{Code::kNotFound, "cuInit: CUDA_ERROR_NO_DEVICE"}));
  fake.devices = 1;
  fake.fail["cuDeviceGetCount"] = static_cast<Status>(12345);
  auto driver = Driver::Start(fake.Table()).value();
  EXPECT_EQ(driver->Devices().error(), (Error{Code::kIo, "cuDeviceGetCount: CUDA error 12345"}));
  EXPECT_EQ(Driver::Start({}).error(), (Error{Code::kUnsupported, "cuInit: this driver has no such function"}));
}

TEST(CudaDriverTest, DescribesItsDevices) {
  FakeDriver fake;
  fake.devices = 2;
  auto driver = Driver::Start(fake.Table()).value();
  EXPECT_EQ(driver->Version(), 12040);
  auto devices = driver->Devices();
  ASSERT_TRUE(devices) << devices.error().text;
  ASSERT_EQ(devices->size(), 2U);
  EXPECT_EQ((*devices)[1].uuid, "00000000-0000-0000-0000-0000000000a1");
  EXPECT_EQ((*devices)[1].pci, "0000:07:00.0");
  EXPECT_EQ((*devices)[1].compute_major, 8);
  EXPECT_EQ((*devices)[1].multiprocessors, 14);
  EXPECT_EQ((*devices)[1].memory_bytes, 1U << 30);
}

using Workload = std::function<Result<>(Session&)>;
const std::map<std::string, Workload>& Workloads() {
  static const std::map<std::string, Workload> workloads = {
      {"gpuop_vector_add", [](Session& s) { return RunVectorAdd(s, 1000); }},
      {"gpuop_reduce", [](Session& s) { return RunReduction(s, 1000); }},
      {"gpuop_matrix_product", [](Session& s) { return RunMatrixProduct(s, 32); }},
      {"gpuop_pattern_write", [](Session& s) { return RunMemoryPattern(s, 4096, 7); }},
  };
  return workloads;
}

TEST(CudaWorkloadTest, ARightDevicePassesAndGivesEverythingBack) {
  FakeDriver fake;
  auto driver = Driver::Start(fake.Table()).value();
  for (const auto& [kernel, run] : Workloads()) {
    auto session = OpenWorkloads(*driver, 0).value();
    auto done = run(*session);
    EXPECT_TRUE(done) << done.error().text;
    session.reset();
    EXPECT_EQ(fake.held(), 0) << kernel;
  }
}

TEST(CudaWorkloadTest, OneWrongBitIsFound) {
  FakeDriver fake;
  auto driver = Driver::Start(fake.Table()).value();
  for (const auto& [kernel, run] : Workloads()) {
    fake.wrong_kernel = kernel;
    auto session = OpenWorkloads(*driver, 0).value();
    auto done = run(*session);
    ASSERT_FALSE(done) << kernel;
    EXPECT_EQ(done.error().code, Code::kIo);
    EXPECT_THAT(done.error().text, testing::AnyOf(testing::HasSubstr("element 0 is 0x"),
                                                  "memory pattern: 1 of 1024 words wrong, the first at byte 0"));
  }
}

TEST(CudaWorkloadTest, AFailureOnTheWayNamesTheCallAndLeaksNothing) {
  FakeDriver fake;
  auto driver = Driver::Start(fake.Table()).value();
  for (const char* call : {"cuMemAlloc_v2", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuModuleGetFunction",
                           "cuLaunchKernel", "cuCtxSynchronize"}) {
    fake.fail = {{call, Status::kEccUncorrectable}};
    auto session = OpenWorkloads(*driver, 0).value();
    EXPECT_EQ(RunVectorAdd(*session, 100).error(),
              (Error{Code::kIo, std::string(call) + ": CUDA_ERROR_ECC_UNCORRECTABLE"}));
    session.reset();
    EXPECT_EQ(fake.held(), 0) << call;
  }
  fake.fail = {{"cuModuleLoadData", Status::kUnsupportedPtxVersion}};
  EXPECT_EQ(OpenWorkloads(*driver, 0).error().code, Code::kUnsupported);
  EXPECT_EQ(fake.held(), 0);
}

TEST(CudaWorkloadTest, TooMuchMemoryIsTheDriversRefusal) {
  FakeDriver fake;
  auto driver = Driver::Start(fake.Table()).value();
  auto session = OpenWorkloads(*driver, 0).value();
  EXPECT_EQ(RunMemoryPattern(*session, 2UL << 30, 0).error(),
            (Error{Code::kTooLarge, "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY"}));
  EXPECT_EQ(RunMatrixProduct(*session, 17).error().code, Code::kInvalid);
}

TEST(CudaReferenceTest, SumsAreAddedByHalves) {
  std::vector<float> in(300, 0.1F);
  const std::vector<float> sums = ReduceReference(in);
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0], 25.6F);  // by halves the sum of equal numbers is exact
  EXPECT_NE(sums[1], 44 * 0.1F * 2);
}

TEST(CudaReferenceTest, TestNumbersAreNoRoundOnes) {
  const std::vector<float> numbers = TestNumbers(1000, 1);
  EXPECT_EQ(numbers, TestNumbers(1000, 1));
  EXPECT_NE(numbers, TestNumbers(1000, 2));
  const std::vector<float> sums = VectorAddReference(numbers, TestNumbers(1000, 2));
  int rounded = 0;
  for (std::size_t i = 0; i < 1000; ++i)
    rounded += static_cast<double>(numbers[i]) + static_cast<double>(TestNumbers(1000, 2)[i]) != sums[i] ? 1 : 0;
  EXPECT_GT(rounded, 300);
}

/// Where ptxas is: GPUOP_PTXAS, or in PATH.
std::string FindPtxas() {
  if (const char* path = std::getenv("GPUOP_PTXAS")) return path;
  os::RealProcesses processes;
  return processes.Run({.argv = {"ptxas", "--version"}}, {}) ? "ptxas" : "";
}

TEST(CudaKernelsTest, PtxasAcceptsThemForEveryArchitecture) {
  const std::string ptxas = FindPtxas();
  if (ptxas.empty()) GTEST_SKIP() << "no ptxas in PATH or GPUOP_PTXAS (PyPI nvidia-cuda-nvcc-cu12 has one)";
  auto folder = os::TempFolder::Make().value();
  auto fs = os::RealFs::Open(folder.path()).value();
  ASSERT_TRUE(fs->WriteAtomic("/kernels.ptx", KernelsPtx()));
  os::RealProcesses processes;
  int known = 0;
  for (const char* arch : {"sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", "sm_70", "sm_72", "sm_75", "sm_80",
                           "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120", "sm_121"}) {
    auto exit = processes.Run({.argv = {ptxas, std::string("-arch=") + arch, folder.path() + "/kernels.ptx", "-o",
                                        folder.path() + "/kernels.cubin"}},
                              {});
    ASSERT_TRUE(exit) << exit.error().text;
    // CUDA 13's no longer knows what is older than sm_75.
    if (exit->err.contains("is not defined for option 'gpu-name'")) continue;
    ++known;
    EXPECT_TRUE(exit->ok()) << arch << ": " << exit->Describe();
  }
  EXPECT_GE(known, 9);
}

}  // namespace
}  // namespace gpuop::gpu::cuda
