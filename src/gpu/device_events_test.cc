#include "gpu/device_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>

#include "base/mutex.h"
#include "base/thread_executor.h"
#include "gpu/nvml_fake.h"

namespace gpuop::gpu {
namespace {

using Kind = DeviceEvent::Kind;
using nvml::Return;

/// Events as they come, and a way to wait for the next.
class Heard {
 public:
  DeviceEvents::OnEvent Listener() {
    return [this](const DeviceEvent& event) {
      Lock l(mu_);
      events_.push_back(event);
      more_.notify_all();
    };
  }
  std::vector<DeviceEvent> Wait(std::size_t count) {
    Lock l(mu_);
    more_.wait_for(mu_, std::chrono::seconds(20), [&]() REQUIRES(mu_) { return events_.size() >= count; });
    return events_;
  }

 private:
  Mutex mu_;
  std::condition_variable_any more_;
  std::vector<DeviceEvent> events_ GUARDED_BY(mu_);
};

struct Machine {
  FakeNvml fake;
  std::unique_ptr<Nvml> nvml;
  Heard heard;
  ThreadExecutor executor{1};

  Machine() {
    fake.gpus.resize(2);
    fake.gpus[0].uuid = "GPU-0";
    fake.gpus[1].uuid = "GPU-1";
    nvml = Nvml::Start(fake.Table()).value();
  }
  Result<std::unique_ptr<DeviceEvents>> Start() {
    return DeviceEvents::Start(*nvml, executor, heard.Listener(), std::chrono::milliseconds(50));
  }
};

TEST(DeviceEventsTest, AnEventNamesItsDeviceAndWhatHappened) {
  Machine machine;
  auto events = machine.Start().value();
  EXPECT_TRUE(events->unwatched().empty());
  machine.fake.Raise(1, nvml::kEventTypeXidCriticalError, 79);
  machine.fake.Raise(0, nvml::kEventTypeXidCriticalError, 43, 3, 0);
  machine.fake.Raise(0, nvml::kEventMigConfigChange);
  const auto heard = machine.heard.Wait(3);
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_EQ(
      heard[0],
      (DeviceEvent{
          .kind = Kind::kXid, .uuid = "GPU-1", .data = 79, .gpu_instance = {}, .compute_instance = {}, .text = {}}));
  EXPECT_EQ(
      heard[1],
      (DeviceEvent{
          .kind = Kind::kXid, .uuid = "GPU-0", .data = 43, .gpu_instance = 3, .compute_instance = 0, .text = {}}));
  EXPECT_EQ(heard[2].kind, Kind::kMigConfig);
}

TEST(DeviceEventsTest, AGpuThatCannotBeWatchedIsNamedWithItsReason) {
  Machine machine;
  machine.fake.fail["nvmlDeviceRegisterEvents@GPU-0"] = Return::kNotSupported;
  auto events = machine.Start().value();
  ASSERT_EQ(events->unwatched().size(), 1U);
  EXPECT_EQ(events->unwatched()[0].uuid, "GPU-0");
  EXPECT_EQ(events->unwatched()[0].reason, "nvmlDeviceRegisterEvents: NVML_ERROR_NOT_SUPPORTED");
  machine.fake.Raise(1, nvml::kEventTypeXidCriticalError, 31);
  EXPECT_EQ(machine.heard.Wait(1).front().uuid, "GPU-1");
}

TEST(DeviceEventsTest, ALostGpuIsToldOnceAndTheWaitGoesOn) {
  Machine machine;
  machine.fake.fail["nvmlEventSetWait_v2"] = Return::kGpuIsLost;
  auto events = machine.Start().value();
  const auto heard = machine.heard.Wait(1);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0].kind, Kind::kLost);
  EXPECT_EQ(heard[0].text, "nvmlEventSetWait_v2: NVML_ERROR_GPU_IS_LOST");
}

TEST(DeviceEventsTest, AChangeOfMigOfWhichNvmlTellsNothingIsSeen) {
  Machine machine;
  FakeGpu& gpu = machine.fake.gpus[1];
  gpu.mig = FindMigModel("A100-40GB");
  ASSERT_NE(gpu.mig, nullptr);
  // Each happens between two waits, on the thread that waits; the next only when the one before was told of.
  std::atomic<std::size_t> step = 0;
  const std::vector<std::function<void()>> steps = {[&] { gpu.mig_enabled = true; }, [&] { gpu.AddInstance("1g.5gb"); },
                                                    [&] { gpu.instances.clear(); },  // a reset
                                                    [&] { gpu.mig_enabled = false; }};
  const auto events = DeviceEvents::Start(
      *machine.nvml, machine.executor, machine.heard.Listener(), std::chrono::milliseconds(1),
      [&, done = std::size_t{0}](const Result<>&) mutable {
        if (done < steps.size() && done == step) steps[done++]();
      },
      std::chrono::milliseconds(5));
  for (std::size_t i = 1; i <= steps.size(); ++i, ++step) {
    const auto heard = machine.heard.Wait(2 * i);  // and once more, a look later
    ASSERT_EQ(heard.size(), 2 * i);
    EXPECT_EQ(heard.back().kind, Kind::kMigConfig);
    EXPECT_EQ(heard.back().uuid, "GPU-1");
  }
}

TEST(DeviceEventsTest, WithoutEventsThereIsAnErrorAndNoThread) {
  Machine machine;
  machine.fake.fail["nvmlEventSetCreate"] = Return::kNotSupported;
  EXPECT_EQ(machine.Start().error().code, Code::kUnsupported);
}

}  // namespace
}  // namespace gpuop::gpu
