// What becomes of our objects in other hands, and of all of them when the policy goes.

#include <gtest/gtest.h>

#include "data/json.h"
#include "e2e/operator/bed.h"

namespace gpuop::e2e {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

constexpr const char* kNs = "/api/v1/namespaces/gpu-operator";
constexpr const char* kSets = "/apis/apps/v1/namespaces/gpu-operator/daemonsets/";

TEST(RepairTest, AForeignImageOnOurDaemonSetIsRepaired) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.Patch(std::string(kSets) + "nvidia-dcgm-exporter",
            R"({"spec":{"template":{"spec":{"priorityClassName":"system-cluster-critical"}}}})");
  bed.RunFor(10s);
  EXPECT_EQ(data::StringOr(bed.DaemonSet("nvidia-dcgm-exporter"), "spec.template.spec.priorityClassName"),
            "system-node-critical");
}

TEST(RepairTest, WhatOthersAddToOurObjectsStays) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.Patch(std::string(kSets) + "nvidia-dcgm-exporter",
            R"({"metadata":{"annotations":{"team":"a"},"labels":{"mine":"yes"}}})");
  const kube::CallScope calls(bed.door());
  bed.RunFor(30s);
  EXPECT_EQ(calls.Writes(), 0U) << calls.ToString();
  const json::value ds = bed.DaemonSet("nvidia-dcgm-exporter");
  EXPECT_EQ(data::GetObject(ds, "metadata.annotations")->at("team"), "a");
}

class DeletedTest : public testing::TestWithParam<std::string> {};
TEST_P(DeletedTest, ComesBackAtOnce) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  const std::string uid(data::StringOr(bed.Get(GetParam()), "metadata.uid"));
  ASSERT_NE(uid, "");
  bed.Delete(GetParam());
  bed.RunFor(5s);
  const std::string now(data::StringOr(bed.Get(GetParam()), "metadata.uid"));
  EXPECT_NE(now, "");
  EXPECT_NE(now, uid);
}
INSTANTIATE_TEST_SUITE_P(
    All, DeletedTest,
    testing::Values(std::string(kNs) + "/configmaps/default-mig-parted-config",
                    std::string(kNs) + "/serviceaccounts/nvidia-driver", std::string(kNs) + "/services/gpu-operator",
                    "/apis/node.k8s.io/v1/runtimeclasses/nvidia", std::string(kSets) + "nvidia-dcgm-exporter",
                    "/apis/rbac.authorization.k8s.io/v1/clusterroles/nvidia-driver",
                    "/apis/rbac.authorization.k8s.io/v1/namespaces/gpu-operator/rolebindings/nvidia-mig-manager"),
    [](const auto& c) { return "Object" + std::to_string(c.index); });

/// As NVIDIA's operator leaves its roles: with rights that ours has not, and may not hand on.
TEST(RepairTest, ABindingWaitsUntilItsRoleGivesNoMoreThanItShould) {
  GPUOP_EMBEDDED_ONLY("refuses requests");
  static const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1/";
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.StopOperator();
  bed.Patch(kRbac + "clusterroles/nvidia-operator-validator",
            R"({"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]})");
  bed.Delete(kRbac + "clusterrolebindings/nvidia-operator-validator");
  bed.RunFor(1s);
  sim::FaultRule late;
  late.verb = "patch", late.group = "rbac.authorization.k8s.io", late.resource = "clusterroles", late.code = 500;
  late.times = 6;
  bed.faults().Add(late);
  bed.StartOperator();
  EXPECT_TRUE(
      bed.Until([&] { return !bed.Get(kRbac + "clusterrolebindings/nvidia-operator-validator").is_null(); }, 3min));
  EXPECT_NE(data::StringOr(bed.Get(kRbac + "clusterroles/nvidia-operator-validator"), "rules[0].verbs[0]"), "*");
  // A denied request fails every scenario.
}

TEST(RepairTest, DeletionTakesAwayAllThatIsOurs) {
  Bed bed({.pools = {GpuPool(2), CpuPool(1)}});
  bed.SetLabel("gpu-1", "nvidia.com/gpu.deploy.dcgm-exporter", "false");
  bed.SetLabel("gpu-0", "team", "a");
  const auto labels = [&bed](const char* node) {
    return json::serialize(bed.Get(std::string("/api/v1/nodes/") + node).at("metadata").at("labels"));
  };
  const std::string first = labels("gpu-0"), second = labels("gpu-1");
  bed.Apply(DefaultPolicy(R"({"psa":{"enabled":true}})"));
  ASSERT_TRUE(bed.BecomesReady());
  bed.Delete(kPolicyPath);
  bed.RunFor(60s);
  EXPECT_THAT(bed.DaemonSets(), IsEmpty());
  EXPECT_THAT(bed.List("/apis/node.k8s.io/v1/runtimeclasses"), IsEmpty());
  EXPECT_EQ(labels("gpu-0"), first);
  EXPECT_EQ(labels("gpu-1"), second);
  EXPECT_EQ(data::GetObject(bed.Get("/api/v1/nodes/gpu-0"), "metadata.annotations") == nullptr ||
                !data::GetObject(bed.Get("/api/v1/nodes/gpu-0"), "metadata.annotations")
                     ->contains("nvidia.com/gpu-driver-upgrade-enabled"),
            true);
  const json::value ns = bed.Get("/api/v1/namespaces/gpu-operator");
  EXPECT_FALSE(data::GetObject(ns, "metadata.labels")->contains("pod-security.kubernetes.io/enforce"));
}

}  // namespace
}  // namespace gpuop::e2e
