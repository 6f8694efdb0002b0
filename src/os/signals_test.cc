#include "os/signals.h"

#include <latch>

namespace gpuop::os {
namespace {

TEST(StopSignals, ASignalBecomesAStopRequest) {
  for (int signal : {SIGTERM, SIGINT}) {
    auto signals = StopSignals::Catch();
    ASSERT_TRUE(signals);
    const std::stop_token token = (*signals)->token();
    EXPECT_FALSE(token.stop_requested());
    std::latch asked(1);
    const std::stop_callback callback(token, [&] { asked.count_down(); });
    ::kill(::getpid(), signal);
    asked.wait();
  }
}

TEST(StopSignals, TheMaskIsAsBeforeAfterwards) {
  ASSERT_TRUE(StopSignals::Catch());
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  EXPECT_FALSE(sigismember(&now, SIGTERM));
}

TEST(StopSignalsDeathTest, ASecondSignalEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        auto signals = StopSignals::Catch();
        std::latch asked(1);
        const std::stop_callback callback((*signals)->token(), [&] { asked.count_down(); });
        ::kill(::getpid(), SIGINT);
        asked.wait();
        ::kill(::getpid(), SIGINT);
        for (;;) ::pause();
      },
      testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace gpuop::os
