#include "operands/nfd/worker/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/virtual_executor.h"
#include "kube/counting_door.h"
#include "kube/door_fake.h"
#include "operands/nfd/worker/outputs.h"
#include "operands/nfd/worker/publisher.h"
#include "operands/nfd/worker/usage.h"
#include "os/fake_fs.h"

namespace gpuop::operands::nfd {
namespace {

using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

const kube::Resource kNodes{"", "v1", "nodes", "Node", false};

WorkerProgram Program() {
  WorkerProgram out;
  out.node = "n1";
  out.ns = "nfd";
  out.pod_uid = "pod-1";
  return out;
}

NodeFacts Facts(const std::string& value) {
  NodeFacts out;
  out.features.attributes["kernel.version"] = {{"major", value}, {"minor", "8"}};
  out.labels = {{"feature.node.kubernetes.io/kernel-version.major", value}};
  return out;
}

struct Bed {
  Bed() { api.Put(kNodes, {{"metadata", {{"name", "n1"}, {"uid", "node-uid"}}}}); }
  data::JsonObject Object() { return *api.Peek({api::kNodeFeature, "nfd", "n1", {}}); }

  VirtualExecutor executor{3};
  kube::FakeDoor api{executor};
  kube::CountingDoor door{api};
  FakeLog log;
  MetricRegistry metrics;
  WorkerProgram program = Program();
};

TEST(NfdPublisherTest, TheObjectBelongsToTheNodeAndIsWrittenOnlyWhenItDiffers) {
  Bed bed;
  Publisher first(kube::Client(bed.door), bed.program, bed.log);
  EXPECT_TRUE(*first.Publish(Facts("6"), {Owner::kNode}));
  EXPECT_EQ(data::StringOr(bed.Object(), "metadata.ownerReferences[0].kind"), "Node");
  EXPECT_EQ(data::StringOr(bed.Object(), "metadata.ownerReferences[0].uid"),
            data::StringOr(*bed.api.Peek({kNodes, {}, "n1", {}}), "metadata.uid"));
  const kube::CallScope calls(bed.door);
  EXPECT_FALSE(*first.Publish(Facts("6"), {Owner::kNode}));
  EXPECT_EQ(calls.ToString(), "");
  // The next Pod of the same worker finds everything as it is to be.
  bed.program.pod_uid = "pod-2";
  Publisher second(kube::Client(bed.door), bed.program, bed.log);
  EXPECT_FALSE(*second.Publish(Facts("6"), {Owner::kNode}));
  EXPECT_EQ(calls.Writes(), 0U);
  EXPECT_TRUE(*second.Publish(Facts("7"), {Owner::kNode}));
  EXPECT_EQ(calls.Writes(), 1U);
}

TEST(NfdPublisherTest, AnObjectThatSomebodyChangedIsPutRight) {
  Bed bed;
  Publisher publisher(kube::Client(bed.door), bed.program, bed.log);
  ASSERT_TRUE(publisher.Publish(Facts("6"), {}));
  data::JsonObject changed = bed.Object();
  changed["spec"].get_object()["labels"] = data::JsonObject();
  bed.api.Put(api::kNodeFeature, changed);
  EXPECT_EQ(publisher.Publish(Facts("7"), {}).error().code, Code::kConflict);
  EXPECT_TRUE(*publisher.Publish(Facts("7"), {}));
  bed.api.Remove({api::kNodeFeature, "nfd", "n1", {}});
  publisher.Distrust();
  EXPECT_TRUE(*publisher.Publish(Facts("7"), {}));
}

TEST(NfdPublisherTest, WithoutTheRightToSeeItsOwnerTheObjectIsWrittenAllTheSame) {
  Bed bed;
  bed.api.Intercept([](const kube::ApiRequest& request) -> std::optional<Result<kube::ApiResponse>> {
    if (!request.path.starts_with("/api/v1/nodes")) return std::nullopt;
    return kube::ApiResponse{.status = 403, .content_type = "application/json", .body = R"({"kind":"Status"})"};
  });
  Publisher publisher(kube::Client(bed.door), bed.program, bed.log);
  EXPECT_TRUE(*publisher.Publish(Facts("6"), {Owner::kNode}));
  EXPECT_THAT(bed.log.Lines(), Contains(HasSubstr("owner")));
}

TEST(NfdWorkerTest, OnlyWhatRulesUseIsPublishedAndNewRulesGetWhatTheyNeed) {
  Bed bed;
  Publisher publisher(kube::Client(bed.door), bed.program, bed.log);
  int changes = 0;
  RulesInUse rules(bed.executor, kube::Client(bed.door), false, bed.log, bed.metrics,
                   [&](bool anew) { changes += anew ? 1 : 0; });
  ObjectOutput output(publisher, rules, true, bed.log);
  const WorkerSettings settings;
  ASSERT_TRUE(output.Put(Facts("6"), settings));
  EXPECT_THAT(data::ToJson(*data::Find(bed.Object(), "spec.features")), Not(HasSubstr("kernel.version")));
  bed.executor.RunFor(seconds(1));
  const data::Json rule = *data::ParseJson(
      R"({"metadata":{"name":"r"},"spec":{"rules":[{"name":"x","labels":{"six":"yes"},"matchFeatures":[
        {"feature":"kernel.version","matchExpressions":{"major":{"op":"In","value":["6"]}}}]}]}})");
  bed.api.Put(api::kNodeFeatureRule, rule.get_object());
  bed.executor.RunFor(seconds(1));
  EXPECT_GE(changes, 1);
  ASSERT_TRUE(output.Put(Facts("6"), settings));
  EXPECT_EQ(data::ToJson(*data::Find(bed.Object(), "spec.features")->get_object().if_contains("attributes")),
            R"({"kernel.version":{"elements":{"major":"6"}}})");
  WorkerSettings all;
  all.publish_all = true;
  ASSERT_TRUE(output.Put(Facts("6"), all));
  EXPECT_THAT(data::ToJson(bed.Object()), HasSubstr(R"("minor":"8")"));
  all.publish_features = false;
  ASSERT_TRUE(output.Put(Facts("6"), all));
  EXPECT_THAT(data::ToJson(bed.Object()), Not(HasSubstr("kernel.version\"")));
}

