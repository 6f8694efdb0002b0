#include "os/pidfd.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/real_fs.h"

namespace gpuop::os {
namespace {

using std::chrono::milliseconds;

TEST(PidfdTest, AProcessIsSignalledAndItsEndAwaited) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (;;) ::pause();
  }
  const Fd process = OpenProcess(pid);
  ASSERT_TRUE(process.valid());
  EXPECT_FALSE(AwaitEnd(process, milliseconds(1)));
  EXPECT_TRUE(SignalProcess(process, SIGKILL));
  EXPECT_TRUE(AwaitEnd(process, milliseconds(10'000)));
  ::waitpid(pid, nullptr, 0);
  EXPECT_FALSE(SignalProcess(process, SIGKILL));
  EXPECT_EQ(errno, ESRCH);
  EXPECT_FALSE(OpenProcess(pid).valid());
  EXPECT_EQ(errno, ESRCH);
}

TEST(PidfdTest, NumbersOfAProcessAreReadPastItsName) {
  const auto fs = RealFs::Open("/").value();
  EXPECT_EQ(StatNumber(*fs, ::getpid(), 4), ::getppid());
  EXPECT_GT(StatNumber(*fs, ::getpid(), 22).value_or(0), 0);
  EXPECT_EQ(StatNumber(*fs, ::getpid(), 1000), std::nullopt);
  EXPECT_EQ(StatNumber(*fs, 0, 4), std::nullopt);
}

}  // namespace
}  // namespace gpuop::os
