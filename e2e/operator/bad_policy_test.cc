// Policies and drivers with something wrong in them: each is told by its field, and nothing else changes.

#include <gtest/gtest.h>

#include "data/json.h"
#include "e2e/operator/bed.h"

namespace gpuop::e2e {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct Case {
  const char *name, *patch, *field;
};

/// One cluster for all cases: each breaks the policy and mends it again.
class BadPolicyTest : public testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() {
    bed_ = new Bed();
    bed_->Apply(DefaultPolicy());
    ASSERT_TRUE(bed_->BecomesReady());
  }
  static void TearDownTestSuite() {
    delete bed_;
    bed_ = nullptr;
  }
  static std::string Versions() {
    std::string out;
    for (const char* path :
         {"/apis/apps/v1/namespaces/gpu-operator/daemonsets", "/api/v1/namespaces/gpu-operator/configmaps",
          "/api/v1/nodes", "/apis/node.k8s.io/v1/runtimeclasses"})
      for (const json::value object : bed_->List(path)) {
        json::value copy = object;
        data::Erase(copy, "status");
        data::Erase(copy, "metadata.resourceVersion");
        data::Erase(copy, "metadata.managedFields");
        out.append(json::serialize(copy));
      }
    return out;
  }
  static Bed* bed_;
};
Bed* BadPolicyTest::bed_ = nullptr;

TEST_P(BadPolicyTest, IsToldByItsFieldAndNothingChanges) {
  const Case& c = GetParam();
  const std::string before = Versions();
  const json::value good = bed_->Policy().at("spec");
  const auto answer =
      bed_->Call("PATCH", kPolicyPath, std::string(R"({"spec":)") + c.patch + "}", "application/merge-patch+json");
  if (answer.status == 422) {
    // The definition itself refuses it.
    EXPECT_THAT(answer.body, HasSubstr(c.field));
    return;
  }
  ASSERT_EQ(answer.status, 200) << answer.body;
  bed_->RunFor(3s);
  EXPECT_EQ(bed_->State(), "notReady");
  EXPECT_THAT(bed_->Condition("Error"),
              testing::AllOf(testing::StartsWith("True ReconcileFailed: "), HasSubstr(c.field)));
  EXPECT_EQ(Versions(), before);
  json::object whole = bed_->Policy().as_object();
  whole["spec"] = good;
  whole["metadata"].as_object().erase("managedFields");
  ASSERT_EQ(bed_->Call("PUT", kPolicyPath, json::serialize(whole)).status, 200);
  EXPECT_TRUE(bed_->BecomesReady(30s)) << bed_->Condition("Error");
}

