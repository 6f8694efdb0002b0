#include "sim/scheduler/queue.h"

#include <gtest/gtest.h>

namespace gpuop::sim {
namespace {

constexpr TimePoint At(int seconds) { return TimePoint(std::chrono::seconds(seconds)); }

PodInfoPtr Pod(std::string name, int priority = 0) {
  auto pod = std::make_shared<PodInfo>();
  pod->ns = "ns";
  pod->name = std::move(name);
  pod->uid = pod->name;
  pod->priority = priority;
  return pod;
}

std::string PopName(SchedulingQueue& queue) {
  const PodInfoPtr pod = queue.Pop();
  return pod == nullptr ? "nobody" : pod->name;
}

TEST(SchedulingQueueTest, HigherPriorityComesFirstThenWhoCameFirst) {
  SchedulingQueue queue;
  queue.Add(Pod("a"));
  queue.Add(Pod("b", 10));
  queue.Add(Pod("c"));
  EXPECT_EQ(PopName(queue) + PopName(queue) + PopName(queue) + PopName(queue), "bacnobody");
}

TEST(SchedulingQueueTest, APodWithoutANodeWaitsForAnEventThatHelps) {
  SchedulingQueue queue;
  queue.Add(Pod("a"));
  queue.Pop();
  queue.NoNode("ns/a", {Obstacle::kResources}, At(0));
  queue.Wake({Obstacle::kTaint}, At(5));
  EXPECT_EQ(PopName(queue), "nobody");
  queue.Wake({Obstacle::kResources, Obstacle::kPorts}, At(5));
  EXPECT_EQ(PopName(queue), "a");
}

TEST(SchedulingQueueTest, TheBackOffGrowsToTenSecondsAndEventsDoNotShortenIt) {
  SchedulingQueue queue;
  queue.Add(Pod("a"));
  int now = 0;
  for (const int seconds : {1, 2, 4, 8, 10, 10}) {
    queue.Pop();
    queue.NoNode("ns/a", {Obstacle::kTaint}, At(now));
    queue.Wake({Obstacle::kTaint}, At(now));
    EXPECT_EQ(queue.NextDue(), At(now + seconds));
    queue.Release(At(now + seconds - 1));
    EXPECT_FALSE(queue.HasReady());
    now += seconds;
    queue.Release(At(now));
    EXPECT_TRUE(queue.HasReady());
  }
}

TEST(SchedulingQueueTest, AfterFiveMinutesItIsTriedEvenIfNothingHappened) {
  SchedulingQueue queue;
  queue.Add(Pod("a"));
  queue.Pop();
  queue.NoNode("ns/a", {Obstacle::kTaint}, At(0));
  queue.Release(At(299));
  EXPECT_EQ(PopName(queue), "nobody");
  queue.Release(At(300));
  EXPECT_EQ(PopName(queue), "a");
}

TEST(SchedulingQueueTest, AGatedPodWaitsUntilItIsAddedWithoutGates) {
  SchedulingQueue queue;
  auto gated = std::make_shared<PodInfo>(*Pod("a"));
  gated->gated = true;
  queue.Add(gated);
  EXPECT_EQ(PopName(queue), "nobody");
  queue.Add(Pod("a"));
  EXPECT_EQ(PopName(queue), "a");
}

TEST(SchedulingQueueTest, ARemovedPodIsNeverHandedOut) {
  SchedulingQueue queue;
  queue.Add(Pod("a"));
  queue.Remove("ns/a");
  EXPECT_EQ(PopName(queue), "nobody");
  queue.NoNode("ns/a", {Obstacle::kTaint}, At(0));
  EXPECT_EQ(queue.NextDue(), std::nullopt);
  EXPECT_EQ(queue.size(), 0U);
}

}  // namespace
}  // namespace gpuop::sim
