#include "operands/nfd/master/node_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "data/yaml.h"

namespace gpuop::operands::nfd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

RuleList Rules(const char* yaml) {
  data::Json rules = *data::ParseYaml(yaml);
  for (data::Json& rule : rules.get_array()) rule.get_object()["name"] = "r";
  return ReadRules("test", rules);
}

NodeWish Wish(const char* yaml, const NodeSettings& settings, const TextMap& labels = {}) {
  const RuleList rules = Rules(yaml);
  Features features;
  features.attributes["a.b"] = {{"x", "2"}};
  return WishFor(features, labels, {&rules}, settings);
}

TEST(NameRulesTest, NamespacesAreAllowedAsNfdHasIt) {
  NameRules rules;
  rules.extra_label_ns = {"custom.vendor.io", "node.kubernetes.io"};
  rules.deny_label_ns = {"*.denied.ns", "random.unwanted.ns", "*.vendor.io"};
  struct Case {
    const char *name, *want;
  };
  // An empty wish is a refusal.
  for (const Case& c : {Case{"plain", "feature.node.kubernetes.io/plain"},
                        {"feature.node.kubernetes.io/x", "feature.node.kubernetes.io/x"},
                        {"sub.feature.node.kubernetes.io/x", "sub.feature.node.kubernetes.io/x"},
                        {"profile.node.kubernetes.io/x", "profile.node.kubernetes.io/x"},
                        {"a.profile.node.kubernetes.io/x", "a.profile.node.kubernetes.io/x"},
                        {"example.com/x", "example.com/x"},
                        {"node.kubernetes.io/x", "node.kubernetes.io/x"},
                        {"custom.vendor.io/x", "custom.vendor.io/x"},
                        {"other.vendor.io/x", ""},
                        {"vendor.io/x", "vendor.io/x"},
                        {"some.denied.ns/x", ""},
                        {"denied.ns/x", "denied.ns/x"},
                        {"random.unwanted.ns/x", ""},
                        {"kubernetes.io/x", ""},
                        {"sub.kubernetes.io/x", ""},
                        {"node-role.kubernetes.io/gpu", ""},
                        {"xkubernetes.io/x", "xkubernetes.io/x"},
                        {"", ""},
                        {"a b", ""},
                        {"a/b/c", ""},
                        {"/x", ""},
                        {"x/", ""},
                        {"invalid-key:", ""}}) {
    const auto got = rules.LabelName(c.name);
    EXPECT_EQ(got.value_or(""), c.want) << c.name << (got ? "" : ": " + got.error().text);
  }
  rules.auto_prefix = false;
  EXPECT_FALSE(rules.LabelName("plain"));
  rules.label_whitelist = *data::Regex::Compile("^ok");
  EXPECT_TRUE(rules.LabelName("example.com/okay"));
  EXPECT_FALSE(rules.LabelName("ok.example.com/no"));
}

TEST(NodePlanTest, ANameWithANamespaceWinsOverTheSameWithout) {
  const NodeWish wish = Wish("- labels: {dup: a, feature.node.kubernetes.io/dup: b}", {},
                             {{"own", "1"}, {"feature.node.kubernetes.io/own", "2"}});
  EXPECT_THAT(wish.labels, UnorderedElementsAre(Pair("feature.node.kubernetes.io/dup", "b"),
                                                Pair("feature.node.kubernetes.io/own", "2")));
}

TEST(NodePlanTest, AnnotationsTakeLongTextsAndOnlyAllowedNamespaces) {
  std::string yaml =
      "- annotations: {default-ns: x, custom.vendor.io/feature: baz, kubernetes.io/a: x, subns.kubernetes.io/a: x,\n"
      "    nfd.node.kubernetes.io/a: x, dynamic: \"@a.b.x\", long: \"" +
      std::string(1024, 'y') + "\", longer: \"" + std::string(1100, 'y') + "\"}";
  const NodeWish wish = Wish(yaml.c_str(), {});
  EXPECT_THAT(wish.annotations, UnorderedElementsAre(Pair("feature.node.kubernetes.io/default-ns", "x"),
                                                     Pair("custom.vendor.io/feature", "baz"),
                                                     Pair("feature.node.kubernetes.io/dynamic", "@a.b.x"),
                                                     Pair("feature.node.kubernetes.io/long", std::string(1024, 'y'))));
  EXPECT_EQ(wish.problems.size(), 4U);
}

