#include "gpu/nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/driver_root.h"
#include "gpu/nvml_fake.h"
#include "os/real_fs.h"
#include "os/temp_folder.h"

namespace gpuop::gpu {
namespace {

using F = nvml::Functions;
using nvml::Return;

TEST(NvmlTest, WithoutALibraryThereIsNoDriver) {
  auto nvml = Nvml::Open({"/nowhere/libnvidia-ml.so.1", "/nor/here/libnvidia-ml.so.1"});
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().code, Code::kNotFound);
  EXPECT_THAT(nvml.error().text, testing::HasSubstr("/nowhere/libnvidia-ml.so.1"));
  EXPECT_EQ(Nvml::Open({}).error().code, Code::kNotFound);
}

TEST(NvmlTest, AStartThatFailsSaysNvmlsOwnName) {
  FakeNvml fake;
  fake.fail["nvmlInit_v2"] = Return::kDriverNotLoaded;
  auto nvml = Nvml::Start(fake.Table());
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error(), (Error{Code::kUnavailable, "nvmlInit_v2: NVML_ERROR_DRIVER_NOT_LOADED"}));
}

TEST(NvmlTest, ALibraryWithoutNvmlIsRefused) {
  auto nvml = Nvml::Start({});
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error(), (Error{Code::kUnsupported, "nvmlInit_v2: NVML_ERROR_FUNCTION_NOT_FOUND"}));
}

TEST(NvmlTest, OldLibrariesAreUsedByTheirOldNames) {
  FakeNvml fake;
  fake.gpus.emplace_back();
  nvml::Functions old = fake.Table();
  old.Init = old.Init_v2;
  old.DeviceGetCount = old.DeviceGetCount_v2;
  old.DeviceGetHandleByIndex = old.DeviceGetHandleByIndex_v2;
  old.DeviceGetPciInfo = old.DeviceGetPciInfo_v3;
  old.Init_v2 = nullptr;
  old.DeviceGetCount_v2 = nullptr;
  old.DeviceGetHandleByIndex_v2 = nullptr;
  old.DeviceGetPciInfo_v3 = nullptr;
  old.DeviceGetMigMode = nullptr;
  auto nvml = Nvml::Start(old);
  ASSERT_TRUE(nvml) << nvml.error().text;
  auto devices = (*nvml)->Devices();
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 1U);
  auto pci = (*nvml)->Get(&F::DeviceGetPciInfo_v3, devices->front().device);
  ASSERT_TRUE(pci);
  EXPECT_STREQ(pci->busId, "00000000:07:00.0");
  unsigned current = 0, pending = 0;
  EXPECT_EQ((*nvml)->Try(&F::DeviceGetMigMode, devices->front().device, &current, &pending), Return::kFunctionNotFound);
}

TEST(NvmlTest, ADeviceWithoutAHandleIsListedWithItsReason) {
  FakeNvml fake;
  fake.gpus.resize(2);
  fake.gpus[1].uuid = "GPU-1";
  fake.fail["nvmlDeviceGetHandleByIndex_v2@GPU-1"] = Return::kGpuIsLost;
  auto nvml = Nvml::Start(fake.Table()).value();
  auto devices = nvml->Devices();
  ASSERT_TRUE(devices);
  EXPECT_FALSE((*devices)[0].error);
  EXPECT_EQ((*devices)[1].error, (Error{Code::kGone, "nvmlDeviceGetHandleByIndex_v2: NVML_ERROR_GPU_IS_LOST"}));
}

