// NVML as the plugin asks it, over NVML in this process.
#include "operands/device_plugin/driver.h"

#include <semaphore>
#include <thread>

#include "gpu/nvml_fake.h"
#include "os/fake_fs.h"

namespace gpuop::operands::device_plugin {
namespace {

using namespace std::chrono_literals;

struct NvmlDriverTest : testing::Test {
  NvmlDriverTest() {
    fake.gpus.resize(2);
    fake.gpus[0].uuid = "GPU-0";
    fake.gpus[1].uuid = "GPU-1";
  }

  Result<Driver::Answer> Ask(Driver::Depth depth) {
    Result<Driver::Answer> out = Fail(Code::kTimeout, "no answer");
    std::binary_semaphore done{0};
    driver.Ask(depth, [&](Result<Driver::Answer> answer) {
      out = std::move(answer);
      done.release();
    });
    EXPECT_TRUE(done.try_acquire_for(20s));
    return out;
  }

  gpu::FakeNvml fake;
  os::FakeFs host;
  ThreadExecutor executor{1};
  std::counting_semaphore<> events{0}, stirs{0}, hangs{0};
  NvmlDriver driver{{.executor = executor,
                     .open = [this] { return gpu::Nvml::Start(fake.Table()); },
                     .host = host,
                     .on_event = [this](const gpu::DeviceEvent&) { events.release(); },
                     .on_stir = [this] { stirs.release(); },
                     .on_hang = [this] { hangs.release(); }}};
};

TEST_F(NvmlDriverTest, AGlanceThatFindsNothingIsNotAnswered) {
  ASSERT_EQ(Ask(Driver::Depth::kGlance).value().inventory->devices.size(), 2U) << "the first one reads everything";
  EXPECT_EQ(Ask(Driver::Depth::kCheck).value().inventory, nullptr);
  EXPECT_FALSE(driver.FoundNothing());
  driver.Ask(Driver::Depth::kGlance, [](const auto&) { ADD_FAILURE(); });
  for (int i = 0; i < 10000 && !driver.FoundNothing(); ++i) std::this_thread::yield();
  ASSERT_NE(Ask(Driver::Depth::kWhole).value().inventory, nullptr);
}

TEST_F(NvmlDriverTest, WatchesByItselfOnceNvmlHasWaited) {
  ASSERT_TRUE(Ask(Driver::Depth::kWhole));
  EXPECT_FALSE(driver.watching()) << "not before NVML has waited once";
  fake.Raise(0, gpu::nvml::kEventTypeXidCriticalError, 43);
  events.acquire();
  for (int i = 0; i < 1'000'000 && !driver.watching(); ++i) std::this_thread::yield();
  EXPECT_TRUE(driver.watching());
  EXPECT_FALSE(hangs.try_acquire_for(2s)) << "its turns come in time";
  EXPECT_FALSE(stirs.try_acquire());
}

}  // namespace
}  // namespace gpuop::operands::device_plugin
