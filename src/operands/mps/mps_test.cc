#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <future>

#include "base/text.h"
#include "operands/mps/options.h"
#include "operands/mps/plan.h"
#include "operands/mps/supervisor.h"
#include "os/fake_fs.h"
#include "os/real_fs.h"
#include "os/temp_folder.h"

namespace gpuop::operands::mps {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr const char* kProgram = "nvidia-cuda-mps-control";

gpu::Inventory Gpus(unsigned count, unsigned major = 8, std::uint64_t memory_mib = 40960) {
  gpu::Inventory out;
  for (unsigned i = 0; i < count; ++i) {
    gpu::Device& device = out.devices.emplace_back();
    device.index = i;
    device.uuid = "GPU-00000000-0000-0000-0000-00000000000" + std::to_string(i);
    device.compute_major = major;
    device.memory_mib = memory_mib;
  }
  return out;
}

PluginSettings Settings(const std::string& mps) {
  auto settings = ParsePluginSettings("version: v1\nsharing: {mps: " + mps + "}", "config.yaml");
  EXPECT_TRUE(settings) << settings.error().text;
  return settings.value_or(PluginSettings());
}

PluginSettings Replicas(int replicas) {
  return Settings("{resources: [{name: nvidia.com/gpu, replicas: " + std::to_string(replicas) + "}]}");
}

TEST(MpsPlanTest, EachClientHasItsShareOfMemoryAndThreads) {
  const auto plans = PlanDaemons(Gpus(2), Replicas(3), "none", "/mps").value();
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].resource, "nvidia.com/gpu");
  EXPECT_EQ(plans[0].pipe_folder, "/mps/nvidia.com/gpu/pipe");
  EXPECT_EQ(plans[0].log_folder, "/mps/nvidia.com/gpu/log");
  EXPECT_EQ(plans[0].Commands(),
            "set_default_device_pinned_mem_limit 0 13653M\n"
            "set_default_device_pinned_mem_limit 1 13653M\n"
            "set_default_active_thread_percentage 33\n");
  EXPECT_THAT(plans[0].Variables(), ElementsAre(Pair("CUDA_MPS_LOG_DIRECTORY", "/mps/nvidia.com/gpu/log"),
                                                Pair("CUDA_MPS_PIPE_DIRECTORY", "/mps/nvidia.com/gpu/pipe")));
}

TEST(MpsPlanTest, ARenamedResourceHasFoldersOfItsName) {
  const auto settings = Settings("{renameByDefault: true, resources: [{name: gpu, replicas: 2}]}");
  EXPECT_EQ(PlanDaemons(Gpus(1), settings, "", "/mps").value().at(0).pipe_folder, "/mps/nvidia.com/gpu.shared/pipe");
  // Where the device plugin looks: a name of its own counts first, for it as for the daemon.
  const auto named = Settings("{renameByDefault: true, resources: [{name: gpu, rename: slice, replicas: 2}]}");
  EXPECT_EQ(PlanDaemons(Gpus(1), named, "", "/mps").value().at(0).pipe_folder, "/mps/nvidia.com/slice/pipe");
}

TEST(MpsPlanTest, UnifiedMemoryHasNoLimit) {
  EXPECT_EQ(PlanDaemons(Gpus(1, 12, 0), Replicas(4), "", "/mps").value().at(0).Commands(),
            "set_default_active_thread_percentage 25\n");
}

TEST(MpsPlanTest, DevicesCanBeChosen) {
  const auto gpus = [](const std::string& devices) {
    std::string out;
    const auto settings = Settings("{resources: [{name: gpu, replicas: 2, devices: " + devices + "}]}");
    for (const DaemonPlan& plan : PlanDaemons(Gpus(4), settings, "", "/mps").value())
      for (const SharedGpu& gpu : plan.gpus) out += std::to_string(gpu.index);
    return out;
  };
  EXPECT_EQ(gpus("all"), "0123");
  EXPECT_EQ(gpus("2"), "01");
  EXPECT_EQ(gpus("[1, \"3\"]"), "13");
  EXPECT_EQ(gpus("[GPU-00000000-0000-0000-0000-000000000002]"), "2");
  EXPECT_EQ(gpus("[9]"), "");
}

