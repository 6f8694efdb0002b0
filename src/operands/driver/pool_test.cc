#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/yaml.h"
#include "operands/testing/golden.h"
#include "operands/testing/policies.h"

namespace gpuop::operands::driver {
namespace {

struct Case {
  const char* name;
  const char* spec;
  DriverPool pool;
  bool openshift = false;
};

api::NvidiaDriver DriverOf(const std::string& spec) {
  auto object = data::ParseYaml("metadata: {name: site, uid: 2269c984-db9a-4b0e-9fd5-86df0ad269f7}\nspec: " + spec);
  EXPECT_TRUE(object) << object.error().text;
  auto& fields = object->as_object().at("spec").as_object();  // what the API server fills in
  for (const auto& [field, value] :
       {std::pair("default", data::Json(false)), std::pair("driverType", data::Json("gpu")),
        std::pair("image", data::Json("nvcr.io/nvidia/driver"))})
    fields.emplace(field, value);
  auto driver = api::NvidiaDriver::FromJson(object->as_object());
  EXPECT_TRUE(driver && driver->error.empty() && driver->unknown.empty()) << driver->error;
  return *std::move(driver);
}

DriverPool Ubuntu() {
  return {.name = "nvidia-gpu-driver-ubuntu24.04-7c6d7bd86b",
          .rbac_name = "nvidia-gpu-driver-site-ubuntu24.04",
          .os_id = "ubuntu",
          .os_version = "24.04",
          .os_tag = "ubuntu24.04",
          .selector = {{"nvidia.com/gpu-operator.driver.owner", "site"}},
          .nodes = 2};
}

DriverPool Precompiled() {
  DriverPool pool = Ubuntu();
  pool.kernel = pool.kernel_sanitized = "6.8.0-60-generic";
  return pool;
}

DriverPool Rhcos() {
  return {.name = "nvidia-gpu-driver-rhcos4.19-6f4fc4fc6",
          .rbac_name = "nvidia-gpu-driver-site-rhcos4.19",
          .os_id = "rhcos",
          .os_version = "4.19",
          .os_tag = "rhcos4.19",
          .rhcos_version = "419.96.202509",
          .selector = {{"nvidia.com/gpu-operator.driver.owner", "site"}},
          .nodes = 1};
}

Facts FactsFor(const Case& c) {
  Facts facts = testing::UbuntuFacts();
  facts.owner = {.api_version = "nvidia.com/v1alpha1", .kind = "NVIDIADriver", .name = "site", .uid = "nvd-uid"};
  facts.image_env = {{"DRIVER_MANAGER_IMAGE", "r/k8s-driver-manager:v1"}};
  facts.config_maps = {{"params", {"nvidia.conf"}}, {"repos", {"a.list"}}};
  facts.secrets = {"licence"};
  if (c.openshift)
    facts.openshift = {.present = true, .version = "4.19", .driver_toolkit_images = {{"419.96.202509", "r/dtk:1"}}};
  return facts;
}

TEST(DriverPoolTest, IsAsReviewed) {
  for (
      const Case& c : {
          Case{"minimal", "{version: 595.91.07}", Ubuntu()},
          Case{
              "full",
              "{version: 595.91.07, kernelModuleType: open, rdma: {enabled: true}, gds: {enabled: true, repository: r, "
              "image: nvidia-fs, version: '2.30'}, gdrcopy: {enabled: true, repository: r, image: gdrdrv, version: "
              "v2}, "
              "kernelModuleConfig: {name: params}, repoConfig: {name: repos}, licensingConfig: {secretName: licence}, "
              "manager: {repository: r, image: m, version: v2, env: [{name: A, value: b}]}, env: [{name: C, value: "
              "d}], "
              "tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}, {key: x, operator: Exists}], "
              "labels: {team: ml, app: mine}, annotations: {a: b}, priorityClassName: high, hostNetwork: true, "
              "nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: "
              "[{key: zone, operator: In, values: [a]}]}]}}}",
              Ubuntu()},
          Case{"precompiled", "{version: '595', usePrecompiled: true}", Precompiled()},
          Case{"vgpu-host-manager", "{driverType: vgpu-host-manager, repository: r, image: vgpu-manager, version: '1'}",
               Ubuntu()},
          Case{"openshift", "{version: 595.91.07}", Rhcos(), true},
      }) {
    auto objects = RenderDriverPool(DriverOf(c.spec), c.pool, FactsFor(c));
    ASSERT_TRUE(objects) << c.name << ": " << objects.error().text;
    testing::CompareWithGolden(std::string("driver-pool-") + c.name, testing::ToYaml(*objects));
  }
}

TEST(DriverPoolTest, WhatIsMissingStopsTheChange) {
  const Case c{"", "{version: 595.91.07, secretEnv: absent}", Ubuntu()};
  const auto objects = RenderDriverPool(DriverOf(c.spec), c.pool, FactsFor(c));
  ASSERT_FALSE(objects);
  EXPECT_EQ(objects.error().code, Code::kNotFound);
  EXPECT_EQ(objects.error().text, "spec.secretEnv: Secret absent does not exist in namespace gpu-operator");
}

}  // namespace
}  // namespace gpuop::operands::driver
