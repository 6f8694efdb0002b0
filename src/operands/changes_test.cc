// A change of one field of the policy reaches the DaemonSets that it concerns and no other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "operands/testing/policies.h"

namespace gpuop::operands::testing {
namespace {

using Names = std::set<std::string>;

/// The DaemonSets that differ between two renderings.
Names ChangedDaemonSets(const Objects& before, const Objects& after) {
  Names out;
  for (const auto& [from, to] : {std::pair(&before, &after), std::pair(&after, &before)})
    for (const Object& object : *from) {
      if (object.resource.kind != "DaemonSet") continue;
      const Object* other = FindObject(*to, "DaemonSet", object.name());
      if (other == nullptr || !data::JsonEqual(other->body, object.body)) out.emplace(object.name());
    }
  return out;
}

const Names kAll = {"nvidia-driver-daemonset",
                    "nvidia-container-toolkit-daemonset",
                    "nvidia-operator-validator",
                    "nvidia-device-plugin-daemonset",
                    "nvidia-device-plugin-mps-control-daemon",
                    "nvidia-dcgm-exporter",
                    "gpu-feature-discovery",
                    "nvidia-mig-manager"};
const Names kValidating = {"nvidia-container-toolkit-daemonset", "nvidia-operator-validator"};
const Names kPlugin = {"nvidia-device-plugin-daemonset", "nvidia-device-plugin-mps-control-daemon"};

struct Case {
  const char* patch;
  Names changed;
};

TEST(ChangesTest, ReachTheDaemonSetsTheyConcernAndNoOther) {
  const std::vector<Case> cases = {
      {"{driver: {version: '596.1'}}", {"nvidia-driver-daemonset"}},
      {"{driver: {env: [{name: A, value: b}]}}", {"nvidia-driver-daemonset"}},
      {"{driver: {manager: {version: v9}}}", {"nvidia-driver-daemonset"}},
      {"{driver: {kernelModuleType: open}}", {"nvidia-driver-daemonset"}},
      {"{driver: {upgradePolicy: {maxParallelUpgrades: 5}}}", {}},
      {"{driver: {enabled: false}}", {"nvidia-driver-daemonset"}},
      {"{gdrcopy: {enabled: true}}", {"nvidia-driver-daemonset", "nvidia-device-plugin-daemonset"}},
      {"{gds: {version: '2.30'}}", {}},
      {"{toolkit: {version: v9}}", {"nvidia-container-toolkit-daemonset"}},
      {"{toolkit: {installDir: /opt/nvidia}}",
       {"nvidia-container-toolkit-daemonset", "nvidia-device-plugin-daemonset", "nvidia-mig-manager"}},
      {"{devicePlugin: {version: v9}}", kPlugin},
      {"{devicePlugin: {env: [{name: A, value: b}]}}", {"nvidia-device-plugin-daemonset"}},
      {"{devicePlugin: {mps: {root: /mps}}}", kPlugin},
      {"{dcgm: {version: '5'}}", {}},
      {"{dcgm: {enabled: true}}", {"nvidia-dcgm", "nvidia-dcgm-exporter"}},
      {"{dcgmExporter: {version: '5'}}", {"nvidia-dcgm-exporter"}},
      {"{dcgmExporter: {serviceMonitor: {interval: 1s}}}", {}},
      {"{gfd: {imagePullPolicy: Always}}", {"gpu-feature-discovery"}},
      {"{migManager: {args: [--x]}}", {"nvidia-mig-manager"}},
      {"{mig: {strategy: mixed}}",
       {"nvidia-operator-validator", "nvidia-device-plugin-daemonset", "nvidia-device-plugin-mps-control-daemon",
        "gpu-feature-discovery"}},
      {"{validator: {version: v9}}", kValidating},
      {"{validator: {driver: {env: [{name: A, value: b}]}}}", kValidating},
      {"{validator: {cuda: {env: [{name: A, value: b}]}}}", {"nvidia-operator-validator"}},
      {"{nodeStatusExporter: {enabled: true}}", {"nvidia-node-status-exporter"}},
      {"{sandboxWorkloads: {mode: kata}, ccManager: {defaultMode: 'off'}, vfioManager: {version: v9}}", {}},
      {"{operator: {defaultRuntime: docker, labels: {a: b}}, psa: {enabled: true}}", {}},
      {"{hostPaths: {kubeletRootDir: /k}}", {"nvidia-device-plugin-daemonset", "nvidia-dcgm-exporter"}},
      {"{daemonsets: {labels: {a: b}}}", kAll},
      {"{daemonsets: {priorityClassName: high}}", kAll},
  };
  const Facts facts = UbuntuFacts();
  const Objects before = RenderAll(PolicyWith(), facts);
  for (const Case& c : cases)
    EXPECT_EQ(ChangedDaemonSets(before, RenderAll(PolicyWith(c.patch), facts)), c.changed) << c.patch;
}

TEST(ChangesTest, ANewKindOfNodeChangesNoOtherKindsDaemonSet) {
  const Facts before = UbuntuFacts();
  Facts after = before;
  after.groups.push_back(
      {.os_id = "rhel", .os_version = "9.4", .kernel = "5.14.0", .arch = "amd64", .runtime = "crio", .nodes = 99});
  after.primary_os = "ubuntu24.04";
  after.primary_runtime = "containerd";
  EXPECT_EQ(ChangedDaemonSets(RenderAll(PolicyWith(), before), RenderAll(PolicyWith(), after)),
            (Names{"nvidia-driver-daemonset-rhel9", "nvidia-container-toolkit-daemonset-crio"}));
}

TEST(ChangesTest, AnotherKernelOrEqualNodesChangeNothing) {
  const Facts before = UbuntuFacts();
  Facts after = before;
  after.groups.push_back(after.groups.front());
  after.groups.back().kernel = "6.8.0-61-generic";
  after.groups.back().arch = "arm64";
  EXPECT_EQ(ChangedDaemonSets(RenderAll(PolicyWith(), before), RenderAll(PolicyWith(), after)), Names{});
}

std::string Digest(const Objects& objects) {
  const data::Json body(FindObject(objects, "DaemonSet", "nvidia-driver-daemonset")->body);
  for (const data::Json& var : data::Find(body, "spec.template.spec.containers[0].env")->as_array())
    if (data::StringOr(var, "name") == "DRIVER_CONFIG_DIGEST") return std::string(data::StringOr(var, "value"));
  return {};
}

TEST(ChangesTest, TheDriversDigestChangesWithTheDriverAndNotWithTheOperator) {
  Facts facts = UbuntuFacts();
  const std::string before = Digest(RenderAll(PolicyWith(), facts));
  EXPECT_NE(before, "");
  for (const char* patch :
       {"{driver: {version: '596.1'}}", "{driver: {env: [{name: A, value: b}]}}", "{driver: {rdma: {enabled: true}}}",
        "{driver: {args: [init, -m, '8']}}", "{hostPaths: {driverInstallDir: /opt/d}}"})
    EXPECT_NE(Digest(RenderAll(PolicyWith(patch), facts)), before) << patch;
  for (const char* patch :
       {"{driver: {manager: {version: v9}}}", "{daemonsets: {labels: {a: b}}}",
        "{driver: {resources: {limits: {memory: 1Gi}}}}", "{driver: {startupProbe: {periodSeconds: 3}}}"})
    EXPECT_EQ(Digest(RenderAll(PolicyWith(patch), facts)), before) << patch;
  facts.operator_image = "nvcr.io/nvidia/gpu-operator:v27";
  EXPECT_EQ(Digest(RenderAll(PolicyWith(), facts)), before);
}

std::string UserOf(const Facts& facts) {
  const Objects objects =
      RenderAll(PolicyWith("{devicePlugin: {repository: r.example, image: gpu-operator, version: v1}}"), facts);
  const data::Json body(FindObject(objects, "DaemonSet", "nvidia-device-plugin-daemonset")->body);
  const data::Json* user = data::Find(body, "spec.template.spec.containers[0].securityContext.runAsUser");
  return user == nullptr ? "the image's" : data::ToJson(*user);
}

TEST(ChangesTest, DiscoveryAsksForGpusWhereItsImageDoesNot) {
  const auto asks = [](const Facts& facts) {
    const Objects objects =
        RenderAll(PolicyWith("{gfd: {repository: r.example, image: gpu-operator, version: v1}}"), facts);
    return data::ToJson(FindObject(objects, "DaemonSet", "gpu-feature-discovery")->body)
        .contains("NVIDIA_VISIBLE_DEVICES");
  };
  Facts facts = UbuntuFacts();
  EXPECT_FALSE(asks(facts));
  facts.operator_image = "r.example/gpu-operator:v1";
  EXPECT_TRUE(asks(facts));
}

TEST(ChangesTest, OurOwnImageRunsAsRootOnNodesAndThoseOfOthersAsTheySay) {
  Facts facts = UbuntuFacts();
  EXPECT_EQ(UserOf(facts), "the image's");
  facts.operator_image = "r.example/gpu-operator:v1";
  EXPECT_EQ(UserOf(facts), "0");
}

}  // namespace
}  // namespace gpuop::operands::testing
