#include "kube/controller.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "base/thread_executor.h"
#include "base/virtual_executor.h"
#include "kube/cache.h"
#include "kube/door_fake.h"
#include "kube/types/node.h"

namespace gpuop::kube {
namespace {

using namespace std::chrono_literals;

TEST(WorkQueue, AKeyWaitsOnceAndIsInOneHandOnly) {
  VirtualExecutor executor(1);
  int told = 0;
  WorkQueue q(executor, {}, [&] { ++told; });
  q.Add("a");
  q.Add("a");
  q.Add("b");
  EXPECT_EQ(told, 2);
  EXPECT_EQ(q.Take(), "a");
  q.Add("a");
  q.Add("a");
  EXPECT_EQ(q.Take(), "b");
  EXPECT_EQ(q.Take(), std::nullopt);
  q.Done("a");
  EXPECT_EQ(q.Take(), "a");
  q.Done("a");
  q.Done("b");
  EXPECT_EQ(q.Take(), std::nullopt);
  EXPECT_EQ(q.Active(), 0U);
}

TEST(WorkQueue, ABusyKeyGoesBehindTheOthers) {
  VirtualExecutor executor(1);
  WorkQueue q(executor, {}, [] {});
  q.Add("busy");
  q.Add("b");
  q.Add("c");
  EXPECT_EQ(q.Take(), "busy");
  q.Add("busy");
  q.Done("busy");
  EXPECT_EQ(q.Take(), "b");
  EXPECT_EQ(q.Take(), "c");
  EXPECT_EQ(q.Take(), "busy");
}

TEST(WorkQueue, OfSeveralDelaysTheEarliestCounts) {
  VirtualExecutor executor(1);
  WorkQueue q(executor, {}, [] {});
  q.AddAfter("a", 10s);
  q.AddAfter("a", 5s);
  q.AddAfter("a", 20s);
  executor.RunFor(4999ms);
  EXPECT_EQ(q.Depth(), 0U);
  executor.RunFor(1ms);
  EXPECT_EQ(q.Take(), "a");
  q.Done("a");
  executor.RunFor(1min);
  EXPECT_EQ(q.Depth(), 0U);
}

TEST(WorkQueue, ATurnReplacesWhatTheLastOneAskedFor) {
  VirtualExecutor executor(1);
  WorkQueue q(executor, {}, [] {});
  q.Add("a");
  ASSERT_TRUE(q.Take());
  q.Again("a", 10s);
  executor.RunFor(5s);
  q.Add("a");
  ASSERT_TRUE(q.Take());
  q.Again("a", 10s);
  executor.RunFor(9s);
  EXPECT_EQ(q.Depth(), 0U);
  executor.RunFor(1s);
  EXPECT_EQ(q.Depth(), 1U);
}

TEST(WorkQueue, FailuresWaitLongerEachTimeAndSuccessForgetsThem) {
  VirtualExecutor executor(1);
  WorkQueue q(executor, {.back_off = {1s, 8s, 0}}, [] {});
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 5; ++i) {
    q.Add("a");
    ASSERT_TRUE(q.Take());
    waits.push_back(q.Failed("a") / 1s);
  }
  EXPECT_EQ(waits, (std::vector<std::int64_t>{1, 2, 4, 8, 8}));
  EXPECT_EQ(q.Failures("a"), 5);
  executor.RunFor(8s);
  EXPECT_EQ(q.Take(), "a");
  q.Done("a");
  EXPECT_EQ(q.Failures("a"), 0);
}

TEST(WorkQueue, WhatIsForgottenDoesNotComeBack) {
  VirtualExecutor executor(1);
  WorkQueue q(executor, {}, [] {});
  q.Add("a");
  q.AddAfter("a", 1s);
  q.Forget("a");
  executor.RunFor(1min);
  EXPECT_EQ(q.Take(), std::nullopt);
  EXPECT_EQ(q.Delayed(), 0U);
}

TEST(WorkQueue, ItsMetricsTellDepthAndRetries) {
  VirtualExecutor executor(1);
  MetricRegistry metrics;
  WorkQueue q(executor, {.name = "t", .metrics = &metrics}, [] {});
  q.Add("a");
  q.Add("b");
  EXPECT_EQ(metrics.gauge("workqueue_depth", "", {{"name", "t"}}).value(), 2);
  ASSERT_TRUE(q.Take());
  q.Failed("a");
  EXPECT_EQ(metrics.counter("workqueue_retries_total", "", {{"name", "t"}}).value(), 1);
  EXPECT_EQ(metrics.counter("workqueue_adds_total", "", {{"name", "t"}}).value(), 2);
}

/// Adds, takes and returns at random: no key is ever in two hands, and every key added after its last turn began gets
/// another turn.
TEST(WorkQueue, LosesNoKeyUnderAnySchedule) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    VirtualExecutor executor(seed);
    WorkQueue q(executor, {.back_off = {10ms, 1s, 0.5}, .seed = seed}, [] {});
    std::set<std::string> owed;
    std::set<std::string> in_hand;
    const auto give_back = [&](const std::string key, std::uint64_t how) {
      in_hand.erase(key);
      if (how == 0) {
        q.Failed(key);
        owed.insert(key);
      } else if (how == 1) {
        q.Again(key, 50ms);
        owed.insert(key);
      } else {
        q.Done(key);
      }
    };
    Rng rng(seed);
    for (int step = 0; step < 400; ++step) {
      const std::string key = "k" + std::to_string(rng.Below(5));
      const std::uint64_t what = rng.Below(5);
      if (what == 0) {
        q.Add(key);
        owed.insert(key);
      } else if (what == 1) {
        q.AddAfter(key, std::chrono::milliseconds(rng.Below(100)));
        owed.insert(key);
      } else if (what == 2 && !in_hand.empty()) {
        give_back(*in_hand.begin(), rng.Below(4));
      } else if (const auto taken = q.Take()) {
        EXPECT_TRUE(in_hand.insert(*taken).second) << "seed " << seed;
        owed.erase(*taken);
      }
      executor.RunFor(std::chrono::milliseconds(rng.Below(20)));
    }
    while (!in_hand.empty()) give_back(*in_hand.begin(), 9);
    executor.RunFor(1min);
    while (const auto taken = q.Take()) {
      owed.erase(*taken);
      q.Done(*taken);
    }
    // A turn that asked for another and was followed by one is paid by it, so only what was taken may be missing.
    EXPECT_TRUE(owed.empty()) << "seed " << seed << " lost " << *owed.begin();
  }
}