TEST(NfdWorkerTest, WithoutTheRightToReadRulesEverythingIsPublished) {
  Bed bed;
  bed.api.Intercept([](const kube::ApiRequest& request) -> std::optional<Result<kube::ApiResponse>> {
    if (!request.path.contains("nodefeaturerules")) return std::nullopt;
    return kube::ApiResponse{.status = 403, .content_type = "application/json", .body = R"({"kind":"Status"})"};
  });
  Publisher publisher(kube::Client(bed.door), bed.program, bed.log);
  RulesInUse rules(bed.executor, kube::Client(bed.door), false, bed.log, bed.metrics, [](bool) {});
  ObjectOutput output(publisher, rules, true, bed.log);
  ASSERT_TRUE(output.Put(Facts("6"), {}));
  EXPECT_THAT(data::ToJson(bed.Object()), HasSubstr(R"("minor":"8")"));
}

TEST(NfdWorkerTest, ABigKernelMakesASmallObject) {
  NodeFacts facts;
  for (int i = 0; i < 9000; ++i) facts.features.attributes["kernel.config"]["OPTION_NUMBER_" + std::to_string(i)] = "y";
  for (int i = 0; i < 400; ++i) facts.features.flags["kernel.loadedmodule"].insert("module_" + std::to_string(i));
  for (int i = 0; i < 120; ++i) facts.features.flags["cpu.cpuid"].insert("FLAG" + std::to_string(i));
  for (int i = 0; i < 150; ++i)
    facts.features.instances["pci.device"].push_back(
        {{"class", "0604"}, {"vendor", "8086"}, {"device", std::to_string(1000 + i)}});
  for (int i = 0; i < 83; ++i) facts.labels["feature.node.kubernetes.io/cpu-cpuid.FLAG" + std::to_string(i)] = "true";
  const RuleList rules = ReadRules("r", *data::ParseJson(R"([
    {"name":"a","labels":{"x":"1"},"matchFeatures":[
      {"feature":"kernel.config","matchExpressions":{"OPTION_NUMBER_7":{"op":"In","value":["y"]}}},
      {"feature":"kernel.loadedmodule","matchExpressions":{"module_3":{"op":"Exists"}}},
      {"feature":"cpu.cpuid","matchExpressions":{"FLAG9":{"op":"Exists"}}},
      {"feature":"pci.device","matchExpressions":{"vendor":{"op":"In","value":["10de"]}}}]}])"));
  const NodeFacts used{UsedFeatures(facts.features, {&rules}), facts.labels};
  Bed bed;
  Publisher publisher(kube::Client(bed.door), bed.program, bed.log);
  ASSERT_TRUE(publisher.Publish(used, {Owner::kNode}));
  EXPECT_LE(data::ToJson(bed.Object()).size(), 6U * 1024);
  EXPECT_EQ(used.features.instances.at("pci.device").size(), 1U) << "equal ones once";
}