TEST(MpsPlanTest, LostGpusAreLeftOut) {
  gpu::Inventory inventory = Gpus(2);
  inventory.devices[0].unreadable = "NVML_ERROR_GPU_IS_LOST";
  EXPECT_EQ(PlanDaemons(inventory, Replicas(2), "", "/mps").value().at(0).gpus.size(), 1U);
}

struct Refusal {
  const char* name;
  unsigned major;
  const char* mps;
  const char* strategy;
  bool mig;
  const char* says;  ///< "" when it is no refusal
};

class MpsRefusalTest : public testing::TestWithParam<Refusal> {};

TEST_P(MpsRefusalTest, WhatMpsCannotServeIsNamed) {
  const Refusal& c = GetParam();
  gpu::Inventory inventory = Gpus(1, c.major);
  inventory.devices[0].mig.enabled = c.mig;
  const auto plans = PlanDaemons(inventory, Settings(c.mps), c.strategy, "/mps");
  EXPECT_EQ(plans.has_value(), *c.says == '\0');
  if (plans) return;
  EXPECT_EQ(plans.error().code, Code::kInvalid);
  EXPECT_THAT(plans.error().text, HasSubstr(c.says));
}

INSTANTIATE_TEST_SUITE_P(
    All, MpsRefusalTest,
    testing::Values(
        Refusal{"MostOnHopper", 9, "{resources: [{name: gpu, replicas: 48}]}", "", false, ""},
        Refusal{"TooManyOnHopper", 9, "{resources: [{name: gpu, replicas: 49}]}", "", false,
                "49 replicas of nvidia.com/gpu are more than the 48 clients that MPS serves on GPU 0"},
        Refusal{"MostOnVolta", 7, "{resources: [{name: gpu, replicas: 48}]}", "", false, ""},
        Refusal{"MostOnPascal", 6, "{resources: [{name: gpu, replicas: 16}]}", "", false, ""},
        Refusal{"TooManyOnPascal", 6, "{resources: [{name: gpu, replicas: 17}]}", "", false, "the 16 clients"},
        Refusal{"Mixed", 8, "{resources: [{name: gpu, replicas: 2}]}", "mixed", false, "MIG strategy mixed"},
        Refusal{"MigInUse", 8, "{resources: [{name: gpu, replicas: 2}]}", "single", true, "GPU 0 is in MIG mode"},
        Refusal{"MigResource", 8, "{resources: [{name: mig-1g.5gb, replicas: 2}]}", "", false,
                "\"nvidia.com/mig-1g.5gb\": MPS shares nvidia.com/gpu alone"}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(MpsPlanTest, SharedMemoryIsHalfOfTheNodes) {
  EXPECT_EQ(ShmOptions("MemTotal:       16384 kB\nMemFree: 1 kB\n"), "size=8192k");
  EXPECT_EQ(ShmOptions("MemFree: 1 kB\nMemTotal: 263921108 kB\n"), "size=131960554k");
  for (const char* odd : {"", "MemTotal:", "MemTotal: x kB", "MemTotal: 16384", "MemTotal: -4 kB", "MemTotal: 1 kB"})
    EXPECT_EQ(ShmOptions(odd), "size=65536k") << odd;
}

TEST(MpsOptionsTest, AreNvidias) {
  const auto read = [](const std::vector<std::string>& arguments, const std::map<std::string, std::string>& env) {
    return ReadOptions(arguments, [&](const char* name) {
      const auto it = env.find(name);
      return it == env.end() ? nullptr : it->second.c_str();
    });
  };
  const Options plain = read({}, {{"CONFIG_FILE", "/config/config.yaml"}, {"MIG_STRATEGY", "single"}}).value();
  EXPECT_EQ(plain.config_file, "/config/config.yaml");
  EXPECT_EQ(plain.mig_strategy, "single");
  EXPECT_FALSE(plain.mount_shm);
  EXPECT_TRUE(read({"mount-shm"}, {}).value().mount_shm);
  EXPECT_THAT(read({"mount"}, {}).error().text, HasSubstr("unexpected argument \"mount\""));
  EXPECT_THAT(read({"--mig-strategy=half"}, {}).error().text, HasSubstr("\"half\" is not none, single or mixed"));
  EXPECT_THAT(read({"--socket=x"}, {}).error().text, HasSubstr("unknown flag \"--socket\""));
}

/// A supervisor over daemons that are functions.
struct MpsSupervisorTest : testing::Test {
  MpsSupervisorTest() {
    EXPECT_TRUE(fs.MakeFolder("/mps"));
    processes.Install(kProgram, [this](const os::Command& command) -> Result<os::Exit> {
      const bool start = command.argv.size() > 1;
      if (start ? no_start : no_answer) return os::Exit{.status = 1, .err = "cannot\n"};
      told += start ? "start\n" : command.input;
      // NVIDIA's waits until the last client has ended.
      if (command.input == "quit\n" && clients) return Fail(Code::kTimeout, "not within 10s");
      return os::Exit{.out = command.input.contains("get_default") ? answer : ""};
    });
    supervisor = std::make_unique<Supervisor>(
        Supervisor::Parts{.daemon = {.fs = fs,
                                     .processes = processes,
                                     .modes = modes,
                                     .log = log,
                                     .program = kProgram,
                                     .environment = {{"PATH", "/usr/bin"}},
                                     .ended = [this] { ++ends; }},
                          .settings = [this] { return settings; },
                          .inventory = [this]() -> Result<gpu::Inventory> { return inventory; },
                          .root = "/mps",
                          .metrics = &metrics},
        "");
  }
  bool Has(const std::string& path) { return os::Exists(fs, path).value(); }

  os::FakeFs fs;
  os::FakeProcesses processes;
  FakeComputeModes modes;
  FakeLog log;
  MetricRegistry metrics;
  Result<PluginSettings> settings = Replicas(4);
  gpu::Inventory inventory = Gpus(2);
  bool no_start = false, no_answer = false, clients = false;
  std::string told, answer = "25.0\n";
  int ends = 0;
  std::unique_ptr<Supervisor> supervisor;
};

TEST_F(MpsSupervisorTest, StartsADaemonAsNvidiasProgramDoes) {
  ASSERT_TRUE(supervisor->Turn({}));
  EXPECT_EQ(told,
            "start\n"
            "set_default_device_pinned_mem_limit 0 10240M\n"
            "set_default_device_pinned_mem_limit 1 10240M\n"
            "set_default_active_thread_percentage 25\n"
            "get_default_active_thread_percentage\n");
  for (const char* path :
       {"/mps/.ready", "/mps/nvidia.com/gpu/.started", "/mps/nvidia.com/gpu/pipe", "/mps/nvidia.com/gpu/log"})
    EXPECT_TRUE(Has(path)) << path;
  for (const auto& [uuid, exclusive] : modes.exclusive) EXPECT_TRUE(exclusive) << uuid;
  const os::Command first = processes.Runs().at(0);
  EXPECT_THAT(first.argv, ElementsAre(kProgram, "-d"));
  EXPECT_TRUE(first.leaves_daemon);
  EXPECT_EQ(first.env->at("CUDA_MPS_PIPE_DIRECTORY"), "/mps/nvidia.com/gpu/pipe");
  EXPECT_EQ(first.env->at("PATH"), "/usr/bin");
  EXPECT_THAT(metrics.Text(), HasSubstr("gpu_operator_mps_daemons_running 1"));
}

TEST_F(MpsSupervisorTest, ThePluginSeesByALockThatItLives) {
  constexpr const char* kAlive = "/mps/nvidia.com/gpu/.alive";
  fs.Put("/mps/nvidia.com/gpu/.started", "");  // left by one that was killed
  no_start = true;
  ASSERT_FALSE(supervisor->Turn({}));
  EXPECT_FALSE(Has("/mps/nvidia.com/gpu/.started"));
  no_start = false;
  ASSERT_TRUE(supervisor->Turn({}));
  EXPECT_EQ(fs.Lock(kAlive).error().code, Code::kConflict);
  supervisor->StopAll();
  EXPECT_FALSE(Has(kAlive));
  ASSERT_TRUE(supervisor->Turn({})) << "the lock was let go of";
}

TEST_F(MpsSupervisorTest, WhatIsAsItShouldBeRunsOn) {
  ASSERT_TRUE(supervisor->Turn({}));
  const std::size_t runs = processes.Runs().size();
  ASSERT_TRUE(supervisor->Turn({}));
  EXPECT_EQ(processes.Runs().size(), runs);
  EXPECT_TRUE(Has("/mps/.ready"));
}

TEST_F(MpsSupervisorTest, OtherSettingsStartItAnew) {
  ASSERT_TRUE(supervisor->Turn({}));
  told.clear();
  settings = Replicas(2);
  answer = "50.0\n50.0\n";
  ASSERT_TRUE(supervisor->Turn({}));
  EXPECT_THAT(told, testing::StartsWith("quit\nstart\n"));
  EXPECT_THAT(told, HasSubstr("set_default_active_thread_percentage 50"));
  EXPECT_TRUE(Has("/mps/.ready"));
}

TEST_F(MpsSupervisorTest, ClientsAreLeftInPeaceAndTheNextDaemonWaitsForTheirEnd) {
  ASSERT_TRUE(supervisor->Turn({}));
  told.clear();
  settings = Replicas(2);
  clients = true;
  const auto waits = supervisor->Turn({});
  EXPECT_EQ(waits.error().code, Code::kUnavailable);
  EXPECT_THAT(waits.error().text, HasSubstr("MPS daemon of nvidia.com/gpu ends with its last client"));
  EXPECT_EQ(told, "quit\n");
  EXPECT_FALSE(Has("/mps/.ready")) << "it takes no new clients";
  EXPECT_TRUE(Has("/mps/nvidia.com/gpu/pipe")) << "its clients have it open";
  EXPECT_TRUE(modes.exclusive.at(inventory.devices[0].uuid));
  clients = false;
  answer = "50.0\n";
  ASSERT_TRUE(supervisor->Turn({}));
  EXPECT_THAT(told, testing::StartsWith("quit\nquit\nstart\n"));
  EXPECT_TRUE(Has("/mps/.ready"));
  clients = true;
  supervisor->StopAll();
  EXPECT_FALSE(Has("/mps/nvidia.com/gpu")) << "the container's end is theirs as well";
  EXPECT_FALSE(modes.exclusive.at(inventory.devices[0].uuid));
}

TEST_F(MpsSupervisorTest, SharesThatTheDaemonRefusesAreNoSharing) {
  for (const char* refusal : {"Invalid command\n", "100.0\n", ""}) {
    answer = refusal;
    EXPECT_THAT(supervisor->Turn({}).error().text, HasSubstr("told to give each client 25 % of the threads"));
    EXPECT_FALSE(Has("/mps/.ready"));
    EXPECT_FALSE(Has("/mps/nvidia.com/gpu"));
  }
  answer = "the device has no such limit\n25.0\n25.0\n";
  ASSERT_TRUE(supervisor->Turn({}));
  EXPECT_THAT(log.Lines(), Contains(HasSubstr("says=\"the device has no such limit\"")));
}

TEST_F(MpsSupervisorTest, AReadyFileThatIsMissingIsWrittenAgain) {
  ASSERT_TRUE(supervisor->Turn({}));
  told.clear();
  ASSERT_TRUE(fs.Remove("/mps/.ready"));
  ASSERT_TRUE(supervisor->Turn({}));
  EXPECT_EQ(told, "") << "the daemon runs on";
  EXPECT_TRUE(Has("/mps/.ready"));
}

TEST_F(MpsSupervisorTest, WithoutMpsAllIsGivenBack) {
  ASSERT_TRUE(supervisor->Turn({}));
  settings = PluginSettings();
  ASSERT_TRUE(supervisor->Turn({}));
  EXPECT_FALSE(Has("/mps/.ready"));
  EXPECT_FALSE(Has("/mps/nvidia.com/gpu"));
  for (const auto& [uuid, exclusive] : modes.exclusive) EXPECT_FALSE(exclusive) << uuid;
  EXPECT_THAT(metrics.Text(), HasSubstr("gpu_operator_mps_daemons_running 0"));
}

TEST_F(MpsSupervisorTest, WrongSettingsLeaveWhatRuns) {
  ASSERT_TRUE(supervisor->Turn({}));
  settings = Replicas(49);
  EXPECT_EQ(supervisor->Turn({}).error().code, Code::kInvalid);
  settings = Fail(Code::kInvalid, "config.yaml: version: unknown");
  EXPECT_EQ(supervisor->Turn({}).error().code, Code::kInvalid);
  EXPECT_TRUE(Has("/mps/.ready"));
  EXPECT_THAT(told, testing::Not(HasSubstr("quit")));
}

TEST_F(MpsSupervisorTest, ADaemonThatDoesNotStartLeavesNothing) {
  no_start = true;
  const auto turned = supervisor->Turn({});
  EXPECT_THAT(turned.error().text,
              HasSubstr("MPS daemon of nvidia.com/gpu: nvidia-cuda-mps-control -d: exit status 1: cannot"));
  EXPECT_FALSE(Has("/mps/.ready"));
  EXPECT_FALSE(Has("/mps/nvidia.com/gpu"));
  for (const auto& [uuid, exclusive] : modes.exclusive) EXPECT_FALSE(exclusive) << uuid;
  no_start = false;
  ASSERT_TRUE(supervisor->Turn({}));
  EXPECT_TRUE(Has("/mps/.ready"));
}

TEST_F(MpsSupervisorTest, AGpuThatCannotBeMadeExclusiveIsNamedAndTheOthersAreLetGo) {
  modes.fail[inventory.devices[1].uuid] = Error{Code::kForbidden, "nvmlDeviceSetComputeMode: NVML_ERROR_NO_PERMISSION"};
  EXPECT_THAT(supervisor->Turn({}).error().text, HasSubstr("NO_PERMISSION"));
  EXPECT_FALSE(modes.exclusive.at(inventory.devices[0].uuid));
  EXPECT_THAT(told, testing::Not(HasSubstr("start")));
}

TEST_F(MpsSupervisorTest, WithoutTheProgramItSaysSo) {
  os::FakeProcesses none;
  Supervisor bare({.daemon = {.fs = fs,
                              .processes = none,
                              .modes = modes,
                              .log = log,
                              .program = kProgram,
                              .environment = {},
                              .ended = [] {}},
                   .settings = [this] { return settings; },
                   .inventory = [this]() -> Result<gpu::Inventory> { return inventory; },
                   .root = "/mps"},
                  "");
  EXPECT_EQ(bare.Turn({}).error().code, Code::kNotFound);
  EXPECT_FALSE(Has("/mps/nvidia.com/gpu"));
}

TEST_F(MpsSupervisorTest, AFullDiskIsNoReadyDaemon) {
  fs.fail["/mps/nvidia.com/gpu/.started"] = Error{Code::kIo, "no space left on device"};
  EXPECT_FALSE(supervisor->Turn({}));
  fs.fail.clear();
  EXPECT_FALSE(Has("/mps/.ready"));
  EXPECT_THAT(told, testing::EndsWith("quit\n"));
}

TEST_F(MpsSupervisorTest, StopsAllAtTheEnd) {
  ASSERT_TRUE(supervisor->Turn({}));
  supervisor->StopAll();
  EXPECT_THAT(told, testing::EndsWith("quit\n"));
  EXPECT_FALSE(Has("/mps/.ready"));
  EXPECT_FALSE(Has("/mps/nvidia.com/gpu"));
}

/// A program as NVIDIA's: -d leaves a daemon that logs, and writes its number; other calls take commands.
constexpr const char* kScript = R"sh(#!/bin/sh
pid="$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid"
if [ "$1" = -d ]; then
  : > "$CUDA_MPS_LOG_DIRECTORY/control.log"
  setsid sleep 600 > /dev/null 2>&1 < /dev/null &
  echo $! > "$pid"
  exit 0
fi
while read -r line; do
  echo "$line" >> "$CUDA_MPS_LOG_DIRECTORY/control.log"
  case "$line" in
    get_default_active_thread_percentage) echo 50.0 ;;
    quit) kill "$(cat "$pid")" ;;
  esac
