// Whatever happens, it ends at the same objects. Each run is a function of its seed; GPUOP_SEEDS=FIRST-LAST runs others
// than the few that every test run tries.

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/text.h"
#include "data/json.h"
#include "e2e/operator/outcome.h"

namespace gpuop::e2e {
namespace {

using namespace std::chrono_literals;

void Trouble(Bed& bed, Rng& rng) {
  const std::string node = "gpu-" + std::to_string(rng.Below(3));
  switch (rng.Below(8)) {
    case 0: bed.StartOperator(); break;
    case 1: bed.faults().AddConflictStorm("", "nodes", 0.5, 20); break;
    case 2: {
      sim::FaultRule fault;
      fault.code = 500, fault.probability = 0.3, fault.times = 15;
      bed.faults().Add(fault);
      break;
    }
    case 3: bed.RemoveLabel(node, kPciLabel); break;
    case 4: bed.RemoveLabel(node, "nvidia.com/gpu.deploy.device-plugin"); break;
    case 5: {
      const auto answer = bed.Call("DELETE", "/api/v1/namespaces/gpu-operator/configmaps/default-mig-parted-config");
      EXPECT_TRUE(answer.status < 300 || answer.status == 404);
      break;
    }
    case 6: {
      const auto sets = bed.DaemonSets();
      if (sets.empty()) break;
      bed.Patch("/apis/apps/v1/namespaces/gpu-operator/daemonsets/" + sets[rng.Below(sets.size())],
                R"({"spec":{"template":{"spec":{"priorityClassName":"system-cluster-critical"}}}})");
      break;
    }
    default: {
      sim::FaultRule fault;
      fault.verb = "watch", fault.code = 410, fault.times = 5;
      bed.faults().Add(fault);
      break;
    }
  }
}

class ChaosTest : public testing::TestWithParam<int> {};
TEST_P(ChaosTest, EndsAtTheSameObjects) {
  GPUOP_EMBEDDED_ONLY("refuses requests");
  static const std::string kCalm = [] {
    Bed bed({.pools = {GpuPool(3)}});
    bed.Apply(DefaultPolicy());
    EXPECT_TRUE(bed.BecomesReady());
    bed.RunFor(10s);
    return Outcome(bed);
  }();
  const auto seed = static_cast<std::uint64_t>(GetParam());
  Rng rng(seed);
  Bed bed({.seed = seed, .pools = {GpuPool(3)}});
  bed.Apply(DefaultPolicy());
  for (int step = 0; step < 25; ++step) {
    Trouble(bed, rng);
    bed.RunFor(std::chrono::milliseconds(rng.Below(4000)));
    // A driver that is wanted is never taken away.
    if (step > 12) EXPECT_THAT(bed.DaemonSets(), testing::Contains("nvidia-driver-daemonset"));
  }
  bed.faults().Clear();
  for (int i = 0; i < 3; ++i) bed.SetLabel("gpu-" + std::to_string(i), kPciLabel, "true");
  bed.RunFor(2min);
  EXPECT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
  bed.RunFor(10s);
  EXPECT_EQ(Outcome(bed), kCalm);
}
/// What a run with trouble comes to, to the last byte: names, UIDs, versions and times of all that is there.
std::string Traces(std::uint64_t seed) {
  Rng rng(seed);
  Bed bed({.seed = seed, .pools = {GpuPool(3)}});
  bed.Apply(DefaultPolicy());
  for (int step = 0; step < 10; ++step) {
    Trouble(bed, rng);
    bed.RunFor(std::chrono::milliseconds(rng.Below(4000)));
  }
  std::string out;
  for (const char* path : {"/api/v1/nodes", "/api/v1/pods", "/api/v1/events", "/apis/apps/v1/daemonsets",
                           "/apis/nvidia.com/v1/clusterpolicies"})
    out += json::serialize(bed.Get(path)) + "\n";
  return out;
}
TEST_P(ChaosTest, ARunIsAFunctionOfItsSeed) {
  const auto seed = static_cast<std::uint64_t>(GetParam());
  const std::string once = Traces(seed);
  EXPECT_EQ(once, Traces(seed));
  EXPECT_NE(once, Traces(seed + 1000)) << "the seed counts";
}

/// The seeds that GPUOP_SEEDS names; or ten, and one that deletes an object before any cache has seen it.
std::vector<int> Seeds() {
  const char* asked = std::getenv("GPUOP_SEEDS");
  const auto ends = Split(asked == nullptr ? "1-10" : asked, '-');
  std::vector<int> out;
  const int first = static_cast<int>(ParseInt(ends.front()).value_or(1));
  const int last = static_cast<int>(ParseInt(ends.back()).value_or(first));
  for (int seed = first; seed <= last; ++seed) out.push_back(seed);
  if (asked == nullptr) out.push_back(78);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Seeds, ChaosTest, testing::ValuesIn(Seeds()),
                         [](const auto& seed) { return std::to_string(seed.param); });

}  // namespace
}  // namespace gpuop::e2e