TEST(NfdWorkerTest, AWorkerLabelsItsOwnNodeWithoutAMaster) {
  Bed bed;
  const data::Json rule = *data::ParseJson(
      R"({"metadata":{"name":"r"},"spec":{"rules":[{"name":"x","labels":{"six":"yes"},"matchFeatures":[
        {"feature":"kernel.version","matchExpressions":{"major":{"op":"In","value":["6"]}}}]}]}})");
  bed.api.Put(api::kNodeFeatureRule, rule.get_object());
  bed.api.Put(api::kNodeFeature,
              {{"metadata", {{"name", "gfd"}, {"namespace", "nfd"}, {"labels", {{api::kNodeNameLabel, "n1"}}}}},
               {"spec", {{"labels", {{"nvidia.com/gpu.count", "8"}}}}}});
  NodeOutput output(bed.executor, kube::Client(bed.door), bed.program, {}, bed.log, bed.metrics);
  ASSERT_TRUE(output.Put(Facts("6"), {}));
  bed.executor.RunFor(seconds(2));
  const auto labels = [&] { return NodeState::FromJson(*bed.api.Peek({kNodes, {}, "n1", {}}))->labels; };
  EXPECT_THAT(labels(), Contains(testing::Pair("feature.node.kubernetes.io/six", "yes")));
  EXPECT_THAT(labels(), Contains(Key("feature.node.kubernetes.io/kernel-version.major")));
  EXPECT_THAT(labels(), Contains(Key("nvidia.com/gpu.count")));
  ASSERT_TRUE(output.Put(Facts("7"), {}));
  bed.executor.RunFor(seconds(2));
  EXPECT_THAT(labels(), Not(Contains(Key("feature.node.kubernetes.io/six"))));
  const kube::CallScope steady(bed.door);
  ASSERT_TRUE(output.Put(Facts("7"), {}));
  bed.executor.RunFor(std::chrono::minutes(2));
  EXPECT_EQ(steady.ToString(), "");
}

Result<WorkerSettings> Settings(const std::string& file, std::vector<std::string> args = {}) {
  os::FakeFs fs;
  fs.Put("/conf", file);
  args.insert(args.begin(), "-config=/conf");
  auto flags = container::ParseFlags(FlagsOf(WorkerFlags()), args, [](const char*) -> const char* { return nullptr; });
  if (!flags) return std::unexpected(flags.error());
  return ReadWorkerSettings(*flags, fs);
}

