#include "gpu_label_controller.h"

#include <gtest/gtest.h>

#include "base/virtual_executor.h"
#include "kube/counting_door.h"
#include "kube/door_fake.h"

namespace gpuop::sample {
namespace {

using namespace std::chrono_literals;
using kube::Node;

constexpr std::string_view kPci = "feature.node.kubernetes.io/pci-10de.present";
constexpr std::string_view kPresent = "nvidia.com/gpu.present";

void Put(kube::FakeDoor& door, const std::string& name, bool gpu, bool says) {
  boost::json::object labels;
  if (gpu) labels[kPci] = "true";
  if (says) labels[kPresent] = "true";
  door.Put(Node::kResource, {{"metadata", {{"name", name}, {"labels", std::move(labels)}}}});
}

bool AllRight(const kube::FakeDoor& door) {
  return std::ranges::all_of(door.PeekAll(Node::kResource), [](const boost::json::object& o) {
    const Node node = kube::Decode<Node>(o).value();
    return node.meta.labels.contains(kPci) == node.meta.labels.contains(kPresent);
  });
}

TEST(SampleController, MakesNoCallWhenSteadyBesidesTheLease) {
  VirtualExecutor executor(1);
  kube::FakeDoor fake(executor);
  kube::CountingDoor door(fake);
  FakeLog log;
  for (int i = 0; i < 20; ++i) Put(fake, "n" + std::to_string(i), i % 2 == 0, i % 3 == 0);
  GpuLabelController controller(executor, door, log, "a");
  executor.RunFor(10s);
  EXPECT_TRUE(AllRight(fake));
  const kube::CallScope calls(door);
  const auto turns = controller.turns();
  for (int minute = 0; minute < 5; ++minute) {
    executor.RunFor(1min);
    fake.SendBookmarks();
  }
  EXPECT_EQ(calls.ToString(), "150 update leases.coordination.k8s.io");
  EXPECT_EQ(controller.turns(), turns);
}

TEST(SampleController, AHeartbeatOfEveryNodeCostsNoTurn) {
  VirtualExecutor executor(1);
  kube::FakeDoor door(executor);
  FakeLog log;
  const auto beat = [&door](int i, std::string_view at) {
    door.Put(Node::kResource, {{"metadata", {{"name", "n" + std::to_string(i)}}},
                               {"status", {{"conditions", {{{"type", "Ready"}, {"lastHeartbeatTime", at}}}}}}});
  };
  for (int i = 0; i < 100; ++i) beat(i, "2026-01-01T00:00:00Z");
  GpuLabelController controller(executor, door, log, "a");
  executor.RunFor(10s);
  EXPECT_EQ(controller.turns(), 100U);
  for (int i = 0; i < 100; ++i) beat(i, "2026-01-01T00:05:00Z");
  executor.RunFor(10s);
  EXPECT_EQ(controller.turns(), 100U);
}

TEST(SampleController, AnotherLeaderGoesOnWhereTheFirstStopped) {
  VirtualExecutor executor(1);
  kube::FakeDoor door(executor);
  FakeLog log;
  auto a = std::make_unique<GpuLabelController>(executor, door, log, "a");
  executor.RunFor(5s);
  GpuLabelController b(executor, door, log, "b");
  executor.RunFor(5s);
  ASSERT_TRUE(a->Leads());
  ASSERT_FALSE(b.Leads());
  a.reset();
  Put(door, "n1", true, false);
  executor.RunFor(30s);
  EXPECT_TRUE(b.Leads());
  EXPECT_TRUE(AllRight(door));
}

/// Dropped watches, lost history, conflicts, lost answers and changes of leader, at random.
TEST(SampleController, ConvergesThroughAnything) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    VirtualExecutor executor(seed);
    kube::FakeDoor door(executor, seed);
    FakeLog log;
    Rng rng(seed);
    bool calm = false;
    door.Intercept([&](const kube::ApiRequest& r) -> std::optional<Result<kube::ApiResponse>> {
      if (calm || rng.Below(6) != 0) return std::nullopt;
      if (r.method == "PATCH") return kube::Modified(Node::kResource, "n").ToResponse();
      return Result<kube::ApiResponse>(Fail(Code::kTimeout, "no answer"));
    });
    std::unique_ptr<GpuLabelController> two[2];
    for (int step = 0; step < 200; ++step) {
      const std::string name = "n" + std::to_string(rng.Below(8));
      switch (rng.Below(12)) {
        case 0: door.BreakWatches(Fail(Code::kIo, "reset")); break;
        case 1: door.Compact(); break;
        case 2: door.Remove(kube::Ref<Node>(name)); break;
        case 3: two[rng.Below(2)].reset(); break;
        case 4: {
          auto& one = two[rng.Below(2)];
          if (!one) one = std::make_unique<GpuLabelController>(executor, door, log, "c" + std::to_string(step));
          break;
        }
        default: Put(door, name, rng.Below(2) == 0, rng.Below(2) == 0);
      }
      executor.RunFor(std::chrono::milliseconds(rng.Below(3000)));
    }
    calm = true;
    for (auto& one : two)
      if (!one) one = std::make_unique<GpuLabelController>(executor, door, log, &one == two ? "a" : "b");
    executor.RunFor(3min);
    EXPECT_TRUE(AllRight(door)) << "seed " << seed;
    EXPECT_NE(two[0]->Leads(), two[1]->Leads()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace gpuop::sample
