#include "operands/nfd/master/master.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_executor.h"
#include "kube/counting_door.h"
#include "kube/door_fake.h"

namespace gpuop::operands::nfd {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::Contains;
using testing::Key;
using testing::Not;
using testing::Pair;

data::JsonObject NodeNamed(const std::string& name) {
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", name}, {"labels", {{"kubernetes.io/hostname", name}}}}},
          {"status", {{"capacity", {{"cpu", "8"}}}}}};
}

data::JsonObject FeatureOf(const std::string& node, const std::string& name, const std::string& ns,
                           const TextMap& labels) {
  Features features;
  features.attributes["kernel.version"]["major"] = "6";
  return {{"apiVersion", "nfd.k8s-sigs.io/v1alpha1"},
          {"kind", "NodeFeature"},
          {"metadata", {{"name", name}, {"namespace", ns}, {"labels", {{api::kNodeNameLabel, node}}}}},
          {"spec", {{"features", ToObject(features)}, {"labels", ToObject(labels)}}}};
}

/// A cluster, and a master beside it.
struct Bed {
  explicit Bed(Master::Options options = Options(), NodeSettings settings = {})
      : master(executor, kube::Client(door), std::move(options), std::move(settings), log, metrics) {}

  static Master::Options Options() {
    Master::Options out;
    out.ns = "nfd";
    return out;
  }
  void Start() {
    master.Start();
    master.Lead();
    executor.RunFor(seconds(2));
  }
  TextMap Labels(const std::string& node) {
    const auto object = api.Peek({NodeRecord::kResource, {}, node, {}});
    return NodeState::FromJson(*object)->labels;
  }
  std::string Label(const std::string& node, const std::string& name) {
    const TextMap labels = Labels(node);
    const auto it = labels.find(std::string(kFeatureNs) + "/" + name);
    return it == labels.end() ? "none" : it->second;
  }
  kube::ObjectRef Feature(const std::string& name) { return {api::kNodeFeature, "nfd", name, {}}; }

  VirtualExecutor executor{7};
  kube::FakeDoor api{executor};
  kube::CountingDoor door{api};
  FakeLog log;
  MetricRegistry metrics;
  Master master;
};

TEST(NfdMasterTest, OneWriteGivesANodeItsLabelsAndThenThereAreNone) {
  Bed bed;
  bed.api.Put(NodeRecord::kResource, NodeNamed("n1"));
  bed.api.Put(api::kNodeFeature, FeatureOf("n1", "n1", "nfd", {{"pci-10de.present", "true"}}));
  const kube::CallScope start(bed.door);
  bed.Start();
  EXPECT_EQ(bed.Label("n1", "pci-10de.present"), "true");
  EXPECT_EQ(start.Writes(), 1U);
  const kube::CallScope steady(bed.door);
  bed.executor.RunFor(minutes(4));
  EXPECT_EQ(steady.Writes(), 0U);
  bed.master.Refresh();
  bed.executor.RunFor(seconds(10));
  EXPECT_EQ(steady.Writes(), 0U);
}

TEST(NfdMasterTest, AWorkerThatIsAwayForAMomentChangesNothing) {
  Bed bed;
  bed.api.Put(NodeRecord::kResource, NodeNamed("n1"));
  bed.api.Put(api::kNodeFeature, FeatureOf("n1", "n1", "nfd", {{"a", "1"}}));
  bed.Start();
  const kube::CallScope calls(bed.door);
  bed.api.Remove(bed.Feature("n1"));
  bed.executor.RunFor(seconds(10));
  bed.api.Put(api::kNodeFeature, FeatureOf("n1", "n1", "nfd", {{"a", "1"}}));
  bed.executor.RunFor(minutes(2));
  EXPECT_EQ(bed.Label("n1", "a"), "1");
  EXPECT_EQ(calls.Writes(), 0U) << calls.ToString();
}

TEST(NfdMasterTest, AnObjectThatStaysAwayTakesItsLabelsWithItAfterTheGrace) {
  Bed bed;
  bed.api.Put(NodeRecord::kResource, NodeNamed("n1"));
  bed.api.Put(api::kNodeFeature, FeatureOf("n1", "n1", "nfd", {{"a", "1"}}));
  bed.api.Put(api::kNodeFeature, FeatureOf("n1", "gfd-n1", "nfd", {{"nvidia.com/gpu.count", "8"}}));
  bed.Start();
  bed.api.Remove(bed.Feature("gfd-n1"));
  bed.executor.RunFor(seconds(14));
  EXPECT_THAT(bed.Labels("n1"), Contains(Pair("nvidia.com/gpu.count", "8")));
  bed.executor.RunFor(seconds(3));
  EXPECT_THAT(bed.Labels("n1"), Not(Contains(Key("nvidia.com/gpu.count"))));
  EXPECT_EQ(bed.Label("n1", "a"), "1");
  bed.api.Remove(bed.Feature("n1"));
  bed.executor.RunFor(seconds(20));
  EXPECT_EQ(bed.Label("n1", "a"), "none");
}