TEST(NfdWorkerSettingsTest, FileOptionsAndFlagsCountInThisOrder) {
  const auto plain = Settings("");
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->feature_sources.contains("custom") && plain->feature_sources.contains("pci"));
  EXPECT_FALSE(plain->feature_sources.contains("fake"));
  EXPECT_EQ(plain->interval, seconds(60));
  EXPECT_EQ(plain->sources.pci.classes, (std::vector<std::string>{"03", "0b40", "12"}));
  const auto file = Settings(
      "core:\n  bogus: 1\n  sleepInterval: 5m\n  labelSources: [all, -cpu]\n  noPublish: true\n"
      "sources:\n  pci: {deviceClassWhitelist: [\"0302\"], deviceLabelFields: [vendor]}\n",
      {"-options={\"sources\":{\"pci\":{\"deviceClassWhitelist\":[\"02\"]}}}", "-no-publish=false",
       "-feature-sources=fake,pci,none"});
  ASSERT_TRUE(file) << file.error().text;
  EXPECT_EQ(file->interval, std::chrono::minutes(5));
  EXPECT_TRUE(file->publish);
  EXPECT_THAT(file->feature_sources, ElementsAre("fake", "pci"));
  EXPECT_FALSE(file->label_sources.contains("cpu"));
  EXPECT_EQ(file->sources.pci.classes, std::vector<std::string>{"02"});
  EXPECT_EQ(file->sources.pci.fields, std::vector<std::string>{"vendor"});
  EXPECT_EQ(Settings("core: {sleepInterval: 0s}")->interval, std::nullopt);
  EXPECT_EQ(Settings("core: {sleepInterval: 10ms}")->interval, seconds(1));
  EXPECT_EQ(Settings("core: {ownerRefs: [pod, ds]}")->owners, (std::vector{Owner::kPod, Owner::kDaemonSet}));
  EXPECT_TRUE(Settings("", {"-no-owner-refs"})->owners.empty());
}

TEST(NfdWorkerSettingsTest, BrokenSettingsAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"core: [", "yaml"},
      {"- a\n", "expected an object"},
      {"core: {sleepInterval: soon}", "core.sleepInterval"},
      {"core: {labelWhiteList: \"(\"}", "core.labelWhiteList"},
      {"core: {labelSources: all}", "core.labelSources: expected a list"},
      {"core: {noPublish: maybe}", "core.noPublish"},
      {"core: {ownerRefs: [deployment]}", "deployment"},
      {"sources: {pci: {deviceClassWhitelist: [0302]}}", "in quotes"},
      {"sources: {pci: {deviceLabelFields: vendor}}", "sources.pci.deviceLabelFields"},
      {"sources: {custom: {a: 1}}", "sources.custom"},
      {"sources: {kernel: {kconfigFile: [x]}}", "sources.kernel.kconfigFile"},
      {"sources: {cpu: {cpuid: {attributeBlacklist: AVX}}}", "attributeBlacklist"},
  };
  for (const auto& [file, says] : cases) {
    const auto settings = Settings(file);
    ASSERT_FALSE(settings) << file;
    EXPECT_THAT(settings.error().text, HasSubstr(says)) << file;
  }
  EXPECT_FALSE(Settings("", {"-bogus"}));
  EXPECT_FALSE(Settings("", {"-options=["}));
  EXPECT_FALSE(Settings("", {"-owner-refs=me"}));
}

TEST(NfdWorkerSettingsTest, RulesOfACustomFolderAreRead) {
  os::FakeFs fs;
  fs.Put(std::string(kCustomFolder) + "/a/rules.yaml", "- {name: x, labels: {a: \"1\"}}\n");
  fs.Put(std::string(kCustomFolder) + "/.hidden", "[");
  const auto flags =
      container::ParseFlags(FlagsOf(WorkerFlags()), {"-config="}, [](const char*) -> const char* { return nullptr; });
  const auto settings = ReadWorkerSettings(*flags, fs);
  ASSERT_TRUE(settings) << settings.error().text;
  ASSERT_EQ(settings->sources.custom.size(), 1U);
  EXPECT_EQ(settings->sources.custom[0].rules.size(), 1U);
  fs.Put(std::string(kCustomFolder) + "/b", "a: 1\n");
  EXPECT_THAT(ReadWorkerSettings(*flags, fs).error().text, HasSubstr("custom.d/b"));
}

}  // namespace
}  // namespace gpuop::operands::nfd
