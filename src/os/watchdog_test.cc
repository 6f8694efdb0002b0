#include "os/watchdog.h"

#include <atomic>
#include <semaphore>

namespace gpuop::os {
namespace {

using namespace std::chrono_literals;

TEST(Watchdog, SpeaksUpOnceAfterSilence) {
  std::counting_semaphore<> silences{0};
  const auto watchdog = Watchdog::Start([&] { silences.release(); }).value();
  EXPECT_FALSE(silences.try_acquire_for(20ms)) << "nobody has touched it yet";
  const auto begin = std::chrono::steady_clock::now();
  watchdog->Touch(50ms);
  silences.acquire();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 50ms);
  EXPECT_FALSE(silences.try_acquire_for(100ms));
  watchdog->Touch(1ms);
  silences.acquire();
}

TEST(Watchdog, IsQuietWhileItIsTouchedAndWhenItRests) {
  std::atomic<int> silences = 0;
  const auto watchdog = Watchdog::Start([&] { ++silences; }).value();
  for (int i = 0; i < 1000; ++i) watchdog->Touch(1h);
  watchdog->Touch(200ms);
  watchdog->Rest();
  std::binary_semaphore never{0};
  EXPECT_FALSE(never.try_acquire_for(300ms));
  EXPECT_EQ(silences, 0);
}

TEST(Watchdog, EndsWithoutAWordThoughItIsArmed) {
  std::atomic<int> silences = 0;
  for (int i = 0; i < 50; ++i) Watchdog::Start([&] { ++silences; }).value()->Touch(1h);
  EXPECT_EQ(silences, 0);
}

}  // namespace
}  // namespace gpuop::os