TEST(NfdMasterTest, AtItsStartNothingIsTakenFromANodeThatNoObjectTellsOfYet) {
  Bed bed;
  data::JsonObject node = NodeNamed("n1");
  node["metadata"].get_object()["labels"].get_object()["feature.node.kubernetes.io/a"] = "1";
  node["metadata"].get_object()["annotations"] = data::JsonObject{{"nfd.node.kubernetes.io/feature-labels", "a"}};
  bed.api.Put(NodeRecord::kResource, node);
  bed.Start();
  bed.executor.RunFor(seconds(10));
  EXPECT_EQ(bed.Label("n1", "a"), "1");
  bed.api.Put(api::kNodeFeature, FeatureOf("n1", "n1", "nfd", {{"a", "1"}}));
  bed.executor.RunFor(minutes(5));
  EXPECT_EQ(bed.Label("n1", "a"), "1");
}

TEST(NfdMasterTest, WhileListsFailNothingIsWritten) {
  Bed bed;
  data::JsonObject node = NodeNamed("n1");
  node["metadata"].get_object()["annotations"] = data::JsonObject{{"nfd.node.kubernetes.io/feature-labels", "a"}};
  node["metadata"].get_object()["labels"].get_object()["feature.node.kubernetes.io/a"] = "1";
  bed.api.Put(NodeRecord::kResource, node);
  bed.api.Put(api::kNodeFeature, FeatureOf("n1", "n1", "nfd", {{"a", "1"}}));
  bool down = true;
  bed.api.Intercept([&](const kube::ApiRequest& request) -> std::optional<Result<kube::ApiResponse>> {
    if (down && request.path.contains("nodefeatures")) return Fail(Code::kTimeout, "no answer in time");
    return std::nullopt;
  });
  bed.Start();
  bed.executor.RunFor(minutes(10));
  EXPECT_EQ(bed.Label("n1", "a"), "1");
  down = false;
  bed.executor.RunFor(minutes(2));
  EXPECT_EQ(bed.Label("n1", "a"), "1");
}

TEST(NfdMasterTest, AnObjectOfTheOwnNamespaceCountsInsteadOfAStaleOne) {
  Bed bed;
  bed.api.Put(NodeRecord::kResource, NodeNamed("n1"));
  bed.api.Put(api::kNodeFeature, FeatureOf("n1", "n1", "ns-old", {{"a", "old"}, {"gone", "1"}}));
  bed.api.Put(api::kNodeFeature, FeatureOf("n1", "n1", "nfd", {{"a", "new"}}));
  bed.api.Put(api::kNodeFeature, FeatureOf("n1", "extra", "other", {{"b", "1"}}));
  bed.Start();
  EXPECT_EQ(bed.Label("n1", "a"), "new");
  EXPECT_EQ(bed.Label("n1", "gone"), "none");
  EXPECT_EQ(bed.Label("n1", "b"), "1");
  EXPECT_THAT(bed.log.Lines(), Contains(testing::HasSubstr("object ns-old/n1: the one of namespace nfd counts")));
}

TEST(NfdMasterTest, RulesComeAndGo) {
  Bed bed;
  bed.api.Put(NodeRecord::kResource, NodeNamed("n1"));
  bed.api.Put(NodeRecord::kResource, NodeNamed("unknown"));
  bed.api.Put(api::kNodeFeature, FeatureOf("n1", "n1", "nfd", {{"a", "1"}}));
  bed.Start();
  const data::Json rule = *data::ParseJson(
      R"({"metadata":{"name":"r"},"spec":{"rules":[{"name":"x","labels":{"six":"yes"},"matchFeatures":[
        {"feature":"kernel.version","matchExpressions":{"major":{"op":"In","value":["6"]}}}]}]}})");
  bed.api.Put(api::kNodeFeatureRule, rule.get_object());
  bed.executor.RunFor(seconds(1));
  EXPECT_EQ(bed.Label("n1", "six"), "yes");
  EXPECT_EQ(bed.Label("unknown", "six"), "none");
  bed.api.Remove({api::kNodeFeatureRule, {}, "r", {}});
  bed.executor.RunFor(seconds(1));
  EXPECT_EQ(bed.Label("n1", "six"), "none");
  EXPECT_EQ(bed.Label("n1", "a"), "1");
}

TEST(NfdMasterTest, ALabelThatSomebodyTakesAwayComesBack) {
  Bed bed;
  bed.api.Put(NodeRecord::kResource, NodeNamed("n1"));
  bed.api.Put(api::kNodeFeature, FeatureOf("n1", "n1", "nfd", {{"a", "1"}}));
  bed.Start();
  data::JsonObject node = *bed.api.Peek({NodeRecord::kResource, {}, "n1", {}});
  node["metadata"].get_object()["labels"].get_object().erase("feature.node.kubernetes.io/a");
  bed.api.Put(NodeRecord::kResource, node);
  bed.executor.RunFor(seconds(1));
  EXPECT_EQ(bed.Label("n1", "a"), "1");
}

