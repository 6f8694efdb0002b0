#include "base/strand.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>

#include "base/thread_executor.h"
#include "base/virtual_executor.h"

namespace gpuop {
namespace {

TEST(Strand, KeepsTheOrderThatTheExecutorDoesNot) {
  VirtualExecutor executor(1);
  Strand strand(executor);
  std::vector<int> seen;
  for (int i = 0; i < 100; ++i) strand.Post([&seen, i] { seen.push_back(i); });
  executor.RunFor(std::chrono::seconds(1));
  ASSERT_EQ(seen.size(), 100U);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
}

TEST(Strand, RunsOneTaskAtATimeOnManyThreads) {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::promise<void> done;
  int plain = 0;  // a race here is what the thread sanitizer would see
  {
    ThreadExecutor executor(4);
    Strand strand(executor);
    for (int i = 0; i < 1000; ++i) {
      strand.Post([&] {
        most = std::max(most.load(), ++inside);
        ++plain;
        --inside;
      });
    }
    strand.Post([&done] { done.set_value(); });
    done.get_future().wait();
  }
  EXPECT_EQ(most, 1);
  EXPECT_EQ(plain, 1000);
}

TEST(Strand, NothingRunsAfterItsDestructor) {
  ThreadExecutor executor(4);
  for (int round = 0; round < 200; ++round) {
    auto value = std::make_unique<int>(0);
    std::optional<Strand> strand(executor);
    for (int i = 0; i < 20; ++i) strand->Post([v = value.get()] { ++*v; });
    strand->PostAfter(std::chrono::microseconds(50), [v = value.get()] { ++*v; });
    strand.reset();
    value.reset();
  }
}

TEST(Strand, MayBeDestroyedByItsOwnTask) {
  VirtualExecutor executor(1);
  auto strand = std::make_unique<Strand>(executor);
  bool second = false;
  strand->Post([&strand] { strand.reset(); });
  strand->Post([&second] { second = true; });
  executor.RunFor(std::chrono::seconds(1));
  EXPECT_EQ(strand, nullptr);
  EXPECT_FALSE(second);
}

}  // namespace
}  // namespace gpuop
