// The host's driver by its files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "operands/host/host_check.h"
#include "operands/host/host_driver.h"
#include "operands/host/kernel_module.h"
#include "operands/host/machine_files_test.h"

namespace gpuop::operands::host {
namespace {

using testing::HasSubstr;
using enum api::ReasonCode;

std::string Names(const std::vector<api::Finding>& findings) {
  std::string out;
  for (const api::Finding& f : findings) out.append(out.empty() ? "" : " ").append(api::Find(f.code).name);
  return out;
}

struct SmiCase {
  const char* name;
  std::function<void(os::FakeFs&)> make;
  const char* want;
};
class FindSmiTest : public testing::TestWithParam<SmiCase> {};

TEST_P(FindSmiTest, TakesTheFirstThatCouldRun) {
  os::FakeFs fs;
  GetParam().make(fs);
  EXPECT_EQ(FindSmi(fs).value_or("none"), GetParam().want);
}

constexpr os::FileAttributes kProgram{.mode = 0755};
INSTANTIATE_TEST_SUITE_P(
    V01, FindSmiTest,
    testing::Values(SmiCase{"Nothing", [](os::FakeFs&) {}, "none"},
                    SmiCase{"UsrBinFirst",
                            [](os::FakeFs& fs) {
                              fs.Put("/usr/bin/nvidia-smi", "x", kProgram);
                              fs.Put("/opt/bin/nvidia-smi", "x", kProgram);
                            },
                            "/usr/bin/nvidia-smi"},
                    SmiCase{"OptBinLast", [](os::FakeFs& fs) { fs.Put("/opt/bin/nvidia-smi", "x", kProgram); },
                            "/opt/bin/nvidia-smi"},
                    SmiCase{"AbsoluteLinkStaysInside",
                            [](os::FakeFs& fs) {
                              fs.Put("/opt/nvidia/bin/nvidia-smi", "x", kProgram);
                              ASSERT_TRUE(fs.MakeFolder("/usr"));
                              ASSERT_TRUE(fs.Symlink("/opt/nvidia/bin", "/usr/bin"));
                            },
                            "/usr/bin/nvidia-smi"},
                    SmiCase{"RelativeFolderLink",
                            [](os::FakeFs& fs) {
                              fs.Put("/usr/lib/bin/nvidia-smi", "x", kProgram);
                              ASSERT_TRUE(fs.Symlink("lib/bin", "/usr/bin"));
                            },
                            "/usr/bin/nvidia-smi"},
                    SmiCase{"NotExecutable", [](os::FakeFs& fs) { fs.Put("/usr/bin/nvidia-smi", "x", {.mode = 0600}); },
                            "none"},
                    SmiCase{"Empty", [](os::FakeFs& fs) { fs.Put("/usr/bin/nvidia-smi", "", kProgram); }, "none"},
                    SmiCase{"DanglingLink",
                            [](os::FakeFs& fs) {
                              fs.Put("/usr/bin/other", "x", kProgram);
                              ASSERT_TRUE(fs.Symlink("/nowhere/nvidia-smi", "/usr/bin/nvidia-smi"));
                            },
                            "none"},
                    SmiCase{"ABrokenOneDoesNotHideTheNext",
                            [](os::FakeFs& fs) {
                              fs.Put("/usr/bin/nvidia-smi", "", kProgram);
                              fs.Put("/opt/bin/nvidia-smi", "x", kProgram);
                            },
                            "/opt/bin/nvidia-smi"}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(HostDriverTest, ADgxIsNamedByItsRelease) {
  os::FakeFs fs;
  fs.Put("/etc/os-release", "NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 22.04.4 LTS\"\n");
  EXPECT_EQ(PlatformOf(fs), "Ubuntu 22.04.4 LTS");
  fs.Put("/etc/dgx-release",
         "DGX_NAME=\"DGX Server\"\nDGX_PLATFORM=\"DGX Server for DGX A100\"\nDGX_OTA_VERSION=\"6.2.1\"\n");
  EXPECT_EQ(PlatformOf(fs), "DGX Server for DGX A100, version 6.2.1");
  EXPECT_EQ(LibraryVersion("/usr/lib/libnvidia-ml.so.550.163.01"), "550.163.01");
  EXPECT_EQ(LibraryVersion("/usr/lib/libnvidia-ml.so.1"), "");
}

struct HostCase {
  const char* name;
  std::function<void(os::FakeFs&)> breaks;
  const char* want;
  const char* evidence;
};
class CheckHostTest : public testing::TestWithParam<HostCase> {};

TEST_P(CheckHostTest, NamesWhatIsBroken) {
  os::FakeFs fs;
  PutMachine(fs, 2);
  GetParam().breaks(fs);
  const HostState state = CheckHost(fs, fs);
  EXPECT_EQ(Names(state.findings), GetParam().want);
  if (!state.findings.empty()) EXPECT_THAT(state.findings.front().evidence, HasSubstr(GetParam().evidence));
}

INSTANTIATE_TEST_SUITE_P(
    All, CheckHostTest,
    testing::Values(
        HostCase{"Nothing", [](os::FakeFs&) {}, "", ""},
        HostCase{"NoCard",
                 [](os::FakeFs& fs) {
                   RemoveTree(fs, "/sys/bus");
                   UnloadDriver(fs);
                   RemoveTree(fs, "/usr/lib");
                   RemoveTree(fs, "/lib");
                 },
                 "NoGPU", "no display device of vendor 10de"},
        HostCase{"NothingInstalled",
                 [](os::FakeFs& fs) {
                   UnloadDriver(fs);
                   RemoveTree(fs, "/usr/lib");
                   RemoveTree(fs, "/lib");
                 },
                 "DriverMissing", "/sys/module/nvidia is not there"},
        HostCase{"NotLoaded", UnloadDriver, "DriverNotLoaded", "/lib/modules/5.15.0-1/updates/dkms/nvidia.ko is"},
        HostCase{"ForAnotherKernel",
                 [](os::FakeFs& fs) {
                   UnloadDriver(fs);
                   fs.Put("/lib/modules/5.15.0-1/updates/dkms/nvidia.ko",
                          std::string("ELF\0vermagic=5.4.0-9 SMP mod_unload\0", 35));
                 },
                 "DriverKernelMismatch", "was built for 5.4.0-9, the kernel is 5.15.0-1"},
        HostCase{"OnlyThereForAnotherKernel",
                 [](os::FakeFs& fs) {
                   UnloadDriver(fs);
                   fs.Put("/proc/version", "Linux version 6.8.0-2 (x) #1 SMP\n");
                 },
                 "DriverKernelMismatch", "is for another kernel than this one, 6.8.0-2"},
        HostCase{"NoLibrary", [](os::FakeFs& fs) { RemoveTree(fs, "/usr/lib"); }, "DriverLibraryMissing", "550.163.01"},
        HostCase{"TwoVersions",
                 [](os::FakeFs& fs) {
                   fs.Put("/proc/driver/nvidia/version",
                          "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.1.2  Tue\n");
                 },
                 "DriverVersionMismatch", "says 535.1.2, the library is"},
        HostCase{"NoUvm", [](os::FakeFs& fs) { ASSERT_TRUE(fs.Remove("/dev/nvidia-uvm")); }, "UVMMissing",
                 "the module nvidia_uvm is loaded"},
        HostCase{"NoControl", [](os::FakeFs& fs) { ASSERT_TRUE(fs.Remove("/dev/nvidiactl")); }, "DeviceNodeMissing",
                 "/dev/nvidiactl"},
        HostCase{"NoNode", [](os::FakeFs& fs) { ASSERT_TRUE(fs.Remove("/dev/nvidia1")); }, "DeviceNodeMissing",
                 "/dev/nvidia1 (GPU 0000:08:00.0)"},
        HostCase{"OffTheBus",
                 [](os::FakeFs& fs) { fs.Put("/sys/bus/pci/devices/0000:07:00.0/config", "\xff\xff\xff\xff\xff"); },
                 "GPUOffBus", "0000:07:00.0: its PCI configuration reads ff"},
        HostCase{"NotTaken", [](os::FakeFs& fs) { RemoveTree(fs, "/proc/driver/nvidia/gpus/0000:08:00.0"); },
                 "GPUMissing", "0000:08:00.0 is on the PCI bus"},
        HostCase{"OfAVirtualMachine",
                 [](os::FakeFs& fs) {
                   RemoveTree(fs, "/proc/driver/nvidia/gpus/0000:08:00.0");
                   ASSERT_TRUE(
                       fs.Symlink("../../../bus/pci/drivers/vfio-pci", "/sys/bus/pci/devices/0000:08:00.0/driver"));
                 },
                 "", ""}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(CheckHostTest, AModuleIsKnownByItsWholeName) {
  os::FakeFs fs;
  fs.Put("/proc/modules", "nvidia_fs_extra 1 0 - Live 0x0\n");
  EXPECT_FALSE(ModuleLoaded(fs, "nvidia_fs"));
  fs.Put("/proc/modules", "nvidia_fs 1 0 - Live 0x0\n");
  EXPECT_TRUE(ModuleLoaded(fs, "nvidia_fs"));
}

TEST(KernelModuleTest, AKeyCutInTwoByTheReadsIsFound) {
  os::FakeFs fs;
  for (const std::size_t at : {0UL, (1UL << 20U) - 5, (1UL << 20U) - 12, (2UL << 20U) - 1, (1UL << 20U) + 7}) {
    fs.Put("/lib/modules/6.1/extra/nvidia.ko",
           std::string(at, 'x') + "vermagic=5.5.5 SMP" + std::string(3U << 19U, 'y'));
    EXPECT_THAT(FindModule(fs, fs, "6.1").mismatch, HasSubstr("built for 5.5.5,")) << at;
  }
}

}  // namespace
}  // namespace gpuop::operands::host
