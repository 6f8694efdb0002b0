#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_executor.h"
#include "base/virtual_executor.h"

namespace gpuop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(VirtualExecutor, TimeJumpsToTheNextTask) {
  VirtualExecutor exec(1);
  std::vector<std::string> seen;
  exec.PostAfter(seconds(5), [&] { seen.push_back("late " + FormatTime(exec.Wall())); });
  exec.PostAfter(seconds(1), [&] { seen.push_back("early " + FormatTime(exec.Wall())); });
  exec.RunFor(seconds(10));
  EXPECT_EQ(seen, (std::vector<std::string>{"early 2026-01-01T00:00:01Z", "late 2026-01-01T00:00:05Z"}));
  EXPECT_EQ(FormatTime(exec.Wall()), "2026-01-01T00:00:10Z");
}

TEST(VirtualExecutor, ATaskMayPostMoreAndTheLimitHolds) {
  VirtualExecutor exec(1);
  int ticks = 0;
  std::function<void()> tick = [&] {
    ++ticks;
    exec.PostAfter(seconds(1), [&] { tick(); });
  };
  exec.Post([&] { tick(); });
  EXPECT_FALSE(exec.RunUntil([&] { return ticks == 100; }, seconds(10)));
  EXPECT_EQ(ticks, 11);
  EXPECT_TRUE(exec.RunUntil([&] { return ticks == 100; }, seconds(1000)));
}

std::string OrderWithSeed(std::uint64_t seed) {
  VirtualExecutor exec(seed);
  std::string order;
  for (char c = 'a'; c <= 'h'; ++c) exec.Post([&order, c] { order += c; });
  exec.RunFor(seconds(1));
  exec.Trace(order);
  return order + std::to_string(exec.TraceHash());
}

TEST(VirtualExecutor, TheSeedDecidesTheOrderOfWhatIsDueTogether) {
  EXPECT_EQ(OrderWithSeed(7), OrderWithSeed(7));
  EXPECT_NE(OrderWithSeed(7).substr(0, 8), OrderWithSeed(8).substr(0, 8));
}

TEST(VirtualExecutor, ADroppedExecutorDestroysWaitingTasksUnrun) {
  auto guard = std::make_shared<int>(1);
  bool ran = false;
  {
    VirtualExecutor exec(1);
    exec.Post([guard, &ran] { ran = true; });
    EXPECT_EQ(exec.Waiting(), 1U);
  }
  EXPECT_FALSE(ran);
  EXPECT_EQ(guard.use_count(), 1);
}

TEST(ThreadExecutor, RunsEverythingOnceAcrossWorkers) {
  std::atomic<int> count{0};
  Mutex mu;
  std::condition_variable_any done;
  {
    ThreadExecutor exec(3);
    for (int i = 0; i < 1000; ++i)
      exec.Post([&] {
        if (++count == 1000) {
          Lock l(mu);
          done.notify_all();
        }
      });
    Lock l(mu);
    done.wait_for(mu, seconds(20), [&] { return count == 1000; });
  }
  EXPECT_EQ(count, 1000);
}

TEST(ThreadExecutor, ALaterTaskDoesNotDelayAnEarlierOne) {
  Mutex mu;
  std::condition_variable_any done;
  std::vector<int> order;
  ThreadExecutor exec(1);
  auto add = [&](int n) {
    Lock l(mu);
    order.push_back(n);
    done.notify_all();
  };
  exec.PostAfter(milliseconds(80), [&] { add(2); });
  exec.PostAfter(milliseconds(10), [&] { add(1); });
  Lock l(mu);
  done.wait_for(mu, seconds(20), [&] { return order.size() == 2; });
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(ThreadExecutor, StoppingDropsWhatIsNotDue) {
  bool ran = false;
  {
    ThreadExecutor exec(2);
    exec.PostAfter(std::chrono::hours(1), [&] { ran = true; });
  }
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace gpuop
