#include "api/crd.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "api/cluster_policy.h"
#include "api/gpu_cluster.h"
#include "api/nvidia_driver.h"
#include "api/reference.h"
#include "base/testing/source_dir.h"
#include "data/schema_validate.h"
#include "data/yaml.h"

namespace gpuop::api {
namespace {

TEST(DefinitionsTest, AreWhatIsDeployed) {
  for (const Definition& d : Definitions()) {
    const std::string path = std::string(SourceDir()) + "/deploy/crds/" + d.name() + ".yaml";
    std::ifstream in(path);
    ASSERT_TRUE(in) << path << ": make it with gpu-operator crds " << d.name() << " > " << path;
    const std::string text(std::istreambuf_iterator<char>(in), {});
    EXPECT_EQ(text, data::ToYaml(CustomResourceDefinitionOf(d)))
        << "renew it with gpu-operator crds " << d.name() << " > " << path;
  }
}

TEST(DefinitionsTest, HaveTheirPagesInTheDocs) {
  for (const Definition& d : Definitions()) {
    if (d.resource.group != "nvidia.com" || d.resource.kind == "GPUCluster") continue;
    const std::string path = "docs/reference/" + d.name() + ".md";
    std::ifstream in(std::string(SourceDir()) + "/" + path);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    EXPECT_EQ(text, ReferencePage(d)) << "renew it with gpu-operator crds --reference " << d.name() << " > " << path;
  }
}

TEST(DefinitionsTest, HavePatternsAndRulesThatCompile) {
  for (const Definition& d : Definitions()) {
    const data::SchemaValidator validator(d.schema());
    EXPECT_THAT(validator.problems(), testing::IsEmpty()) << d.name();
  }
}

boost::json::object Object(const std::string& yaml) { return data::ParseYaml(yaml)->as_object(); }

/// A policy with what it must have, and some more of its spec.
boost::json::object Policy(const std::string& spec) {
  boost::json::object object = Object("metadata: {name: p, uid: u}\nspec: {" + spec + "}\n");
  boost::json::object& fields = object["spec"].as_object();
  for (const char* name : {"operator", "daemonsets", "driver", "toolkit", "devicePlugin", "dcgm", "dcgmExporter", "gfd",
                           "nodeStatusExporter"})
    if (!fields.contains(name)) fields[name] = boost::json::object();
  return object;
}

TEST(ClusterPolicyTest, HasItsDefaultsFromAnEmptySpec) {
  const auto policy = ClusterPolicy::FromJson(Policy(""));
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->spec.operator_.runtime_class, "nvidia");
  EXPECT_TRUE(policy->spec.driver.IsEnabled());
  EXPECT_TRUE(policy->spec.cdi.enabled);
  EXPECT_FALSE(policy->spec.node_status_exporter.IsEnabled());
  EXPECT_FALSE(policy->spec.sandbox_workloads.IsEnabled());
  EXPECT_EQ(policy->error, "");
}

TEST(ClusterPolicyTest, TellsUnknownFieldsByTheirPaths) {
  const auto policy = ClusterPolicy::FromJson(Policy("driver: {verison: '1', env: [{name: A, vaule: b}]}, gdf: {}"));
  ASSERT_TRUE(policy);
  EXPECT_THAT(policy->unknown,
              testing::UnorderedElementsAre("spec.driver.verison", "spec.driver.env[0].vaule", "spec.gdf"));
}

TEST(ClusterPolicyTest, KeepsAnObjectThatCannotBeReadWithTheReason) {
  const auto policy = ClusterPolicy::FromJson(Policy("driver: {enabled: 'yes'}"));
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->meta.uid, "u");
  EXPECT_EQ(policy->error, "spec.driver.enabled: expected a boolean, got a string");
}

TEST(NvidiaDriverTest, HasItsDefaultsFromAnEmptySpec) {
  const auto driver = NvidiaDriver::FromJson(Object("metadata: {name: d}\nspec: {}\n"));
  ASSERT_TRUE(driver);
  EXPECT_EQ(driver->error, "");
  EXPECT_EQ(driver->spec.image, "nvcr.io/nvidia/driver");
  EXPECT_EQ(driver->spec.driver_type, "gpu");
  EXPECT_FALSE(driver->spec.is_default);
  EXPECT_FALSE(driver->spec.upgrade_policy.has_value());
}

TEST(GpuClusterTest, CanBeRead) {
  const auto cluster = GpuCluster::FromJson(
      Object("metadata: {name: gpu-cluster}\nspec: {draDriver: {gpus: {kubeletPlugin: {healthcheck: {port: 5}}}}}\n"));
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->error, "");
  EXPECT_EQ(cluster->spec.dra_driver.gpus->kubelet_plugin->healthcheck->port, 5);
}

}  // namespace
}  // namespace gpuop::api
