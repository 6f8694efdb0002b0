#include "operator/node_plan.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "data/json.h"
#include "operands/labels.h"
#include "operator/names.h"

namespace gpuop::op {
namespace {

/// A node of labels "key=value" (with "pci" for the PCI label), Ubuntu 24.04 on containerd.
NodeState NodeWith(const std::string& labels, bool offers_gpus = false) {
  NodeState node;
  node.meta.name = "n1";
  node.meta.uid = "u1";
  node.kernel = "6.8.0-31-generic";
  node.runtime_version = "containerd://2.1.0";
  node.arch = "amd64";
  node.offers_gpus = offers_gpus;
  std::size_t at = 0;
  while (at < labels.size()) {
    const std::size_t end = std::min(labels.find(' ', at), labels.size());
    const std::string pair = labels.substr(at, end - at);
    const std::size_t equals = pair.find('=');
    std::string key = pair.substr(0, equals);
    if (key == "pci") key = "feature.node.kubernetes.io/pci-10de.present";
    if (key.starts_with("nfd/")) key = "feature.node.kubernetes.io/" + key.substr(4);
    if (key.starts_with("deploy/")) key = "nvidia.com/gpu.deploy." + key.substr(7);
    if (!key.contains('/')) key = "nvidia.com/" + key;
    node.meta.labels.Set(key, equals == std::string::npos ? "true" : pair.substr(equals + 1));
    at = end + 1;
  }
  return node;
}

api::ClusterPolicySpec SpecWith(const std::string& patch) {
  const data::Json json =
      data::ParseJson(
          R"({"spec":{"operator":{},"daemonsets":{},"driver":{},"toolkit":{},"devicePlugin":{},"dcgm":{"enabled":false},)"
          R"("dcgmExporter":{},"gfd":{},"nodeStatusExporter":{}}})")
          .value();
  boost::json::object object = json.as_object();
  for (const auto& [key, value] : data::ParseJson(patch)->as_object()) object["spec"].as_object()[key] = value;
  object["metadata"] = boost::json::object{{"name", "p"}};
  auto policy = api::ClusterPolicy::FromJson(object);
  EXPECT_EQ(policy->error, "");
  return policy->spec;
}

/// The patch in one line: "gpu.present=true -gpu.deploy.driver @gpu-driver-upgrade-enabled=true", without our group
/// labels.
std::string Text(const NodePatch& patch) {
  std::string out;
  const auto add = [&out](std::string key, const std::optional<std::string>& value, const char* mark) {
    if (key.starts_with("nvidia.com/gpu-operator.") && !key.ends_with("owner")) return;
    if (key.starts_with("nvidia.com/")) key = key.substr(11);
    if (key.starts_with("gpu.deploy.")) key = "deploy/" + key.substr(11);
    out.append(out.empty() ? "" : " ").append(value ? "" : "-").append(mark).append(key);
    if (value) out.append("=").append(*value);
  };
  for (const auto& [key, value] : patch.labels) add(key, value, "");
  for (const auto& [key, value] : patch.annotations) add(key, value, "@");
  return out;
}

std::string Plan(const std::string& labels, const std::string& spec, bool offers = false, bool held = false) {
  const api::ClusterPolicySpec policy = SpecWith(spec);
  const LabelRules rules = RulesOf(&policy, false);
  const DriverRouting drivers({});
  return Text(PlanNode(NodeWith(labels, offers), {rules, drivers, held, false, false}).patch);
}

constexpr const char* kContainerSet =
    "deploy/client=true deploy/container-toolkit=true deploy/dcgm-exporter=true deploy/device-plugin=true "
    "deploy/driver=true deploy/gpu-feature-discovery=true deploy/operator-validator=true";
constexpr const char* kAllSet =
    " gpu.present deploy/client deploy/container-toolkit deploy/dcgm-exporter deploy/device-plugin deploy/driver "
    "deploy/gpu-feature-discovery deploy/operator-validator";

struct Case {
  const char* name;
  std::string labels, spec, want;
  bool offers = false, held = false;
};

class NodePlanTest : public testing::TestWithParam<Case> {};

TEST_P(NodePlanTest, ChangesOnlyWhatIsWrong) {
  const Case& c = GetParam();
  EXPECT_EQ(Plan(c.labels, c.spec, c.offers, c.held), c.want);
}

const std::string kSandbox = R"({"sandboxWorkloads":{"enabled":true,"mode":"kubevirt"},"vfioManager":{"enabled":true},)"
                             R"("sandboxDevicePlugin":{"enabled":true},"vgpuDeviceManager":{"enabled":true}})";
const std::string kKata = R"({"sandboxWorkloads":{"enabled":true,"mode":"kata"},"vfioManager":{"enabled":true},)"
                          R"("kataSandboxDevicePlugin":{"enabled":true},"ccManager":{"enabled":true}})";

INSTANTIATE_TEST_SUITE_P(
    Presence, NodePlanTest,
    testing::Values(
        Case{"ANewGpuNodeGetsEverythingAtOnce", "pci", "{}", std::string(kContainerSet) + " gpu.present=true"},
        Case{"DisplayControllersCountToo", "nfd/pci-0300_10de.present", "{}",
             std::string(kContainerSet) + " gpu.present=true"},
        Case{"ThreeDControllersCountToo", "nfd/pci-0302_10de.present", "{}",
             std::string(kContainerSet) + " gpu.present=true"},
        Case{"AnotherVendorsDoNot", "nfd/pci-0300_1d0f.present", "{}", ""},
        Case{"NorDoNetworkCards", "nfd/pci-0200_15b3.present", "{}", ""},
        Case{"PresentFalseByHandIsCorrected", "pci gpu.present=false", "{}",
             std::string(kContainerSet) + " gpu.present=true"},
        Case{"WhatIsRightStays", std::string("pci") + kAllSet, "{}", ""},
        Case{"ALostPciLabelAloneChangesNothing", std::string("nfd/cpu-model.family=6") + kAllSet, "{}", ""},
        Case{"AllDiscoveryLabelsLostChangesNothing", kAllSet + 1, "{}", "", false, true},
        Case{"AbsenceWithGpusOnOfferIsNoProof", std::string("nfd/cpu-model.family=6") + kAllSet, "{}", "", true, true},
        Case{"AbsenceHeldRemovesTheOperands", std::string("nfd/cpu-model.family=6") + kAllSet, "{}",
             "-deploy/client -deploy/container-toolkit -deploy/dcgm-exporter -deploy/device-plugin -deploy/driver "
             "-deploy/gpu-feature-discovery -deploy/operator-validator gpu.present=false",
             false, true},
        Case{"AbsenceHeldKeepsAPersonsNo", "nfd/cpu-model.family=6 gpu.present deploy/driver=false deploy/client", "{}",
             "-deploy/client gpu.present=false", false, true},
        Case{"LeftoversOnPlainNodesGo", "deploy/driver deploy/dcgm=false", "{}", "-deploy/driver"}),
    [](const auto& c) { return std::string(c.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Switches, NodePlanTest,
    testing::Values(
        Case{"APersonsNoStays",
             std::string("pci deploy/driver=false gpu.present deploy/client deploy/container-toolkit ") +
                 "deploy/dcgm-exporter deploy/device-plugin deploy/gpu-feature-discovery deploy/operator-validator",
             "{}", ""},
        Case{"PreInstalledStays", "pci gpu.present deploy/driver=pre-installed deploy/operands=false", "{}", ""},
        Case{"PausedStays",
             std::string("pci deploy/device-plugin=paused-for-driver-upgrade gpu.present deploy/client ") +
                 "deploy/container-toolkit deploy/dcgm-exporter deploy/driver deploy/gpu-feature-discovery "
                 "deploy/operator-validator",
             "{}", ""},
        Case{"AnEmptyValueIsNone",
             std::string("pci deploy/driver= gpu.present deploy/client deploy/container-toolkit ") +
                 "deploy/dcgm-exporter deploy/device-plugin deploy/gpu-feature-discovery deploy/operator-validator",
             "{}", "deploy/driver=true"},
        Case{"ARemovedLabelComesBack",
             "pci gpu.present deploy/client deploy/container-toolkit deploy/device-plugin "
             "deploy/driver deploy/gpu-feature-discovery deploy/operator-validator",
             "{}", "deploy/dcgm-exporter=true"},
        Case{"NoOperandsOnThisNode", std::string("pci deploy/operands=false") + kAllSet, "{}",
             "-deploy/client -deploy/container-toolkit -deploy/dcgm-exporter -deploy/device-plugin -deploy/driver "
             "-deploy/gpu-feature-discovery -deploy/operator-validator"},
        Case{"DisabledOperandsHaveNoLabel", std::string("pci") + kAllSet,
             R"({"driver":{"enabled":false},"toolkit":{"enabled":false},"gfd":{"enabled":false}})",
             "-deploy/container-toolkit -deploy/driver -deploy/gpu-feature-discovery"},
        Case{"UnknownDeployKeysStay", std::string("pci deploy/something-else") + kAllSet, "{}", ""},
        Case{"DraLabelsOfAnotherStackGo", std::string("pci deploy/dra-driver deploy/dcgm-dra") + kAllSet, "{}",
             "-deploy/dcgm-dra -deploy/dra-driver"},
        Case{"AutoUpgradeIsAnnotated", std::string("pci") + kAllSet,
             R"({"driver":{"upgradePolicy":{"autoUpgrade":true}}})", "@gpu-driver-upgrade-enabled=true"}),
    [](const auto& c) { return std::string(c.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Mig, NodePlanTest,
    testing::Values(
        Case{"CapableGetsTheManagerAndItsDefault", std::string("pci mig.capable") + kAllSet,
             R"({"migManager":{"config":{}}})", "deploy/mig-manager=true mig.config=all-disabled"},
        Case{"WithoutConfigThereIsNoDefault", std::string("pci mig.capable") + kAllSet, "{}",
             "deploy/mig-manager=true"},
        Case{"TheDefaultCanBeNone", std::string("pci mig.capable") + kAllSet,
             R"({"migManager":{"config":{"default":""}}})", "deploy/mig-manager=true"},
        Case{"AnExistingConfigStays", std::string("pci mig.capable mig.config=all-1g.10gb") + kAllSet,
             R"({"migManager":{"config":{}}})", "deploy/mig-manager=true"},
        Case{"ByProductA100", std::string("pci gpu.product=NVIDIA-A100-SXM4-40GB") + kAllSet, "{}",
             "deploy/mig-manager=true"},
        Case{"ByProductH100", std::string("pci gpu.product=NVIDIA-H100-80GB") + kAllSet, "{}",
             "deploy/mig-manager=true"},
        Case{"ByProductA30", std::string("pci gpu.product=NVIDIA-A30") + kAllSet, "{}", "deploy/mig-manager=true"},
        Case{"NotT4", std::string("pci gpu.product=NVIDIA-T4") + kAllSet, "{}", ""},
        Case{"CapableFalseWinsOverProduct", std::string("pci mig.capable=false gpu.product=NVIDIA-A100") + kAllSet,
             "{}", ""},
        Case{"NotOnVgpuHosts", std::string("pci vgpu.host-driver-version=535.54 mig.capable") + kAllSet, "{}", ""},
        Case{"SilenceKeepsTheManager", std::string("pci deploy/mig-manager") + kAllSet, "{}", ""},
        Case{"NoLongerCapableLosesIt", std::string("pci deploy/mig-manager mig.capable=false") + kAllSet, "{}",
             "-deploy/mig-manager"},
        Case{"SwitchedOffLosesIt", std::string("pci deploy/mig-manager mig.capable") + kAllSet,
             R"({"migManager":{"enabled":false}})", "-deploy/mig-manager"}),
    [](const auto& c) { return std::string(c.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Sandbox, NodePlanTest,
    testing::Values(Case{"Passthrough", "pci gpu.workload.config=vm-passthrough", kSandbox,
                         "deploy/client=true deploy/sandbox-device-plugin=true deploy/sandbox-validator=true "
                         "deploy/vfio-manager=true gpu.present=true"},
                    Case{"PassthroughWithKata", "pci gpu.workload.config=vm-passthrough", kKata,
                         "deploy/cc-manager=true deploy/client=true deploy/kata-sandbox-device-plugin=true "
                         "deploy/sandbox-validator=true deploy/vfio-manager=true gpu.present=true"},
                    Case{"Vgpu", "pci gpu.workload.config=vm-vgpu", kSandbox,
                         "deploy/client=true deploy/sandbox-device-plugin=true deploy/sandbox-validator=true "
                         "deploy/vgpu-device-manager=true gpu.present=true"},
                    Case{"WithoutSandboxTheLabelIsNotRead",
                         std::string("pci gpu.workload.config=vm-passthrough") + kAllSet, "{}", ""},
                    Case{"AWrongWordDecidesNothing", std::string("pci gpu.workload.config=kata") + kAllSet, kSandbox,
                         ""},
                    Case{"AWrongWordDeploysNothing", "pci gpu.workload.config=kata", kSandbox, "gpu.present=true"}),
    [](const auto& c) { return std::string(c.param.name); });

/// The steps of a node that leaves one workload for another: who uses GPUs, the one's operands, the other's.
TEST(NodePlanTest, AWorkloadLeavesBeforeAnotherComes) {
  const api::ClusterPolicySpec policy = SpecWith(kSandbox);
  const LabelRules rules = RulesOf(&policy, false);
  const DriverRouting drivers({});
  NodeState node = NodeWith(std::string("pci gpu.workload.config=vm-passthrough") + kAllSet);
  const auto plan = [&](bool gpus_in_use, std::set<std::string, std::less<>> running) {
    return PlanNode(node,
                    {.rules = rules, .drivers = drivers, .gpus_in_use = gpus_in_use, .running = std::move(running)});
  };
  NodePlan out = plan(true, {"driver"});
  EXPECT_EQ(Text(out.patch), "");
  EXPECT_TRUE(out.changing_workload);
  EXPECT_EQ(out.patch.annotations.at(std::string(kWorkloadChanging)), "true");
  node.meta.annotations.Set(kWorkloadChanging, "true");
  out = plan(false, {"driver"});
  EXPECT_EQ(Text(out.patch),
            "-deploy/container-toolkit -deploy/dcgm-exporter -deploy/device-plugin -deploy/driver "
            "-deploy/gpu-feature-discovery -deploy/operator-validator");
  EXPECT_TRUE(out.changing_workload);
  node.meta.labels = NodeWith("pci gpu.workload.config=vm-passthrough gpu.present deploy/client").meta.labels;
  out = plan(false, {"driver", "client"});
  EXPECT_EQ(Text(out.patch), "");
  EXPECT_TRUE(out.changing_workload);
  out = plan(false, {"client"});
  EXPECT_EQ(Text(out.patch),
            "deploy/sandbox-device-plugin=true deploy/sandbox-validator=true deploy/vfio-manager=true");
  EXPECT_FALSE(out.changing_workload);
  EXPECT_EQ(out.patch.annotations.at(std::string(kWorkloadChanging)), std::nullopt);
}

TEST(NodePlanTest, WithoutAPolicyWhatIsOursGoes) {
  const LabelRules rules = RulesOf(nullptr, false);
  const DriverRouting drivers({});
  NodeState node =
      NodeWith(std::string("pci mig.config=all-disabled gpu.workload.config=container deploy/dcgm=false ") +
               "deploy/device-plugin=paused-for-driver-upgrade gpu.product=A100 gpu.present deploy/driver");
  node.meta.annotations.Set("nvidia.com/gpu-driver-upgrade-enabled", "true");
  EXPECT_EQ(Text(PlanNode(node, {rules, drivers, false, false, false}).patch),
            "-deploy/device-plugin -deploy/driver -gpu.present -mig.config -@gpu-driver-upgrade-enabled");
}

struct MarksCase {
  const char *name, *labels, *spec, *recorded;
  const char *record, *leftovers;  ///< what is written down then ("-": nothing new), and what must go
};
class MarksPlanTest : public testing::TestWithParam<MarksCase> {};
/// Which marks of operands are written down, and which are left over. "V" is the validator's.
TEST_P(MarksPlanTest, KnowsWhatOperandsMayHaveLeft) {
  const MarksCase& c = GetParam();
  const auto in_full = [](std::string text) {
    if (const auto at = text.find('V'); at != std::string::npos) text.replace(at, 1, "gpu-operator.dev/GPUReady");
    return text;
  };
  const bool no_policy = *c.spec == 0;
  const api::ClusterPolicySpec policy = SpecWith(no_policy ? "{}" : c.spec);
  const LabelRules rules = RulesOf(no_policy ? nullptr : &policy, false);
  const DriverRouting drivers({});
  NodeState node = NodeWith(c.labels);
  if (*c.recorded != 0) node.meta.annotations.Set(kNodeMarks, in_full(c.recorded));
  const NodePlan plan = PlanNode(node, {rules, drivers, false, false, false});
  const auto it = plan.patch.annotations.find(std::string(kNodeMarks));
  EXPECT_EQ(it == plan.patch.annotations.end() ? "-" : it->second.value_or("removed"), in_full(c.record));
  EXPECT_EQ(TextOf(plan.leftovers), in_full(c.leftovers));
  const auto present = plan.patch.labels.find(std::string(kGpuPresent));
  if (!rules.none) return;
  EXPECT_EQ(present == plan.patch.labels.end(), *c.leftovers != 0) << "who uninstalls waits for it";
  EXPECT_EQ(Text(plan.last), *c.leftovers != 0 ? "-gpu.present" : "");
}
constexpr const char* kGateOn = R"({"devicePlugin":{"env":[{"name":"READINESS_TAINT","value":"a/b:NoSchedule"}]}})";
constexpr const char* kGateOnPluginOff =
    R"({"devicePlugin":{"enabled":false,"env":[{"name":"READINESS_TAINT","value":"a/b:NoSchedule"}]}})";
constexpr const char* kSandboxed = R"({"sandboxWorkloads":{"enabled":true,"defaultWorkload":"vm-passthrough"}})";
INSTANTIATE_TEST_SUITE_P(
    All, MarksPlanTest,
    testing::Values(
        MarksCase{"TheValidatorMarksItsNodes", "pci", "{}", "", "V", ""},
        MarksCase{"OnceIsEnough", "pci", kGateOn, "a/b:NoSchedule,V", "-", ""},
        MarksCase{"ANodeWithoutGpusIsNotMarked", "nfd/kernel", "{}", "", "-", ""},
        MarksCase{"NorOneWithoutAnyOperand", "pci gpu.deploy.operands=false", "{}", "", "-", ""},
        MarksCase{"NorOneOfVirtualMachines", "pci", kSandboxed, "", "-", ""},
        MarksCase{"APersonsNoToTheValidator", "pci deploy/operator-validator=false", "{}", "V", "-", "V"},
        MarksCase{"APausedValidatorComesBack", "pci deploy/operator-validator=paused-for-driver-upgrade", "{}", "V",
                  "-", ""},
        MarksCase{"ANewNodeSaysWhatMayMarkIt", "pci", kGateOn, "", "a/b:NoSchedule,V", ""},
        MarksCase{"AnotherKeyLeavesTheFirst", "pci", kGateOn, "c/d:NoSchedule,V", "a/b:NoSchedule,c/d:NoSchedule,V",
                  "c/d:NoSchedule"},
        MarksCase{"SwitchedOffItIsLeftOver", "pci", "{}", "a/b:NoSchedule,V", "-", "a/b:NoSchedule"},
        MarksCase{"AsWithoutAPolicy", "pci gpu.present", "", "C,a/b:NoSchedule,V", "-", "C,a/b:NoSchedule,V"},
        MarksCase{"WithoutAPolicyAndMarksTheLabelGoes", "pci gpu.present", "", "", "-", ""},
        MarksCase{"APersonsNoToThePlugin", "pci deploy/device-plugin=false", kGateOn, "a/b:NoSchedule,V", "-",
                  "a/b:NoSchedule"},
        MarksCase{"NoWithoutAnyMarkIsNoMark", "pci deploy/device-plugin=false", kGateOn, "", "V", ""},
        MarksCase{"APausedPluginComesBack", "pci deploy/device-plugin=paused-for-driver-upgrade", kGateOn,
                  "a/b:NoSchedule,V", "-", ""},
        MarksCase{"ThePluginIsSwitchedOff", "pci", kGateOnPluginOff, "a/b:NoSchedule,V", "-", "a/b:NoSchedule"},
        MarksCase{"ANodeThatIsNoneOfOurs", "", kGateOn, "a/b:NoSchedule,V", "-", "a/b:NoSchedule,V"}),
    [](const auto& c) { return std::string(c.param.name); });

/// The annotation that hands a node's driver upgrades to the operator comes with the setting and goes with it.
TEST(NodePlanTest, TheUpgradeAnnotationIsRemovedNotMadeFalse) {
  const DriverRouting drivers({});
  const auto plan = [&](const char* spec, const char* now) {
    const api::ClusterPolicySpec policy = SpecWith(spec);
    NodeState node = NodeWith(std::string("pci") + kAllSet);
    if (*now != 0) node.meta.annotations.Set(kUpgradeEnabled, now);
    const LabelRules rules = RulesOf(&policy, false);
    return Text(PlanNode(node, {rules, drivers, false, false, false}).patch);
  };
  constexpr const char* kOn = R"({"driver":{"upgradePolicy":{"autoUpgrade":true}}})";
  EXPECT_EQ(plan(kOn, "true"), "");
  EXPECT_EQ(plan(kOn, "false"), "@gpu-driver-upgrade-enabled=true");
  EXPECT_EQ(plan("{}", ""), "");
  EXPECT_EQ(plan("{}", "true"), "-@gpu-driver-upgrade-enabled");
  EXPECT_EQ(plan("{}", "false"), "-@gpu-driver-upgrade-enabled");
  EXPECT_EQ(plan(R"({"sandboxWorkloads":{"enabled":true},"driver":{"upgradePolicy":{"autoUpgrade":true}}})", "true"),
            "-@gpu-driver-upgrade-enabled")
      << "virtual machines' nodes are nobody's to upgrade";
}

struct OrphanCase {
  const char* name;
  bool orphan, owned;
  const char *state, *wants;  ///< the upgrade state before, and what is written ("": nothing)
};
class OrphanTest : public testing::TestWithParam<OrphanCase> {};
/// A driver that the policy left running is replaced where an NVIDIADriver owns the node and no upgrade is under way.
TEST_P(OrphanTest, IsMarkedForItsReplacementOnce) {
  const OrphanCase& c = GetParam();
  auto driver = std::make_shared<api::NvidiaDriver>();
  driver->meta.name = "d";
  driver->spec.is_default = true;
  std::vector<std::shared_ptr<const api::NvidiaDriver>> list;
  if (c.owned) list.push_back(driver);
  const DriverRouting drivers(list);
  const api::ClusterPolicySpec policy = SpecWith(R"({"driver":{"useNvidiaDriverCRD":true}})");
  const LabelRules rules = RulesOf(&policy, true);
  NodeState node = NodeWith(std::string("pci") + kAllSet);
  if (*c.state != 0) node.meta.labels.Set(kUpgradeState, c.state);
  const NodePlan plan = PlanNode(node, {rules, drivers, false, false, c.orphan});
  const auto it = plan.patch.labels.find(std::string(kUpgradeState));
  EXPECT_EQ(it == plan.patch.labels.end() ? "" : it->second.value_or("removed"), c.wants);
}
INSTANTIATE_TEST_SUITE_P(
    All, OrphanTest,
    testing::Values(OrphanCase{"ItsNodeIsOwned", true, true, "", "upgrade-required"},
                    OrphanCase{"AnEarlierUpgradeIsDone", true, true, "upgrade-done", "upgrade-required"},
                    OrphanCase{"AlreadyMarked", true, true, "upgrade-required", ""},
                    OrphanCase{"UnderWay", true, true, "drain-required", ""},
                    OrphanCase{"Failed", true, true, "upgrade-failed", ""},
                    OrphanCase{"NobodyOwnsTheNode", true, false, "", ""}, OrphanCase{"NoOrphan", false, true, "", ""},
                    OrphanCase{"NoOrphanAndDone", false, true, "upgrade-done", ""}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(NodePlanTest, AbsenceIsToldWhileItIsNotHeldLongEnough) {
  const api::ClusterPolicySpec policy = SpecWith("{}");
  const LabelRules rules = RulesOf(&policy, false);
  const DriverRouting drivers({});
  EXPECT_TRUE(
      PlanNode(NodeWith("nfd/cpu-model.family=6 gpu.present"), {rules, drivers, false, false, false}).absence_pending);
  EXPECT_FALSE(PlanNode(NodeWith("gpu.present"), {rules, drivers, false, false, false}).absence_pending);
}

TEST(NodePlanTest, GroupLabelsSayWhatManifestsSelectBy) {
  const api::ClusterPolicySpec policy = SpecWith("{}");
  const LabelRules rules = RulesOf(&policy, false);
  const DriverRouting drivers({});
  const auto patch = PlanNode(NodeWith("pci nfd/system-os_release.ID=ubuntu nfd/system-os_release.VERSION_ID=24.04"),
                              {rules, drivers, false, false, false})
                         .patch;
  EXPECT_EQ(patch.labels.at("nvidia.com/gpu-operator.os"), "ubuntu24.04");
  EXPECT_EQ(patch.labels.at("nvidia.com/gpu-operator.runtime"), "containerd");
  EXPECT_EQ(patch.labels.at("nvidia.com/gpu-operator.kernel"), "6.8.0-31-generic");
}

struct SystemCase {
  const char *id, *version, *tag;
};
class OsLabelTest : public testing::TestWithParam<SystemCase> {};
/// The tag outlives discovery's labels, in our own.
TEST_P(OsLabelTest, IsRememberedWhenDiscoveryIsSilent) {
  NodeState node = NodeWith("gpu.present");
  node.meta.labels.Set("feature.node.kubernetes.io/system-os_release.ID", GetParam().id);
  node.meta.labels.Set("feature.node.kubernetes.io/system-os_release.VERSION_ID", GetParam().version);
  const auto labels = operands::GroupLabels(GroupOf(node));
  EXPECT_EQ(labels.at(operands::kOsLabel), GetParam().tag);
  NodeState silent = NodeWith("gpu.present");
  silent.meta.labels.Set(operands::kOsLabel, GetParam().tag);
  EXPECT_EQ(operands::GroupLabels(GroupOf(silent)).at(operands::kOsLabel), GetParam().tag);
  silent.meta.labels.Set("feature.node.kubernetes.io/system-os_release.ID", GetParam().id);
  EXPECT_EQ(operands::GroupLabels(GroupOf(silent)).at(operands::kOsLabel), GetParam().tag) << "half of it is back";
  silent.meta.labels.Set("feature.node.kubernetes.io/system-os_release.ID", "another");
  EXPECT_EQ(operands::GroupLabels(GroupOf(silent)).at(operands::kOsLabel), "another") << "the node was installed anew";
}
INSTANTIATE_TEST_SUITE_P(All, OsLabelTest,
                         testing::Values(SystemCase{"ubuntu", "24.04", "ubuntu24.04"},
                                         SystemCase{"rhel", "9.4", "rhel9"}, SystemCase{"rhel", "8.10", "rhel8"},
                                         SystemCase{"rhel", "10.2", "rhel10"}, SystemCase{"rocky", "9.5", "rocky9"},
                                         SystemCase{"ol", "9.5", "ol9"}, SystemCase{"sles", "15.6", "sles15.6"},
                                         SystemCase{"sles", "15-SP6", "sles15-SP6"},
                                         SystemCase{"sl-micro", "6.0", "sl-micro6.0"},
                                         SystemCase{"talos", "v1.12.6", "talosv1.12.6"},
                                         SystemCase{"archlinux", "rolling", "archlinuxrolling"}));

TEST(RuntimeTest, IsReadFromTheNodesVersion) {
  EXPECT_EQ(RuntimeOf("containerd://1.0.0"), "containerd");
  EXPECT_EQ(RuntimeOf("docker://1.0.0"), "docker");
  EXPECT_EQ(RuntimeOf("cri-o://1.0.0"), "crio");
  EXPECT_EQ(RuntimeOf("unknown://1.0.0"), "");
  EXPECT_EQ(RuntimeOf(""), "");
}

}  // namespace
}  // namespace gpuop::op
