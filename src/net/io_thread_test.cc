#include "net/io_thread.h"

#include <latch>
#include <thread>

namespace gpuop::net {
namespace {

TEST(IoThreadTest, RunsTasksInTheOrderOfTheirTimesOnTheCallersThread) {
  IoThread io;
  std::string order;
  std::stop_source stop;
  io.PostAfter(std::chrono::milliseconds(20), [&] {
    order += "c";
    stop.request_stop();
  });
  io.PostAfter(std::chrono::milliseconds(5), [&] { order += "b"; });
  io.Post([&] { order += io.OnThread() ? "a" : "?"; });
  EXPECT_FALSE(io.OnThread());
  io.Run(stop.get_token());
  EXPECT_EQ(order, "abc");
}

TEST(IoThreadTest, AStopAskedForBeforehandReturnsAtOnceAndTasksWaitForTheNextRun) {
  IoThread io;
  bool ran = false;
  io.Post([&] {
    ran = true;
    io.Stop();
  });
  std::stop_source stop;
  stop.request_stop();
  io.Run(stop.get_token());
  EXPECT_FALSE(ran);
  io.Run({});
  EXPECT_TRUE(ran);
}

TEST(IoThreadTest, DispatchRunsInlineOnlyOnTheThread) {
  IoThread io;
  io.Start();
  std::latch done(1);
  std::string order;
  io.Dispatch([&] {
    io.Dispatch([&] { order += "inner"; });
    order += " outer";
    done.count_down();
  });
  done.wait();
  EXPECT_EQ(order, "inner outer");
}

TEST(IoThreadTest, DropsWaitingTasksWhenItEnds) {
  auto token = std::make_shared<int>(1);
  {
    IoThread io;
    io.Start();
    std::latch seen(1);
    io.PostAfter(std::chrono::hours(1), [token] {});
    io.Post([&] { seen.count_down(); });
    seen.wait();
    EXPECT_EQ(token.use_count(), 2);
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(IoThreadTest, ManyThreadsMayPost) {
  IoThread io;
  io.Start();
  constexpr int kEach = 2000;
  std::latch done(4 * kEach);
  int sum = 0;  // on the I/O thread only
  {
    std::vector<std::jthread> posters;
    for (int t = 0; t < 4; ++t)
      posters.emplace_back([&] {
        for (int i = 0; i < kEach; ++i)
          io.PostAfter(std::chrono::microseconds(i % 7), [&] {
            ++sum;
            done.count_down();
          });
      });
  }
  done.wait();
  EXPECT_EQ(sum, 4 * kEach);
}

}  // namespace
}  // namespace gpuop::net
