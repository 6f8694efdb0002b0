// Definitions that come, go or are old, and resources beside the policy.

#include <gtest/gtest.h>

#include "api/crd.h"
#include "data/json.h"
#include "e2e/operator/bed.h"

namespace gpuop::e2e {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

TEST(DefinitionsTest, AGpuClusterBesideItStopsItAndIsAnswered) {
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.Apply({{"apiVersion", "nvidia.com/v1alpha1"},
             {"kind", "GPUCluster"},
             {"metadata", {{"name", "gpu-cluster"}}},
             {"spec", {{"draDriver", json::object()}}}});
  bed.RunFor(5s);
  EXPECT_EQ(bed.State(), "notReady");
  EXPECT_THAT(bed.Condition("Error"), StartsWith("True ReconcileFailed: GPUCluster gpu-cluster exists too"));
  const json::value cluster = bed.Get("/apis/nvidia.com/v1alpha1/gpuclusters/gpu-cluster");
  EXPECT_THAT(bed.Condition(cluster, "Error"),
              testing::AllOf(StartsWith("True PrerequisiteNotMet"), HasSubstr("not offered yet")));
  EXPECT_THAT(bed.DaemonSets(), SizeIs(8));
  bed.Delete("/apis/nvidia.com/v1alpha1/gpuclusters/gpu-cluster");
  EXPECT_TRUE(bed.BecomesReady());
}

TEST(DefinitionsTest, AGpuClusterAloneIsAnsweredNotYet) {
  Bed bed;
  bed.Apply({{"apiVersion", "nvidia.com/v1alpha1"},
             {"kind", "GPUCluster"},
             {"metadata", {{"name", "gpu-cluster"}}},
             {"spec", {{"draDriver", json::object()}}}});
  bed.RunFor(5s);
  const json::value cluster = bed.Get("/apis/nvidia.com/v1alpha1/gpuclusters/gpu-cluster");
  EXPECT_EQ(data::StringOr(cluster, "status.state"), "notReady");
  EXPECT_THAT(bed.Condition(cluster, "Error"), StartsWith("True NotSupported"));
}

TEST(DefinitionsTest, ServiceMonitorsComeWhenTheirKindComes) {
  static constexpr const char* kMonitors = "/apis/monitoring.coreos.com/v1/namespaces/gpu-operator/servicemonitors";
  Bed bed;
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  bed.AddMonitoring();
  bed.RunFor(5s);
  EXPECT_THAT(bed.List(kMonitors), SizeIs(2));
  bed.Patch(kPolicyPath, R"({"spec":{"dcgmExporter":{"serviceMonitor":{"enabled":false}}}})");
  bed.RunFor(5s);
  EXPECT_THAT(bed.List(kMonitors), SizeIs(1));
}

TEST(DefinitionsTest, NothingIsDoneBeforeTheDefinitionsComeAndAllAfter) {
  Bed bed({.install_crds = false});
  bed.RunFor(30s);
  EXPECT_TRUE(bed.op().Ready());
  for (const api::Definition& d : api::Definitions())
    if (d.name() == "clusterpolicies.nvidia.com") bed.Apply(api::CustomResourceDefinitionOf(d));
  bed.RunFor(2s);
  bed.Apply(DefaultPolicy());
  EXPECT_TRUE(bed.BecomesReady()) << bed.Condition("Error");
}

TEST(DefinitionsTest, AnOutdatedDefinitionIsNamed) {
  Bed bed;
  bed.Patch("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterpolicies.nvidia.com", "{}");
  json::value crd = bed.Get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterpolicies.nvidia.com");
  data::Find(crd, "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.cdi.properties")
      ->as_object()
      .erase("nriPluginEnabled");
  crd.as_object()["metadata"].as_object().erase("managedFields");
  const auto answer =
      bed.Call("PUT", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterpolicies.nvidia.com",
               json::serialize(crd));
  ASSERT_EQ(answer.status, 200) << answer.body;
  bed.RunFor(2s);
  bed.Apply(DefaultPolicy());
  ASSERT_TRUE(bed.BecomesReady());
  EXPECT_THAT(bed.Condition("SchemaOutdated"), HasSubstr("spec.cdi.nriPluginEnabled"));
}

}  // namespace
}  // namespace gpuop::e2e
