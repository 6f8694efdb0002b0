// What a policy asks for and cannot have: an error that names the field, and nothing rendered.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operands/checks.h"
#include "operands/labels.h"
#include "operands/references.h"
#include "operands/testing/policies.h"

namespace gpuop::operands::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The first error of all states, or "".
std::string FirstError(const api::ClusterPolicySpec& policy, const Facts& facts) {
  for (const Operand& operand : Operands()) {
    if (!operand.enabled(policy, facts)) continue;
    const auto objects = operand.render(policy, facts);
    if (!objects) return std::string(operand.state) + ": " + objects.error().text;
  }
  return {};
}

struct Case {
  const char *patch, *says;
};

TEST(RefusalsTest, NameTheFieldAndTheWayOut) {
  const Facts facts = UbuntuFacts();
  for (const Case& c : {
           Case{"{driver: {version: ''}}",
                "state-driver: spec.driver: invalid image specification: version is missing"},
           Case{"{driver: {manager: {image: null}}}",
                "spec.driver.manager: invalid image specification: image is missing"},
           Case{"{driver: {repoConfig: {configMapName: x}}}",
                "spec.driver.repoConfig: ConfigMap x does not exist in namespace gpu-operator"},
           Case{"{driver: {kernelModuleConfig: {name: x}}}", "spec.driver.kernelModuleConfig.name: ConfigMap x"},
           Case{"{driver: {licensingConfig: {secretName: s}}}", "spec.driver.licensingConfig.secretName: Secret s"},
           Case{"{driver: {secretEnv: s}}", "spec.driver.secretEnv: Secret s does not exist"},
           Case{"{driver: {virtualTopology: {config: t}}}", "spec.driver.virtualTopology: ConfigMap t"},
           Case{"{driver: {usePrecompiled: true}, gds: {enabled: true}}", "spec.driver.usePrecompiled"},
           Case{"{gdrcopy: {enabled: true, repository: ''}}",
                "spec.gdrcopy: invalid image specification: repository is missing"},
           Case{"{toolkit: {env: [{name: CONTAINERD_CONFIG, value: config.toml}]}}",
                "spec.toolkit.env: CONTAINERD_CONFIG: \"config.toml\" is not the absolute path"},
           Case{"{toolkit: {env: [{name: RUNTIME_SOCKET, value: /run/}]}}", "RUNTIME_SOCKET"},
           Case{"{devicePlugin: {env: [{name: READINESS_TAINT, value: 'gpu:NoExecute'}]}}",
                "spec.devicePlugin.env: readiness taint \"gpu:NoExecute\": the effect must be"},
           Case{"{devicePlugin: {config: {name: c}}}", "spec.devicePlugin.config.name: ConfigMap c"},
           Case{"{dcgmExporter: {config: {name: m}}}", "spec.dcgmExporter.config.name: ConfigMap m"},
           Case{"{migManager: {config: {name: l}}}", "spec.migManager.config.name: ConfigMap l"},
           Case{"{migManager: {gpuClientsConfig: {name: l}}}", "spec.migManager.gpuClientsConfig.name: ConfigMap l"},
           Case{"{sandboxWorkloads: {enabled: true}, vgpuDeviceManager: {config: {name: v}}}",
                "spec.vgpuDeviceManager.config.name: ConfigMap v"},
           Case{"{sandboxWorkloads: {enabled: true}, vgpuManager: {enabled: true, repository: r}}",
                "spec.vgpuManager: invalid image specification: version is missing"},
           Case{"{daemonsets: {rollingUpdate: {maxUnavailable: many}}}",
                "spec.daemonsets.rollingUpdate.maxUnavailable: \"many\" is neither a number nor a percentage"},
           Case{"{daemonsets: {rollingUpdate: {maxUnavailable: 101%}}}", "neither a number nor a percentage"},
           Case{"{validator: {repository: null, image: null, version: null}}",
                "spec.validator: no image: set repository"},
       })
    EXPECT_THAT(FirstError(PolicyWith(c.patch), facts), HasSubstr(c.says)) << c.patch;
}

TEST(RefusalsTest, OneBadOperandLeavesTheOthersRendered) {
  const auto policy = PolicyWith("{gfd: {version: ''}}");
  const Facts facts = UbuntuFacts();
  int good = 0;
  for (const Operand& operand : Operands())
    if (operand.enabled(policy, facts) && operand.render(policy, facts)) ++good;
  EXPECT_EQ(good, 9);
}

