// What was seen to go wrong with NVIDIA's operator on a real control plane and is not tested where it belongs by its
// subject.

#include <gtest/gtest.h>

#include "data/json.h"
#include "e2e/operator/bed.h"

namespace gpuop::e2e {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(BaselineTest, ReadyIsNeverSaidBeforeTheNodesAreLabelledAndTheirPodsRun) {
  Bed bed({.pools = {GpuPool(60)}, .timelines = {Pods("*", "ready-after", "2s")}});
  bed.RunFor(5s);
  bed.Apply(DefaultPolicy());
  bool ready = false;
  for (int i = 0; i < 1200 && !ready; ++i) {
    bed.RunFor(100ms);
    ready = bed.Ready();
    if (!ready) continue;
    EXPECT_THAT(bed.Condition("Ready"), testing::StartsWith("True Reconciled"));
    for (const json::value set : bed.List("/apis/apps/v1/namespaces/gpu-operator/daemonsets")) {
      const bool everywhere = !data::StringOr(set, "metadata.name").contains("mig-manager") &&
                              !data::StringOr(set, "metadata.name").contains("mps-control");
      EXPECT_EQ(data::IntOr(set, "status.numberAvailable"), everywhere ? 60 : 0)
          << data::StringOr(set, "metadata.name");
    }
  }
  EXPECT_TRUE(ready);
}

TEST(BaselineTest, WithoutAnyPodNothingIsReady) {
  GPUOP_EMBEDDED_ONLY("refuses requests");
  Bed bed({.start = false});
  sim::FaultRule fault;
  fault.verb = "create", fault.resource = "pods", fault.code = 500;
  bed.faults().Add(fault);
  bed.StartOperator();
  bed.Apply(DefaultPolicy());
  bed.RunFor(2min);
  EXPECT_EQ(bed.State(), "notReady");
  EXPECT_THAT(bed.List("/api/v1/namespaces/gpu-operator/pods"), IsEmpty());
  bed.faults().Clear();
  EXPECT_TRUE(bed.BecomesReady());
}

TEST(BaselineTest, OperandsThatAreOffHaveNoLabels) {
  Bed bed;
  bed.Apply(DefaultPolicy(R"({"driver":{"enabled":false},"toolkit":{"enabled":false}})"));
  ASSERT_TRUE(bed.BecomesReady());
  for (const char* off : {"dcgm", "node-status-exporter", "driver", "container-toolkit"})
    EXPECT_EQ(bed.Label("gpu-0", std::string("nvidia.com/gpu.deploy.") + off), "") << off;
  EXPECT_EQ(bed.Label("gpu-0", "nvidia.com/gpu.deploy.device-plugin"), "true");
}

}  // namespace
}  // namespace gpuop::e2e