TEST(NodePlanTest, TaintsNeedANamespaceAndAnEffectAndLeave) {
  const char* yaml = R"(
- taints:
  - {key: feature.node.kubernetes.io/a, value: v, effect: NoSchedule}
  - {key: vendor.io/b, effect: NoExecute}
  - {key: kubernetes.io/denied-1, effect: NoSchedule}
  - {key: node.kubernetes.io/denied-2, effect: NoSchedule}
  - {key: unprefixed-taint, effect: NoSchedule}
  - {key: vendor.io/c, effect: Sometimes}
  - {key: vendor.io/d, effect: ""}
)";
  NodeSettings settings;
  EXPECT_TRUE(Wish(yaml, settings).taints.empty());
  settings.enable_taints = true;
  const NodeWish wish = Wish(yaml, settings);
  EXPECT_EQ(wish.problems.size(), 5U);
  NodeState node;
  node.taints = {{"nvidia.com/gpu", "", "NoSchedule", ""}};
  const NodePatch patch = PlanNode(node, wish, settings);
  ASSERT_TRUE(patch.node);
  EXPECT_EQ(data::ToJson(*data::Find(*patch.node, "spec.taints")),
            R"([{"key":"nvidia.com/gpu","effect":"NoSchedule"},)"
            R"({"key":"feature.node.kubernetes.io/a","effect":"NoSchedule","value":"v"},)"
            R"({"key":"vendor.io/b","effect":"NoExecute"}])");
  const auto& notes = data::Find(*patch.node, "metadata.annotations")->get_object();
  EXPECT_EQ(data::AsView(notes.at("nfd.node.kubernetes.io/taints").get_string()),
            "feature.node.kubernetes.io/a=v:NoSchedule,vendor.io/b:NoExecute");
}

TEST(NodePlanTest, OnlyWhatIsNotedAsOursIsEverTakenAway) {
  NodeState node;
  node.labels = {{"feature.node.kubernetes.io/ours", "1"}, {"feature.node.kubernetes.io/theirs", "1"}};
  node.annotations = {{"nfd.node.kubernetes.io/feature-labels", "ours,never.seen/x"},
                      {"nfd.node.kubernetes.io/extended-resources", "vendor.io/r"},
                      {"nfd.node.kubernetes.io/worker.version", "v0.14"}};
  node.capacity = {{"vendor.io/r", "2"}, {"cpu", "8"}};
  const NodePatch patch = PlanNode(node, {}, {});
  ASSERT_TRUE(patch.node && patch.status);
  EXPECT_EQ(data::ToJson(*patch.node),
            R"({"metadata":{"labels":{"feature.node.kubernetes.io/ours":null},"annotations":{)"
            R"("nfd.node.kubernetes.io/feature-labels":null,"nfd.node.kubernetes.io/extended-resources":null,)"
            R"("nfd.node.kubernetes.io/worker.version":null}}})");
  EXPECT_EQ(data::ToJson(*patch.status),
            R"({"status":{"capacity":{"vendor.io/r":null},"allocatable":{"vendor.io/r":null}}})");
}

TEST(NodePlanTest, AnInstanceKeepsItsOwnNotes) {
  NodeSettings settings;
  settings.instance_prefix = "second.";
  NodeState node;
  node.labels = {{"feature.node.kubernetes.io/ours", "1"}};
  node.annotations = {{"nfd.node.kubernetes.io/feature-labels", "ours"}};
  const NodePatch patch = PlanNode(node, Wish("- labels: {a: \"1\"}", settings), settings);
  ASSERT_TRUE(patch.node);
  EXPECT_EQ(data::ToJson(*patch.node), R"({"metadata":{"labels":{"feature.node.kubernetes.io/a":"1"},)"
                                       R"("annotations":{"second.nfd.node.kubernetes.io/feature-labels":"a"}}})");
}

TEST(NodePlanTest, WithoutOverwritingOthersLabelsStay) {
  NodeSettings settings;
  settings.allow_overwrite = false;
  NodeState node;
  node.labels = {{"feature.node.kubernetes.io/a", "by hand"}};
  const NodePatch patch = PlanNode(node, Wish("- labels: {a: \"1\", b: \"2\"}", settings), settings);
  ASSERT_TRUE(patch.node);
  EXPECT_EQ(data::ToJson(*data::Find(*patch.node, "metadata.labels")), R"({"feature.node.kubernetes.io/b":"2"})");
  EXPECT_THAT(data::ToJson(*patch.node), HasSubstr(R"("nfd.node.kubernetes.io/feature-labels":"b")"));
}

TEST(NodePlanTest, ResourcesMustBeQuantitiesAndMayBeTakenFromFeatures) {
  const NodeWish wish = Wish(
      "- extendedResources: {vendor.io/a: \"@a.b.x\", plain: 3k, kubernetes.io/bad: \"1\", vendor.io/n: abc, "
      "\"invalid-name~\": \"1\"}",
      {});
  EXPECT_THAT(wish.extended_resources,
              UnorderedElementsAre(Pair("vendor.io/a", "2"), Pair("feature.node.kubernetes.io/plain", "3k")));
  EXPECT_EQ(wish.problems.size(), 3U);
}

TEST(NodePlanTest, RestrictionsSwitchKindsOff) {
  NodeSettings settings;
  settings.labels = settings.annotations = settings.extended_resources = false;
  const NodeWish wish =
      Wish("- {labels: {a: \"1\"}, annotations: {b: \"1\"}, extendedResources: {c.d/e: \"1\"}}", settings);
  EXPECT_TRUE(wish.labels.empty() && wish.annotations.empty() && wish.extended_resources.empty());
  settings.labels = true;
  settings.node_feature_labels = false;
  EXPECT_THAT(Wish("- labels: {a: \"1\"}", settings, {{"b", "1"}}).labels,
              ElementsAre(Pair("feature.node.kubernetes.io/a", "1")));
}

}  // namespace
}  // namespace gpuop::operands::nfd