TEST(ReferencesTest, AreThoseThatRenderingAsksFor) {
  for (const std::string& name : CaseNames()) {
    const RenderCase c = ReadCase(name);
    const References references = ReferencesOf(c.policy);
    for (const auto& [map, keys] : c.facts.config_maps)
      EXPECT_TRUE(references.config_maps.contains(map)) << name << map;
    for (const std::string& secret : c.facts.secrets)
      EXPECT_TRUE(references.secrets.contains(secret)) << name << secret;
  }
  EXPECT_THAT(ReferencesOf(PolicyWith("{migManager: {enabled: false, config: {name: l}}}")).config_maps, IsEmpty());
}

TEST(ChecksTest, SettingsThatExcludeEachOtherAreNamed) {
  EXPECT_THAT(Check(PolicyWith()), IsEmpty());
  EXPECT_THAT(Check(PolicyWith("{cdi: {nriPluginEnabled: true, enabled: false}, toolkit: {enabled: false}}")),
              ElementsAre(HasSubstr("needs spec.cdi.enabled"), HasSubstr("spec.toolkit.enabled switches off")));
  EXPECT_THAT(Check(PolicyWith("{driver: {usePrecompiled: true}, gdrcopy: {enabled: true}}")),
              ElementsAre(HasSubstr("spec.driver.usePrecompiled")));
  api::NvidiaDriverSpec driver;
  driver.gds = api::Sidecar();
  driver.gds->enabled = true;
  driver.gds->version = "2.17.4";
  EXPECT_THAT(Check(driver), IsEmpty());
  for (const char* version : {"2.17.5", "v2.18", "3", "sha256:ab"}) {
    driver.gds->version = version;
    EXPECT_THAT(Check(driver), ElementsAre(HasSubstr("spec.gds.version"))) << version;
  }
  driver.kernel_module_type = "open";
  EXPECT_THAT(Check(driver), IsEmpty());
}

TEST(ChecksTest, NodesWithoutADriverImageAreTold) {
  Facts facts = UbuntuFacts();
  for (const char* id : {"fedora", "debian", "buildroot", "talos", ""})
    facts.groups.push_back({.os_id = id, .os_version = "1", .kernel = "6.1", .arch = "amd64", .runtime = "containerd"});
  EXPECT_EQ(GroupsWithoutDriverImage(PolicyWith(), facts).size(), 5U);
  EXPECT_EQ(GroupsWithoutDriverImage(PolicyWith("{driver: {enabled: false}}"), facts).size(), 0U);
  // An image of one's own is used for every OS that is known.
  EXPECT_EQ(GroupsWithoutDriverImage(PolicyWith("{driver: {repository: registry.example}}"), facts).size(), 1U);
}

TEST(GroupsTest, ThePlainNameStaysWithTheGroupThatHadIt) {
  Facts facts = UbuntuFacts();
  facts.groups.push_back({.os_id = "rhel", .os_version = "9.4", .runtime = "crio", .nodes = 50});
  const auto selector = [&](const char* label) {
    const data::Json body(FindObject(RenderAll(PolicyWith(), facts), "DaemonSet", "nvidia-driver-daemonset")->body);
    const auto* labels = data::Find(body, "spec.template.spec.nodeSelector");
    return std::string(labels->as_object().at(label).as_string());
  };
  EXPECT_EQ(selector(kOsLabel), "rhel9");  // nobody had it: the larger group
  facts.primary_os = "ubuntu24.04";
  EXPECT_EQ(selector(kOsLabel), "ubuntu24.04");
  facts.primary_os = "sles15.6";  // no node of it any more
  EXPECT_EQ(selector(kOsLabel), "rhel9");
}

TEST(MigLayoutsTest, Hold81NamesAndAreValidYaml) {
  const Objects objects = RenderAll(PolicyWith(), UbuntuFacts());
  const data::Json map(FindObject(objects, "ConfigMap", "default-mig-parted-config")->body);
  const auto& text = data::Find(map, "data")->as_object().at("config.yaml").as_string();
  EXPECT_THAT(std::string(text), HasSubstr("all-1g.10gb.me:\n  - devices: all\n    mig-enabled: true"));
  std::size_t names = 0;
  for (std::size_t at = text.find("\n  all-"); at != std::string::npos; at = text.find("\n  all-", at + 1)) ++names;
  EXPECT_EQ(names, 81U);
}

}  // namespace
}  // namespace gpuop::operands::testing