TEST(NfdMasterTest, ARefusedResourceDoesNotHoldUpLabels) {
  Bed bed;
  bed.api.Put(NodeRecord::kResource, NodeNamed("n1"));
  bed.api.Put(api::kNodeFeature, FeatureOf("n1", "n1", "nfd", {{"a", "1"}}));
  const data::Json rule = *data::ParseJson(
      R"({"metadata":{"name":"r"},"spec":{"rules":[{"name":"x","extendedResources":{"vendor.io/x":"2"}}]}})");
  bed.api.Put(api::kNodeFeatureRule, rule.get_object());
  bool refuse = true;
  bed.api.Intercept([&](const kube::ApiRequest& request) -> std::optional<Result<kube::ApiResponse>> {
    if (!refuse || !request.path.ends_with("/status")) return std::nullopt;
    return kube::ApiResponse{.status = 403, .content_type = "application/json", .body = R"({"kind":"Status"})"};
  });
  bed.Start();
  EXPECT_EQ(bed.Label("n1", "a"), "1");
  refuse = false;
  bed.executor.RunFor(minutes(3));
  const auto node = NodeState::FromJson(*bed.api.Peek({NodeRecord::kResource, {}, "n1", {}}));
  EXPECT_THAT(node->capacity, Contains(Pair("vendor.io/x", "2")));
  EXPECT_THAT(node->annotations, Contains(Pair("nfd.node.kubernetes.io/extended-resources", "vendor.io/x")));
}

TEST(NfdMasterTest, NamespacesCanBeChosen) {
  Master::Options options = Bed::Options();
  options.namespaces = *data::LabelSelector::Parse("trusted=yes");
  Bed bed(options);
  bed.api.Put(NodeRecord::kResource, NodeNamed("n1"));
  bed.api.Put(NamespaceRecord::kResource, {{"metadata", {{"name", "good"}, {"labels", {{"trusted", "yes"}}}}}});
  bed.api.Put(NamespaceRecord::kResource, {{"metadata", {{"name", "bad"}}}});
  bed.api.Put(api::kNodeFeature, FeatureOf("n1", "x", "good", {{"good", "1"}}));
  bed.api.Put(api::kNodeFeature, FeatureOf("n1", "y", "bad", {{"bad", "1"}}));
  bed.Start();
  EXPECT_EQ(bed.Label("n1", "good"), "1");
  EXPECT_EQ(bed.Label("n1", "bad"), "none");
}

TEST(NfdMasterTest, GroupsNameTheNodesThatFit) {
  Master::Options options = Bed::Options();
  options.groups = true;
  Bed bed(options);
  for (const char* name : {"n1", "n2"}) bed.api.Put(NodeRecord::kResource, NodeNamed(name));
  bed.api.Put(api::kNodeFeature, FeatureOf("n2", "n2", "nfd", {}));
  const data::Json group = *data::ParseJson(
      R"({"metadata":{"name":"six","namespace":"nfd"},"spec":{"featureGroupRules":[{"name":"x","matchFeatures":[
        {"feature":"kernel.version","matchExpressions":{"major":{"op":"In","value":["6"]}}}]}]}})");
  bed.api.Put(api::kNodeFeatureGroup, group.get_object());
  bed.Start();
  const auto nodes = [&] {
    const auto live = bed.api.Peek({api::kNodeFeatureGroup, "nfd", "six", {}});
    const auto* const list = data::GetArray(*live, "status.nodes");
    return list == nullptr ? std::string() : data::ToJson(*list);
  };
  EXPECT_EQ(nodes(), R"([{"name":"n2"}])");
  bed.api.Put(api::kNodeFeature, FeatureOf("n1", "n1", "nfd", {}));
  bed.executor.RunFor(seconds(2));
  EXPECT_EQ(nodes(), R"([{"name":"n1"},{"name":"n2"}])");
}

TEST(NfdMasterTest, ManyNodesCostOneWriteEach) {
  Bed bed;
  constexpr int kNodes = 500;
  for (int i = 0; i < kNodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    bed.api.Put(NodeRecord::kResource, NodeNamed(name));
    bed.api.Put(api::kNodeFeature, FeatureOf(name, name, "nfd", {{"a", "1"}}));
  }
  const kube::CallScope calls(bed.door);
  bed.Start();
  bed.executor.RunFor(seconds(30));
  EXPECT_EQ(calls.Writes(), static_cast<std::uint64_t>(kNodes));
  EXPECT_EQ(bed.Label("n499", "a"), "1");
}

}  // namespace
}  // namespace gpuop::operands::nfd