TEST(NvmlTest, CodesAreForDecisions) {
  const std::pair<Return, Code> cases[] = {
      {Return::kNotSupported, Code::kUnsupported},
      {Return::kFunctionNotFound, Code::kUnsupported},
      {Return::kNotFound, Code::kNotFound},
      {Return::kNoPermission, Code::kForbidden},
      {Return::kInvalidArgument, Code::kInvalid},
      {Return::kInUse, Code::kConflict},
      {Return::kGpuIsLost, Code::kGone},
      {Return::kInsufficientResources, Code::kTooLarge},
      {Return::kTimeout, Code::kTimeout},
      {Return::kDriverNotLoaded, Code::kUnavailable},
      {Return::kLibRmVersionMismatch, Code::kUnavailable},
      {Return::kUnknown, Code::kIo},
      {static_cast<Return>(4711), Code::kIo},
  };
  for (const auto& [answer, code] : cases) EXPECT_EQ(CodeOf(answer), code) << nvml::ReturnName(answer);
}

template <class Info>
Return TwoProcesses(nvml::Device, unsigned* count, Info* out) {
  const unsigned room = *count;
  *count = 2;
  if (room < 2) return Return::kInsufficientSize;
  for (unsigned i = 0; i < 2; ++i) {
    out[i] = {};
    out[i].pid = 100 + i;
    out[i].usedGpuMemory = 4096 * (i + 1ULL);
    if constexpr (requires { out[i].gpuInstanceId; }) out[i].gpuInstanceId = 3 + i;
  }
  return Return::kSuccess;
}

TEST(NvmlTest, ProcessesAreListedWhicheverFormTheDriverHas) {
  FakeNvml fake;
  fake.gpus.emplace_back();
  for (int form = 1; form <= 3; ++form) {
    nvml::Functions table = fake.Table();
    if (form == 1) table.DeviceGetComputeRunningProcesses = &TwoProcesses<nvml::ProcessInfoV1>;
    if (form == 2) table.DeviceGetComputeRunningProcesses_v2 = &TwoProcesses<nvml::ProcessInfoV2>;
    if (form == 3) table.DeviceGetComputeRunningProcesses_v3 = &TwoProcesses<nvml::ProcessInfo>;
    auto nvml = Nvml::Start(table).value();
    const nvml::Device device = nvml->Devices().value().front().device;
    auto processes = nvml->Processes(device, Nvml::ProcessKind::kCompute);
    ASSERT_TRUE(processes) << processes.error().text;
    ASSERT_EQ(processes->size(), 2U);
    EXPECT_EQ((*processes)[1].pid, 101U);
    EXPECT_EQ((*processes)[1].usedGpuMemory, 8192U);
    EXPECT_EQ((*processes)[1].gpuInstanceId, form == 1 ? nvml::kGpuInstanceIdAny : 4U);
    EXPECT_EQ(nvml->Processes(device, Nvml::ProcessKind::kGraphics).error().code, Code::kUnsupported);
  }
}

TEST(DriverRootTest, LinksOfADriverRootDoNotLeadOutOfIt) {
  auto folder = os::TempFolder::Make().value();
  auto fs = os::RealFs::Open(folder.path()).value();
  ASSERT_TRUE(os::MakeFolders(*fs, "/usr/lib/x86_64-linux-gnu"));
  ASSERT_TRUE(fs->WriteAtomic("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.1", "x"));
  ASSERT_TRUE(
      fs->Symlink("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.1", "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"));
  EXPECT_THAT(DriverLibraryCandidates(folder.path(), "libnvidia-ml.so.1"),
              testing::ElementsAre(folder.path() + "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.1"));
  EXPECT_TRUE(DriverLibraryCandidates(folder.path() + "/none", "libnvidia-ml.so.1").empty());
}

TEST(DriverRootTest, TheLoadersOwnSearchComesFirstOnAHost) {
  const auto candidates = DriverLibraryCandidates("", "libnvidia-ml.so.1");
  ASSERT_FALSE(candidates.empty());
  EXPECT_EQ(candidates.front(), "libnvidia-ml.so.1");
  EXPECT_EQ(candidates, DriverLibraryCandidates("/", "libnvidia-ml.so.1"));
}

}  // namespace
}  // namespace gpuop::gpu