done
exit 0
)sh";

TEST(MpsDaemonTest, ARealProcessIsStartedHeardAndStopped) {
  const auto folder = os::TempFolder::Make().value();
  const auto fs = os::RealFs::Open("/").value();
  const std::string program = folder.path() + "/" + kProgram;
  ASSERT_TRUE(fs->WriteAtomic(program, kScript, os::FileAttributes{.mode = 0755}));
  os::RealProcesses processes;
  FakeComputeModes modes;
  FakeLog log;
  std::promise<void> ended;
  DaemonPlan plan = PlanDaemons(Gpus(1), Replicas(2), "", folder.path() + "/mps").value().at(0);
  Daemon daemon({.fs = *fs,
                 .processes = processes,
                 .modes = modes,
                 .log = log,
                 .program = program,
                 .environment = {{"PATH", "/usr/bin:/bin"}},
                 .ended = [&] { ended.set_value(); }},
                plan);
  const auto started = daemon.Start({});
  ASSERT_TRUE(started) << started.error().text;
  const pid_t pid =
      static_cast<pid_t>(ParseInt(Trim(fs->Read(plan.pipe_folder + "/nvidia-cuda-mps-control.pid").value())).value());
  EXPECT_EQ(::kill(pid, 0), 0);
  EXPECT_THAT(fs->Read(plan.log_folder + "/control.log").value(), HasSubstr("set_default_active_thread_percentage 50"));
  ASSERT_TRUE(fs->Append(plan.log_folder + "/control.log", "hello\n"));
  ::kill(pid, SIGKILL);
  EXPECT_EQ(ended.get_future().wait_for(30s), std::future_status::ready);
  EXPECT_THAT(log.Lines(), Contains(HasSubstr("MPS daemon says line=hello")));
  EXPECT_TRUE(daemon.Stop());
  EXPECT_FALSE(os::Exists(*fs, folder.path() + "/mps/nvidia.com/gpu").value());
}

TEST(MpsDaemonTest, RemovingFollowsNoLink) {
  os::FakeFs fs;
  fs.Put("/keep/file", "x");
  fs.Put("/mps/a/b", "x");
  ASSERT_TRUE(fs.Symlink("/keep", "/mps/a/link"));
  ASSERT_TRUE(os::RemoveTree(fs, "/mps"));
  ASSERT_TRUE(os::RemoveTree(fs, "/mps"));
  EXPECT_EQ(fs.Read("/keep/file").value(), "x");
  EXPECT_FALSE(os::Exists(fs, "/mps").value());
}

}  // namespace
}  // namespace gpuop::operands::mps