INSTANTIATE_TEST_SUITE_P(
    Types, BadPolicyTest,
    testing::Values(
        Case{"EnabledText", R"({"driver":{"enabled":"yes"}})", "spec.driver.enabled"},
        Case{"EnvObject", R"({"driver":{"env":{"A":"b"}}})", "spec.driver.env"},
        Case{"EnvWithoutName", R"({"gfd":{"env":[{"value":"b"}]}})", "spec.gfd.env[0].name"},
        Case{"TolerationsText", R"({"daemonsets":{"tolerations":"all"}})", "spec.daemonsets.tolerations"},
        Case{"MissingBlock", R"({"devicePlugin":null})", "spec.devicePlugin"},
        Case{"NegativeParallel", R"({"driver":{"upgradePolicy":{"maxParallelUpgrades":-1}}})", "maxParallelUpgrades"},
        Case{"ProbePeriodZero", R"({"driver":{"startupProbe":{"periodSeconds":0}}})", "periodSeconds"},
        Case{"UnknownStrategy", R"({"mig":{"strategy":"both"}})", "spec.mig.strategy"},
        Case{"UnknownModuleType", R"({"driver":{"kernelModuleType":"closed"}})", "spec.driver.kernelModuleType"},
        Case{"UnknownWorkload", R"({"sandboxWorkloads":{"defaultWorkload":"pods"}})",
             "spec.sandboxWorkloads.defaultWorkload"},
        Case{"UnknownMode", R"({"sandboxWorkloads":{"mode":"qemu"}})", "spec.sandboxWorkloads.mode"},
        Case{"UnknownUpdate", R"({"daemonsets":{"updateStrategy":"Recreate"}})", "spec.daemonsets.updateStrategy"},
        Case{"UnknownMigDefault", R"({"migManager":{"config":{"default":"all-1g"}}})",
             "spec.migManager.config.default"},
        Case{"QuantityText", R"({"gfd":{"resources":{"limits":{"cpu":"much"}}}})", "spec.gfd.resources.limits"},
        Case{"IntervalText", R"({"dcgmExporter":{"serviceMonitor":{"interval":"often"}}})", "serviceMonitor.interval"}),
    [](const auto& c) { return std::string(c.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Images, BadPolicyTest,
    testing::Values(
        Case{"NoVersion", R"({"toolkit":{"version":""}})", "spec.toolkit"},
        Case{"NoRepository", R"({"devicePlugin":{"repository":""}})", "spec.devicePlugin"},
        Case{"NoImage", R"({"gfd":{"image":null}})", "spec.gfd"},
        Case{"NoDriverVersion", R"({"driver":{"version":""}})", "spec.driver"},
        Case{"NoManagerVersion", R"({"driver":{"manager":{"version":""}}})", "spec.driver.manager"},
        Case{"NothingAnywhere", R"({"migManager":{"version":"","image":"","repository":""}})", "spec.migManager"},
        Case{"BlankInImage", R"({"toolkit":{"image":"container toolkit"}})", "spec.toolkit.image"},
        Case{"UpperCaseRepository", R"({"toolkit":{"repository":"nvcr.io/NVIDIA"}})", "spec.toolkit.image"},
        Case{"BadTag", R"({"gfd":{"version":"v1 beta"}})", "spec.gfd.image"},
        Case{"ShortDigest", R"({"gfd":{"version":"sha256:abc"}})", "spec.gfd.image"},
        Case{"EmptyPullSecret", R"({"gfd":{"imagePullSecrets":[""]}})", "spec.gfd.imagePullSecrets[0]"},
        Case{"BadPullSecret", R"({"driver":{"imagePullSecrets":["My Secret"]}})", "spec.driver.imagePullSecrets[0]"}),
    [](const auto& c) { return std::string(c.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Fields, BadPolicyTest,
    testing::Values(
        Case{"EnvNameWithEquals", R"({"driver":{"env":[{"name":"A=B","value":"c"}]}})", "spec.driver.env[0].name"},
        Case{"EnvNameEmpty", R"({"toolkit":{"env":[{"name":"","value":"c"}]}})", "spec.toolkit.env[0].name"},
        Case{"EnvTwice", R"({"devicePlugin":{"env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]}})",
             "spec.devicePlugin.env[1].name"},
        Case{"ValidatorEnvTwice", R"({"validator":{"cuda":{"env":[{"name":"A"},{"name":"A"}]}}})",
             "spec.validator.cuda.env[1].name"},
        Case{"RequestOverLimit", R"({"gfd":{"resources":{"limits":{"cpu":"100m"},"requests":{"cpu":"1"}}}})",
             "spec.gfd.resources.requests[cpu]"},
        Case{"NegativeLimit", R"({"gfd":{"resources":{"limits":{"memory":"-1Gi"}}}})",
             "spec.gfd.resources.limits[memory]"},
        Case{"TolerationOperator", R"({"daemonsets":{"tolerations":[{"key":"a","operator":"Is"}]}})",
             "spec.daemonsets.tolerations[0].operator"},
        Case{"TolerationEffect", R"({"daemonsets":{"tolerations":[{"key":"a","operator":"Exists","effect":"Never"}]}})",
             "spec.daemonsets.tolerations[0].effect"},
        Case{"TolerationValue", R"({"daemonsets":{"tolerations":[{"key":"a","operator":"Exists","value":"b"}]}})",
             "spec.daemonsets.tolerations[0].value"},
        Case{"TolerationKey", R"({"daemonsets":{"tolerations":[{"key":"a b","operator":"Exists"}]}})",
             "spec.daemonsets.tolerations[0].key"},
        Case{
            "TolerationSeconds",
            R"({"daemonsets":{"tolerations":[{"key":"a","operator":"Exists","effect":"NoSchedule","tolerationSeconds":5}]}})",
            "spec.daemonsets.tolerations[0].effect"},
        Case{"EmptyKeyEqual", R"({"daemonsets":{"tolerations":[{"operator":"Equal"}]}})",
             "spec.daemonsets.tolerations[0].operator"},
        Case{"LabelKey", R"({"daemonsets":{"labels":{"a b":"c"}}})", "spec.daemonsets.labels[a b]"},
        Case{"LabelValue", R"({"daemonsets":{"labels":{"a":"c d"}}})", "spec.daemonsets.labels[a]"},
        Case{"AnnotationKey", R"({"daemonsets":{"annotations":{"a b":"c"}}})", "spec.daemonsets.annotations"},
        Case{"PriorityClass", R"({"daemonsets":{"priorityClassName":"Very High"}})",
             "spec.daemonsets.priorityClassName"},
        Case{"MaxUnavailableText", R"({"daemonsets":{"rollingUpdate":{"maxUnavailable":"some"}}})",
             "spec.daemonsets.rollingUpdate.maxUnavailable"},
        Case{"MaxUnavailablePercent", R"({"daemonsets":{"rollingUpdate":{"maxUnavailable":"120%"}}})",
             "spec.daemonsets.rollingUpdate.maxUnavailable"},
        Case{"MaxUnavailableZero", R"({"daemonsets":{"rollingUpdate":{"maxUnavailable":"0"}}})",
             "spec.daemonsets.rollingUpdate.maxUnavailable"},
        Case{"UpgradeUnavailable", R"({"driver":{"upgradePolicy":{"maxUnavailable":"half"}}})",
             "spec.driver.upgradePolicy.maxUnavailable"},
        Case{"DrainSelector", R"({"driver":{"upgradePolicy":{"drain":{"podSelector":"a in b"}}}})",
             "spec.driver.upgradePolicy.drain.podSelector"},
        Case{"WaitSelector", R"({"driver":{"upgradePolicy":{"waitForCompletion":{"podSelector":"=="}}}})",
             "spec.driver.upgradePolicy.waitForCompletion.podSelector"},
        Case{"StartupSuccess", R"({"driver":{"startupProbe":{"successThreshold":3}}})",
             "spec.driver.startupProbe.successThreshold"},
        Case{"LivenessSuccess", R"({"driver":{"livenessProbe":{"successThreshold":3}}})",
             "spec.driver.livenessProbe.successThreshold"},
        Case{"NegativeDelay", R"({"driver":{"readinessProbe":{"initialDelaySeconds":-3}}})",
             "spec.driver.readinessProbe.initialDelaySeconds"},
        Case{"RuntimeClassName", R"({"operator":{"runtimeClass":"NVIDIA runtime"}})", "spec.operator.runtimeClass"},
        Case{"RelativeInstallDir", R"({"toolkit":{"installDir":"usr/local"}})", "spec.toolkit.installDir"},
        Case{"ClimbingInstallDir", R"({"toolkit":{"installDir":"/usr/../etc"}})", "spec.toolkit.installDir"},
        Case{"RelativeMpsRoot", R"({"devicePlugin":{"mps":{"root":"mps"}}})", "spec.devicePlugin.mps.root"},
        Case{"RelativeRoot", R"({"hostPaths":{"rootFS":"host"}})", "spec.hostPaths.rootFS"},
        Case{"RelativeKubelet", R"({"hostPaths":{"kubeletRootDir":"kubelet"}})", "spec.hostPaths.kubeletRootDir"},
        Case{"ColonInDriverDir", R"({"hostPaths":{"driverInstallDir":"/run:nvidia"}})",
             "spec.hostPaths.driverInstallDir"},
        Case{"TimeoutOverInterval", R"({"dcgmExporter":{"serviceMonitor":{"interval":"10s","scrapeTimeout":"1m"}}})",
             "spec.dcgmExporter.serviceMonitor.scrapeTimeout"},
        Case{"ServiceType", R"({"dcgmExporter":{"service":{"type":"External"}}})", "spec.dcgmExporter.service.type"},
        Case{"TrafficPolicy", R"({"dcgmExporter":{"service":{"internalTrafficPolicy":"Near"}}})",
             "spec.dcgmExporter.service.internalTrafficPolicy"},
        Case{"AllowlistRegex", R"({"dcgmExporter":{"podLabelAllowlistRegex":["["]}})",
             "spec.dcgmExporter.podLabelAllowlistRegex[0]"},
        Case{"RelabelRegex", R"({"dcgmExporter":{"serviceMonitor":{"relabelings":[{"regex":"("}]}}})",
             "relabelings[0].regex"},
        Case{"ExporterConfigName", R"({"dcgmExporter":{"config":{"name":"Metrics!"}}})",
             "spec.dcgmExporter.config.name"},
        Case{"RepoConfigName", R"({"driver":{"repoConfig":{"configMapName":"a/b"}}})",
             "spec.driver.repoConfig.configMapName"},
        Case{"SecretEnvName", R"({"driver":{"secretEnv":"_x"}})", "spec.driver.secretEnv"},
        Case{"NriWithoutCdi", R"({"cdi":{"enabled":false,"nriPluginEnabled":true}})", "spec.cdi.nriPluginEnabled"},
        Case{"NriWithoutToolkit", R"({"cdi":{"nriPluginEnabled":true},"toolkit":{"enabled":false}})",
             "spec.cdi.nriPluginEnabled"},
        Case{"PrecompiledWithGds", R"({"driver":{"usePrecompiled":true},"gds":{"enabled":true}})",
             "spec.driver.usePrecompiled"},
        Case{"PrecompiledWithGdrcopy", R"({"driver":{"usePrecompiled":true},"gdrcopy":{"enabled":true}})",
             "spec.driver.usePrecompiled"}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(BadPolicy, AThousandVariablesAreTooMany) {
  Bed bed;
  json::array env;
  for (int i = 0; i < 4000; ++i)
    env.push_back({{"name", "VARIABLE_" + std::to_string(i)}, {"value", std::string(100, 'x')}});
  json::object policy = DefaultPolicy();
  policy["spec"].as_object()["driver"].as_object()["env"] = std::move(env);
  bed.Apply(policy);
  bed.RunFor(3s);
  EXPECT_THAT(bed.Condition("Error"), HasSubstr("spec.driver.env: more than 256 KiB"));
  EXPECT_THAT(bed.DaemonSets(), testing::IsEmpty());
}

TEST(BadPolicy, WhatStandsInAFieldIsShown) {
  Bed bed;
  bed.Apply(DefaultPolicy(
      R"({"toolkit":{"installDir":"usr/local"},
          "daemonsets":{"priorityClassName":"Very High","labels":{"a":"c d"}},
          "driver":{"readinessProbe":{"initialDelaySeconds":-3}}})"));
  bed.RunFor(3s);
  const std::string told = bed.Condition("Error");
  for (const char* words : {R"(spec.toolkit.installDir: "usr/local": must be an absolute path)",
                            R"(spec.daemonsets.priorityClassName: "Very High": a lowercase RFC 1123)",
                            R"(spec.daemonsets.labels[a]: "c d": a valid label)",
                            R"(spec.driver.readinessProbe.initialDelaySeconds: "-3": must not be negative)"})
    EXPECT_THAT(told, HasSubstr(words));
}

TEST(BadPolicy, WhatTwoOperandsMissIsToldOnce) {
  Bed bed;
  bed.Apply(DefaultPolicy(R"({"devicePlugin":{"repository":""}})"));
  bed.RunFor(3s);
  const std::string told = bed.Condition("Error");
  const std::size_t at = told.find("spec.devicePlugin: ");
  ASSERT_NE(at, std::string::npos) << told;
  EXPECT_EQ(told.find("spec.devicePlugin: ", at + 1), std::string::npos) << told;
}

TEST(BadPolicy, UnknownFieldsOfANewerDefinitionAreNamed) {
  Bed bed;
  json::value crd = bed.Get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterpolicies.nvidia.com");
  data::Find(crd, "spec.versions[0].schema.openAPIV3Schema.properties.spec")
      ->as_object()["x-kubernetes-preserve-unknown-fields"] = true;
  crd.as_object()["metadata"].as_object().erase("managedFields");
  ASSERT_EQ(bed.Call("PUT", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterpolicies.nvidia.com",
                     json::serialize(crd))
                .status,
            200);
  bed.RunFor(1s);
  bed.Apply(DefaultPolicy(R"({"teleporter":{"enabled":true}})"));
  ASSERT_TRUE(bed.BecomesReady());
  EXPECT_THAT(bed.Condition("UnknownFields"), HasSubstr("spec.teleporter"));
  EXPECT_NE(data::Find(bed.Policy(), "spec.teleporter"), nullptr);
}

TEST(BadPolicy, ProbesWithoutHandlersOfTheirOwnAreNoPanic) {
  Bed bed;
  bed.Apply(
      DefaultPolicy(R"({"driver":{"livenessProbe":{"periodSeconds":30},"readinessProbe":{"periodSeconds":30}}})"));
  EXPECT_TRUE(bed.BecomesReady());
}

TEST(BadPolicy, IsRefusedAfterARestartAsBefore) {
  Bed bed;
  bed.Apply(DefaultPolicy(R"({"cdi":{"enabled":false,"nriPluginEnabled":true}})"));
  bed.RunFor(5s);
  const std::string before = bed.Condition("Error");
  EXPECT_THAT(before, HasSubstr("spec.cdi.nriPluginEnabled"));
  const kube::CallScope calls(bed.door());
  bed.StartOperator();
  bed.RunFor(10s);
  EXPECT_EQ(bed.Condition("Error"), before);
  EXPECT_EQ(calls.Writes(), 0U) << calls.ToString();
}

}  // namespace
}  // namespace gpuop::e2e
