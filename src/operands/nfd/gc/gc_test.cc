#include "operands/nfd/gc/gc.h"

#include <gtest/gtest.h>

#include "base/virtual_executor.h"
#include "kube/counting_door.h"
#include "kube/door_fake.h"

namespace gpuop::operands::nfd {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

struct Bed {
  Bed() : gc(executor, kube::Client(door), {}, log, metrics) {}
  void AddNode(const std::string& name) { api.Put(NodeRecord::kResource, {{"metadata", {{"name", name}}}}); }
  void AddFeature(const std::string& name, const std::string& node) {
    api.Put(api::kNodeFeature,
            {{"metadata", {{"name", name}, {"namespace", "nfd"}, {"labels", {{api::kNodeNameLabel, node}}}}}});
  }
  bool Has(const std::string& name) { return api.Peek({api::kNodeFeature, "nfd", name, {}}).has_value(); }

  VirtualExecutor executor{5};
  kube::FakeDoor api{executor};
  kube::CountingDoor door{api};
  FakeLog log;
  MetricRegistry metrics;
  GarbageCollector gc;
};

TEST(NfdGcTest, WhatIsKnownOfAGoneNodeIsDeletedAfterAWhile) {
  Bed bed;
  bed.AddNode("n1");
  bed.AddNode("n2");
  bed.AddFeature("n1", "n1");
  bed.AddFeature("gfd-n1", "n1");
  bed.AddFeature("n2", "n2");
  bed.AddFeature("orphan", "gone-long-ago");
  bed.gc.Start();
  bed.executor.RunFor(seconds(5));
  EXPECT_FALSE(bed.Has("orphan"));
  bed.api.Remove({NodeRecord::kResource, {}, "n1", {}});
  bed.executor.RunFor(seconds(50));
  EXPECT_TRUE(bed.Has("n1"));
  bed.executor.RunFor(seconds(20));
  EXPECT_FALSE(bed.Has("n1") || bed.Has("gfd-n1"));
  EXPECT_TRUE(bed.Has("n2"));
}

TEST(NfdGcTest, ANodeThatComesBackKeepsEverything) {
  Bed bed;
  bed.AddNode("n1");
  bed.AddFeature("n1", "n1");
  bed.gc.Start();
  bed.executor.RunFor(seconds(5));
  bed.api.Remove({NodeRecord::kResource, {}, "n1", {}});
  bed.executor.RunFor(seconds(30));
  bed.AddNode("n1");
  bed.executor.RunFor(hours(3));
  EXPECT_TRUE(bed.Has("n1"));
}

TEST(NfdGcTest, WithoutAClearNoNothingIsDeleted) {
  Bed bed;
  bed.AddFeature("n1", "n1");
  bed.api.Intercept([](const kube::ApiRequest& request) -> std::optional<Result<kube::ApiResponse>> {
    if (request.path == "/api/v1/nodes/n1") return Fail(Code::kTimeout, "no answer in time");
    return std::nullopt;
  });
  bed.gc.Start();
  bed.executor.RunFor(hours(2));
  EXPECT_TRUE(bed.Has("n1"));
  bed.api.Intercept(nullptr);
  bed.executor.RunFor(hours(2));
  EXPECT_FALSE(bed.Has("n1"));
}

TEST(NfdGcTest, ASteadyClusterIsLookedAtOnceAnInterval) {
  Bed bed;
  bed.AddNode("n1");
  bed.AddFeature("n1", "n1");
  bed.gc.Start();
  bed.executor.RunFor(seconds(5));
  const kube::CallScope calls(bed.door);
  bed.executor.RunFor(hours(1));
  EXPECT_EQ(calls.Writes(), 0U);
}

}  // namespace
}  // namespace gpuop::operands::nfd
