#include "operands/device_plugin/mps_daemons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>

#include "base/thread_executor.h"
#include "operands/device_plugin/plugin_bed_test.h"
#include "os/fake_fs.h"
#include "os/real_fs.h"
#include "os/temp_folder.h"

namespace gpuop::operands::device_plugin {
namespace {

using testing::HasSubstr;

constexpr const char* kShares = "sharing: {mps: {resources: [{name: gpu, replicas: 4}]}}";
constexpr const char* kGpu = "nvidia.com/gpu";

struct Files {
  const char* name;
  bool started, alive, held;
  const char* says;  ///< "" when the daemon runs
};

class MissingDaemonTest : public testing::TestWithParam<Files> {};

TEST_P(MissingDaemonTest, IsNamedWithTheFileThatShowsIt) {
  const Files& c = GetParam();
  os::FakeFs fs;
  ASSERT_TRUE(os::MakeFolders(fs, "/mps/nvidia.com/gpu"));
  if (c.started) fs.Put("/mps/nvidia.com/gpu/.started", "");
  const MissingDaemons missing = FindMissingDaemons(fs, {kGpu}, [&](const std::string& path) -> Result<bool> {
    EXPECT_EQ(path, "/mps/nvidia.com/gpu/.alive");
    return c.alive ? Result<bool>(c.held) : Fail(Code::kNotFound, path);
  });
  EXPECT_EQ(missing.empty(), *c.says == '\0');
  if (!missing.empty()) EXPECT_THAT(missing.at(kGpu), HasSubstr(c.says));
}

INSTANTIATE_TEST_SUITE_P(
    All, MissingDaemonTest,
    testing::Values(Files{"Never", false, false, false,
                          "nvidia.com/gpu has not started: there is no /mps/nvidia.com/gpu/.started"},
                    Files{"Starting", false, true, true, "has not started"}, Files{"OursRuns", true, true, true, ""},
                    Files{"OursWasKilled", true, true, false,
                          "nvidia.com/gpu has ended: mps-control-daemon no longer holds /mps/nvidia.com/gpu/.alive"},
                    Files{"NvidiasRuns", true, false, false, ""}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(MpsDaemonsTest, OnlyWhatIsSharedByMpsHasOne) {
  const gpu::Inventory gpus = MachineOf("a100");
  EXPECT_EQ(MpsResources(gpus, SettingsOf({"--mps-root=/run/nvidia/mps"}, kShares)), std::vector<std::string>{kGpu});
  EXPECT_TRUE(MpsResources(gpus, SettingsOf({})).empty());
  EXPECT_TRUE(
      MpsResources(gpus, SettingsOf({}, "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 4}]}}")).empty());
}

/// mps-control-daemon as far as its files go: a process that holds the lock until it is killed.
class Holder {
 public:
  explicit Holder(os::Fs& fs) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      const auto lock = fs.Lock("/mps/nvidia.com/gpu/.alive");
      const bool good = lock && fs.WriteAtomic("/mps/nvidia.com/gpu/.started", "");
      if (::write(ready[1], good ? "y" : "n", 1) == 1)
        for (;;) ::pause();
      ::_exit(1);
    }
    char answer = 0;
    EXPECT_EQ(::read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Holder() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

/// Watches below a folder of the test's, which stands for "/".
class BelowFolder final : public os::Watcher {
 public:
  explicit BelowFolder(std::string folder) : folder_(std::move(folder)) {}
  Result<std::unique_ptr<os::Watch>> Start(std::vector<std::string> paths, Callback callback) override {
    for (std::string& path : paths) path.insert(0, folder_);
    return inotify_.Start(std::move(paths), std::move(callback));
  }
  Result<std::unique_ptr<os::Watch>> StartNames(std::vector<std::string> paths, Callback callback) override {
    return Start(std::move(paths), std::move(callback));
  }

 private:
  const std::string folder_;
  os::InotifyWatcher inotify_;
};

TEST(MpsWatchTest, ADaemonThatIsKilledAndOneThatReturnsAreToldWithoutAnybodyAsking) {
  const auto folder = os::TempFolder::Make().value();
  const auto fs = os::RealFs::Open(folder.path()).value();
  ASSERT_TRUE(os::MakeFolders(*fs, "/mps/nvidia.com/gpu"));
  BelowFolder watcher(folder.path());
  std::mutex mu;
  std::condition_variable news;
  std::optional<MissingDaemons> last;
  ThreadExecutor executor(1);
  MpsWatch watch(
      executor, watcher, *fs,
      [&](MissingDaemons missing) {
        const std::lock_guard lock(mu);
        last = std::move(missing);
        news.notify_all();
      },
      [&](const std::string& path) { return os::IsLocked(folder.path() + path); });
  const auto until = [&](const std::string& what) {
    std::unique_lock lock(mu);
    return news.wait_for(lock, std::chrono::seconds(60), [&] {
      if (!last) return false;
      return last->empty() ? what.empty() : !what.empty() && last->at(kGpu).contains(what);
    });
  };
  ASSERT_TRUE(watch.Follow({kGpu}));
  EXPECT_TRUE(until("has not started"));
  for (int i = 0; i < 3; ++i) {
    {
      const Holder daemon(*fs);
      EXPECT_TRUE(until(""));
    }
    EXPECT_TRUE(until("has ended"));
  }
  ASSERT_TRUE(os::RemoveTree(*fs, "/mps/nvidia.com"));
  EXPECT_TRUE(until("has not started"));
  ASSERT_TRUE(watch.Follow({}));
  EXPECT_TRUE(until("")) << "nothing is shared any more";
}

TEST(PluginMpsTest, SharesAreUnfitWhileTheirDaemonIsMissing) {
  Bed bed(1, {"--mps-root=/run/nvidia/mps"}, kShares);
  bed.watches = true;
  bed.Start();
  bed.Run(10s);  // from now on the driver tells by itself
  EXPECT_EQ(bed.Look(), "gpu=32/32");
  const unsigned asked = bed.driver.asked;
  bed.plugin->OnDaemons({{kGpu, "the MPS daemon of nvidia.com/gpu has ended"}});
  bed.Run(1ms);
  EXPECT_EQ(bed.Look(), "gpu=0/32");
  EXPECT_EQ(bed.report.resources.at(kGpu).unhealthy, 32U);
  EXPECT_EQ(bed.report.fit, 8U) << "the GPUs have nothing";
  EXPECT_THAT(bed.log.Lines(), testing::Contains(HasSubstr("the MPS daemon of nvidia.com/gpu has ended")));
  bed.Run(10min);
  EXPECT_EQ(bed.driver.asked, asked) << "the driver has nothing to do with it";
  bed.Hear(79, 2);
  bed.plugin->OnDaemons({});
  bed.Run(1ms);
  EXPECT_EQ(bed.Look(), "gpu=28/32") << "what else is wrong counts still";
}

TEST(PluginMpsTest, GpusThatAreNotSharedDoNotCare) {
  Bed bed(1, {"--mps-root=/run/nvidia/mps"},
          "sharing: {mps: {resources: [{name: gpu, replicas: 4, devices: 2, rename: gpu.shared}]}}");
  bed.Start();
  EXPECT_EQ(bed.Look(), "gpu=6/6 gpu.shared=8/8");
  bed.plugin->OnDaemons({{"nvidia.com/gpu.shared", "it has ended"}});
  bed.Run(1ms);
  EXPECT_EQ(bed.Look(), "gpu=6/6 gpu.shared=0/8");
}

TEST(PluginMpsTest, ADaemonThatComesLateIsNotWaitedForLongerThanItTakes) {
  Bed bed(1, {"--mps-root=/run/nvidia/mps"}, kShares);
  bed.prepare_fails = Error{Code::kUnavailable, "the MPS daemon of nvidia.com/gpu has not started"};
  bed.Start();
  bed.plugin->OnDaemons({{kGpu, "the MPS daemon of nvidia.com/gpu has not started"}});
  bed.Run(6s);
  EXPECT_EQ(bed.Look(), "");
  bed.prepare_fails.reset();
  bed.plugin->OnDaemons({});
  bed.Run(10ms);
  EXPECT_EQ(bed.Look(), "gpu=32/32");
}

}  // namespace
}  // namespace gpuop::operands::device_plugin