TEST(Controller, RetriesWithBackOffAndLogsEachFailureOnce) {
  VirtualExecutor executor(1);
  FakeLog log;
  int turns = 0;
  Controller c(executor, log, {.name = "t", .back_off = {1s, 8s, 0}}, [&](const std::string&) -> Result<Next> {
    if (++turns < 3) return Fail(Code::kConflict, "changed meanwhile");
    return Next{};
  });
  c.Add("a");
  executor.RunFor(10s);
  EXPECT_EQ(turns, 0);
  c.Start();
  executor.RunFor(10s);
  EXPECT_EQ(turns, 3);
  EXPECT_EQ(log.Lines().size(), 2U);
  EXPECT_TRUE(c.Idle());
}

TEST(Controller, AgainComesAfterItsTime) {
  VirtualExecutor executor(1);
  FakeLog log;
  Controller c(executor, log, {.name = "t"}, [&](const std::string&) -> Result<Next> { return Next{.again = 10s}; });
  c.Start();
  c.Add("a");
  executor.RunFor(35s);
  EXPECT_EQ(c.turns(), 4U);
}

TEST(Controller, WaitsUntilItsCachesHaveSynced) {
  VirtualExecutor executor(1);
  FakeLog log;
  FakeDoor door(executor);
  door.Put(Node::kResource, {{"metadata", {{"name", "a"}}}});
  Cache<Node> nodes(executor, Client(door));
  Controller c(executor, log, {.name = "t"}, [&](const std::string& key) -> Result<Next> {
    EXPECT_NE(nodes.Get(key), nullptr);
    return Next{};
  });
  c.Needs(nodes);
  c.Start();
  c.Add("a");
  executor.RunFor(1s);
  EXPECT_EQ(c.turns(), 0U);
  nodes.Start();
  executor.RunFor(1s);
  EXPECT_EQ(c.turns(), 1U);
}

TEST(Controller, PausedItKeepsKeysAndBeginsNoTurn) {
  VirtualExecutor executor(1);
  FakeLog log;
  Controller c(executor, log, {.name = "t"}, [](const std::string&) -> Result<Next> { return Next{}; });
  c.Start();
  c.Add("a");
  c.Pause();  // the turn is posted already
  executor.RunFor(1s);
  EXPECT_EQ(c.turns(), 0U);
  c.Start();
  executor.RunFor(1s);
  EXPECT_EQ(c.turns(), 1U);
  EXPECT_TRUE(c.Idle());
}

TEST(Controller, OnThreadsAKeyIsNeverInTwoTurnsAndTheLimitHolds) {
  ThreadExecutor executor(4);
  FakeLog log;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::map<std::string, std::atomic<int>> inside;
  std::map<std::string, int> plain;  // a race here is what the thread sanitizer would see
  for (int k = 0; k < 8; ++k) {
    inside["k" + std::to_string(k)] = 0;
    plain["k" + std::to_string(k)] = 0;
  }
  std::atomic<int> left = 2000;
  std::promise<void> done;
  Controller c(executor, log, {.name = "t", .concurrency = 3}, [&](const std::string& key) -> Result<Next> {
    most = std::max(most.load(), ++running);
    EXPECT_EQ(++inside.at(key), 1);
    ++plain.at(key);
    --inside.at(key);
    --running;
    if (--left == 0) done.set_value();
    return Next{.again = 1us};
  });
  c.Start();
  for (const auto& [key, n] : plain) c.Add(key);
  done.get_future().wait();
  EXPECT_LE(most, 3);
}

TEST(Controller, NoTurnRunsAfterItsDestructor) {
  ThreadExecutor executor(4);
  FakeLog log;
  for (int round = 0; round < 100; ++round) {
    auto value = std::make_unique<int>(0);
    {
      Controller c(executor, log, {.name = "t", .concurrency = 2},
                   [v = value.get()](const std::string&) -> Result<Next> {
                     static_cast<void>(*v);
                     return Next{.again = 1us};
                   });
      c.Start();
      c.Add("a");
      c.Add("b");
    }
    value.reset();
  }
}

}  // namespace
}  // namespace gpuop::kube
