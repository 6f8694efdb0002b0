#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "operands/launch/environment.h"
#include "operands/launch/files.h"
#include "operands/launch/options.h"
#include "operands/launch/probe.h"
#include "os/fake_fs.h"
#include "os/real_fs.h"
#include "os/temp_folder.h"

namespace gpuop::operands::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

Result<Options> Parse(std::vector<std::string> words) { return ParseOptions(words); }

TEST(LaunchOptionsTest, ReadsWhatManifestsSay) {
  auto wait = Parse({"wait", "--install=/run/gpu-operator", "/v/toolkit-ready"});
  ASSERT_TRUE(wait) << wait.error().text;
  EXPECT_THAT(wait->install, ElementsAre("/run/gpu-operator"));
  EXPECT_THAT(wait->waits, ElementsAre("/v/toolkit-ready"));

  auto exec = Parse({"exec", "--wait=/v/driver-ready", "--env-file=/v/driver-ready", "--env=A=IS_HOST_DRIVER",
                     "--if-module=gdrdrv:GDRCOPY_ENABLED=true", "--", "nvidia-device-plugin", "--wait=x"});
  ASSERT_TRUE(exec) << exec.error().text;
  EXPECT_THAT(exec->program, ElementsAre("nvidia-device-plugin", "--wait=x"));
  EXPECT_THAT(exec->copies, ElementsAre(Pair("A", "IS_HOST_DRIVER")));
  ASSERT_EQ(exec->module_variables.size(), 1U);
  EXPECT_EQ(exec->module_variables[0].module, "gdrdrv");
  EXPECT_EQ(exec->module_variables[0].value, "true");

  auto either = Parse({"wait", "--any", "--if=/v/workload-type:vm-vgpu", "/v/a", "/v/b"});
  ASSERT_TRUE(either);
  EXPECT_TRUE(either->any);
  EXPECT_EQ(either->if_word, "vm-vgpu");
}

struct BadLine {
  std::vector<std::string> words;
  const char* says;
};

TEST(LaunchOptionsTest, SaysWhatIsWrong) {
  for (const BadLine& bad :
       {BadLine{{}, "what to do is missing"}, BadLine{{"run"}, "argument run: expected install"},
        BadLine{{"wait"}, "the file to wait for is missing"},
        BadLine{{"wait", "--alle", "/x"}, "argument --alle: a value is expected"},
        BadLine{{"wait", "--fast=1", "/x"}, "there is no such option"},
        BadLine{{"wait", "--if=/x", "/y"}, "two parts with \":\""},
        BadLine{{"wait", "/x", "--", "ls"}, "only exec and hold take a program"},
        BadLine{{"exec", "ls"}, "a program stands after --"},
        BadLine{{"exec", "--wait=/x", "--"}, "-- and the program is missing"},
        BadLine{{"exec", "--if-module=nvidia:X", "--", "ls"}, "two parts with \"=\""},
        BadLine{{"install"}, "the folder is missing"}, BadLine{{"remove"}, "what to remove is missing"},
        BadLine{{"probe-module", "a", "b"}, "one module is expected"}}) {
    auto options = ParseOptions(bad.words);
    ASSERT_FALSE(options) << bad.says;
    EXPECT_EQ(options.error().code, Code::kInvalid);
    EXPECT_THAT(options.error().text, HasSubstr(bad.says));
  }
}

TEST(LaunchEnvironmentTest, TakesOverTheDriversVariables) {
  os::FakeFs fs;
  fs.Put("/v/driver-ready",
         "# from the validator\nIS_HOST_DRIVER=true\nNVIDIA_DRIVER_ROOT=\"/\"\n\nexport A='b c'\r\n");
  fs.Put("/sys/module/nvidia_fs/refcnt", "0\n");
  auto options = Parse({"exec", "--env-file=/v/driver-ready", "--env=SHUTDOWN=IS_HOST_DRIVER", "--env=X=ABSENT",
                        "--if-module=nvidia_fs:GDS_ENABLED=true", "--if-module=nvidia_fs:MOFED_ENABLED=true",
                        "--if-module=gdrdrv:GDRCOPY_ENABLED=true", "--", "p"});
  auto variables = Environment(*options, fs, {{"MOFED_ENABLED", "false"}, {"NVIDIA_DRIVER_ROOT", "/old"}});
  ASSERT_TRUE(variables) << variables.error().text;
  EXPECT_THAT(*variables, UnorderedElementsAre(Pair("IS_HOST_DRIVER", "true"), Pair("NVIDIA_DRIVER_ROOT", "/"),
                                               Pair("A", "b c"), Pair("SHUTDOWN", "true"), Pair("GDS_ENABLED", "true"),
                                               Pair("MOFED_ENABLED", "false")));
}

TEST(LaunchEnvironmentTest, NamesTheLineThatIsNone) {
  os::FakeFs fs;
  fs.Put("/v/driver-ready", "A=1\nrm -rf /\n");
  auto options = Parse({"exec", "--env-file=/v/driver-ready", "--", "p"});
  auto variables = Environment(*options, fs, {});
  ASSERT_FALSE(variables);
  EXPECT_EQ(variables.error().text, "/v/driver-ready: line 2: NAME=value is expected");
}

TEST(LaunchFilesTest, WaitsForAllOrAnyFileByItsEvent) {
  for (const bool any : {false, true}) {
    auto folder = os::TempFolder::Make();
    ASSERT_TRUE(folder) << folder.error().text;
    auto fs = os::RealFs::Open("/");
    ASSERT_TRUE(fs);
    os::InotifyWatcher watcher;
    std::stop_source stop;
    const std::string a = folder->path() + "/a", b = folder->path() + "/b";
    Result<> waited;
    bool both = false;
    std::jthread waiter([&] {
      waited = WaitFor({a, b}, any, **fs, watcher, stop.get_token());
      both = os::Exists(**fs, a).value() && os::Exists(**fs, b).value();
    });
    ASSERT_TRUE((*fs)->WriteAtomic(b, ""));
    if (!any) ASSERT_TRUE((*fs)->WriteAtomic(a, ""));
    waiter.join();
    EXPECT_TRUE(waited);
    EXPECT_EQ(both, !any);
  }
}

TEST(LaunchFilesTest, AWaitEndsWhenItIsAskedTo) {
  os::FakeFs fs;
  os::FakeWatcher watcher;
  std::stop_source stop;
  stop.request_stop();
  const Result<> waited = WaitFor({"/v/a"}, false, fs, watcher, stop.get_token());
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, Code::kCancelled);
}

TEST(LaunchFilesTest, RemovesByPatternAndLeavesTheRest) {
  os::FakeFs fs;
  for (const char* name : {"driver-ready", "cuda-ready", ".driver-ctr-ready", "workload-type"})
    fs.Put(std::string("/v/") + name, "");
  EXPECT_TRUE(RemoveAll({"/v/*-ready", "/absent/*", "/v/gone"}, fs));
  EXPECT_THAT(fs.List("/v").value(), UnorderedElementsAre(".driver-ctr-ready", "workload-type"));
  EXPECT_TRUE(RemoveAll({"/v/.driver-ctr-ready"}, fs));
  EXPECT_THAT(fs.List("/v").value(), ElementsAre("workload-type"));
}

TEST(LaunchFilesTest, InstallsItselfExecutable) {
  os::FakeFs fs;
  fs.Put("/usr/bin/gpu-operator-launch", "ELF");
  ASSERT_TRUE(fs.MakeFolder("/run"));
  ASSERT_TRUE(Install("/usr/bin/gpu-operator-launch", "/run", fs));
  EXPECT_EQ(fs.Snapshot().at("/run/gpu-operator-launch"), "0555 0:0 ELF");
}

class ProbeDriverTest : public ::testing::Test {
 protected:
  ProbeDriverTest() {
    fs.Put("/sys/module/nvidia/refcnt", "1\n");
    processes.Install("nvidia-smi", [this](const os::Command&) { return os::Exit{.status = smi}; });
  }
  std::string Probe() {
    const Result<> done = ProbeDriver({{"GDS_ENABLED", "true"}}, fs, processes, {});
    return done ? "ready" : done.error().text;
  }
  os::FakeFs fs;
  os::FakeProcesses processes;
  int smi = 0;
};

TEST_F(ProbeDriverTest, TellsTheValidatorWhichModulesAreWanted) {
  fs.Put("/run/nvidia/validations/.driver-daemons-status", "Ready\n");
  EXPECT_EQ(Probe(), "ready");
  EXPECT_EQ(fs.Read("/run/nvidia/validations/.driver-ctr-ready").value(),
            "GDRCOPY_ENABLED: false\nGDS_ENABLED: true\nGPU_DIRECT_RDMA_ENABLED: false\n");
}

TEST_F(ProbeDriverTest, SaysWhatIsMissing) {
  smi = 9;
  EXPECT_THAT(Probe(), HasSubstr("nvidia-smi: exit status 9"));
  fs.Put("/run/nvidia/validations/.driver-daemons-status", "NotReady");
  EXPECT_EQ(Probe(), "the driver's daemons are not ready: NotReady");
  ASSERT_TRUE(fs.Remove("/sys/module/nvidia/refcnt"));
  EXPECT_EQ(Probe(), "kernel module nvidia is not loaded");
  EXPECT_FALSE(fs.Stat("/run/nvidia/validations/.driver-ctr-ready"));
}

}  // namespace
}  // namespace gpuop::operands::launch
