#include "kube/apply.h"

#include <gtest/gtest.h>

#include "base/virtual_executor.h"
#include "data/json.h"
#include "kube/builtin/table.h"
#include "kube/cache.h"
#include "kube/counting_door.h"
#include "kube/door_fake.h"
#include "kube/take_over.h"
#include "kube/types/apps.h"
#include "kube/types/core.h"

namespace gpuop::kube {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

json::object Parse(std::string_view text) {
  auto v = ParseObject(text);
  EXPECT_TRUE(v) << v.error().text << ": " << text;
  return v ? *v : json::object();
}

struct DifferenceCase {
  const char* name;
  const char* wanted;
  const char* live;
  const char* path;  ///< of the first difference; "" when there is none
};

class PodDifferencesTest : public testing::TestWithParam<DifferenceCase> {};

TEST_P(PodDifferencesTest, ComparesAsFarAsWantedNamesFields) {
  const auto& c = GetParam();
  const auto schema = builtin::FindKind("", "v1", "Pod");
  ASSERT_NE(schema, nullptr);
  const auto out = Differences(Parse(c.wanted), Parse(c.live), schema.get());
  EXPECT_EQ(out.empty() ? "" : out.front().path, std::string(c.path));
}

INSTANTIATE_TEST_SUITE_P(
    All, PodDifferencesTest,
    testing::Values(
        DifferenceCase{"DefaultsDoNotCount", R"({"spec":{"containers":[{"name":"a","image":"x"}]}})",
                       R"({"spec":{"restartPolicy":"Always","containers":[{"name":"a","image":"x","tty":false}]}})",
                       ""},
        DifferenceCase{"TypeIsNotCompared", R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}})",
                       R"({"metadata":{"name":"p","uid":"u"}})", ""},
        DifferenceCase{"ItemsAreFoundByKey", R"({"spec":{"containers":[{"name":"b","image":"y"}]}})",
                       R"({"spec":{"containers":[{"name":"a","image":"x"},{"name":"b","image":"z"}]}})",
                       "spec.containers[name=b].image"},
        DifferenceCase{"AMissingItem", R"({"spec":{"containers":[{"name":"b"}]}})",
                       R"({"spec":{"containers":[{"name":"a"}]}})", "spec.containers[name=b]"},
        DifferenceCase{"ADefaultedKey",
                       R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"w"}]}]}})",
                       R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"protocol":"UDP","name":"u"},
                          {"containerPort":80,"protocol":"TCP","name":"w"}]}]}})",
                       ""},
        DifferenceCase{"QuantitiesByAmount",
                       R"({"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"1000m","memory":1024}}}]}})",
                       R"({"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"1","memory":"1Ki"}}}]}})",
                       ""},
        DifferenceCase{"OtherQuantities",
                       R"({"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"1"}}}]}})",
                       R"({"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"2"}}}]}})",
                       "spec.containers[name=a].resources.limits.cpu"},
        DifferenceCase{"AtomicListsItemByItem", R"({"spec":{"containers":[{"name":"a","args":["x","y"]}]}})",
                       R"({"spec":{"containers":[{"name":"a","args":["x","z"]}]}})", "spec.containers[name=a].args[1]"},
        DifferenceCase{"AtomicListsByLength", R"({"spec":{"containers":[{"name":"a","args":["x"]}]}})",
                       R"({"spec":{"containers":[{"name":"a","args":["x","z"]}]}})", "spec.containers[name=a].args"},
        DifferenceCase{"TolerationsAreOneValue", R"({"spec":{"tolerations":[{"operator":"Exists"}]}})",
                       R"({"spec":{"tolerations":[{"operator":"Exists"},{"key":"x"}]}})", "spec.tolerations"},
        DifferenceCase{"FinalizersAreASet", R"({"metadata":{"finalizers":["b"]}})",
                       R"({"metadata":{"finalizers":["a","b"]}})", ""},
        DifferenceCase{"AMissingSetMember", R"({"metadata":{"finalizers":["c"]}})",
                       R"({"metadata":{"finalizers":["a","b"]}})", "metadata.finalizers[c]"},
        DifferenceCase{"AnAtomicMapAsAWhole", R"({"spec":{"nodeSelector":{"a":"b"}}})",
                       R"({"spec":{"nodeSelector":{"a":"b","c":"d"}}})", "spec.nodeSelector.c"},
        DifferenceCase{"LabelsOfOthersStay", R"({"metadata":{"labels":{"a":"b"}}})",
                       R"({"metadata":{"labels":{"a":"b","c":"d"}}})", ""},
        DifferenceCase{"NullMeansAbsent", R"({"metadata":{"labels":{"a":null}}})",
                       R"({"metadata":{"labels":{"a":"b"}}})", "metadata.labels.a"},
        DifferenceCase{"NumbersByValue", R"({"spec":{"priority":1.0}})", R"({"spec":{"priority":1}})", ""},
        DifferenceCase{"AnotherType", R"({"spec":{"priority":"1"}})", R"({"spec":{"priority":{}}})", "spec.priority"}),
    [](const auto& i) { return std::string(i.param.name); });

TEST(Leftovers, AreWhatWeAppliedAndWantNoLonger) {
  const json::object live = Parse(R"({"metadata":{"managedFields":[
    {"manager":"gpu-operator","operation":"Apply","fieldsV1":{
      "f:metadata":{"f:labels":{"f:old":{},"f:kept":{}},"f:finalizers":{"v:\"a\"":{}}},
      "f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:image":{},"f:env":{
        "k:{\"name\":\"GONE\"}":{".":{},"f:name":{}}}},
        "k:{\"name\":\"gone\"}":{".":{},"f:name":{}}}}}},
    {"manager":"gpu-operator","operation":"Update","fieldsV1":{"f:metadata":{"f:labels":{"f:updated":{}}}}},
    {"manager":"gpu-operator","operation":"Apply","subresource":"status","fieldsV1":{"f:status":{"f:x":{}}}},
    {"manager":"kubectl","operation":"Apply","fieldsV1":{"f:metadata":{"f:labels":{"f:y":{}}}}}]}})");
  const json::object wanted = Parse(R"({"metadata":{"labels":{"kept":"1"},"finalizers":["b"]},
    "spec":{"containers":[{"name":"a","image":"x","env":[{"name":"NEW"}]}]}})");
  const auto schema = builtin::FindKind("", "v1", "Pod");
  std::vector<std::string> paths;
  for (const Difference& d : Leftovers(wanted, live, "gpu-operator", schema.get())) paths.push_back(d.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"metadata.labels.old", "metadata.finalizers[\"a\"]",
                                             "spec.containers[{\"name\":\"a\"}].env[{\"name\":\"GONE\"}]",
                                             "spec.containers[{\"name\":\"gone\"}]", "metadata.labels.updated"}));
}

TEST(TakenOver, MakesUpdatesOfTheManagerPartOfWhatItApplied) {
  const json::object live = Parse(R"({"metadata":{"managedFields":[
    {"manager":"gpu-operator","operation":"Apply","apiVersion":"v1","fieldsV1":{"f:data":{"f:a":{}}}},
    {"manager":"kubectl","operation":"Update","fieldsV1":{"f:data":{"f:c":{}}}},
    {"manager":"gpu-operator","operation":"Update","subresource":"status","fieldsV1":{"f:status":{}}},
    {"manager":"gpu-operator","operation":"Update","apiVersion":"v1","fieldsV1":{"f:data":{".":{},"f:b":{}}}}]}})");
  const auto fields = TakenOver(live, "gpu-operator");
  ASSERT_TRUE(fields);
  EXPECT_EQ(
      json::serialize(*fields),
      R"([{"manager":"kubectl","operation":"Update","fieldsV1":{"f:data":{"f:c":{}}}},)"
      R"({"manager":"gpu-operator","operation":"Update","subresource":"status","fieldsV1":{"f:status":{}}},)"
      R"({"manager":"gpu-operator","operation":"Apply","apiVersion":"v1","fieldsV1":{"f:data":{"f:a":{},".":{},"f:b":{}}}}])");
  const json::object ours = Parse(R"({"metadata":{"managedFields":[{"manager":"gpu-operator","operation":"Apply"}]}})");
  EXPECT_FALSE(TakenOver(ours, "gpu-operator"));
  EXPECT_FALSE(TakenOver({}, "gpu-operator"));
}

/// An Applier beside a cache of the ConfigMaps that carry our label.
struct World {
  VirtualExecutor executor{1};
  FakeDoor fake{executor};
  CountingDoor door{fake};
  FakeLog log;
  Client client{door};
  Cache<AnyObject> cache{executor, client, ConfigMap::kResource, {.label_selector = "ours=yes"}};
  Applier applier{client, executor, log};

  World() {
    cache.Start();
    executor.RunFor(1s);
  }
  static json::object Wanted(std::string_view name, std::string_view value) {
    return {{"apiVersion", "v1"},
            {"kind", "ConfigMap"},
            {"metadata", {{"namespace", "x"}, {"name", name}, {"labels", {{"ours", "yes"}}}}},
            {"data", {{"key", value}}}};
  }
  Applied Apply(const json::object& wanted) {
    const auto live = cache.Get(KeyIn(wanted));
    const auto r = applier.Apply(ConfigMap::kResource, wanted, live.get());
    EXPECT_TRUE(r) << r.error().text;
    return r.value_or(Applied::kSame);
  }
  void Settle() { executor.RunFor(1s); }
};

TEST(Apply, WritesOnceAndThenNothing) {
  World w;
  EXPECT_EQ(w.Apply(World::Wanted("a", "1")), Applied::kWritten);
  EXPECT_EQ(w.Apply(World::Wanted("a", "1")), Applied::kPending);  // the cache has not heard yet
  w.Settle();
  const CallScope calls(w.door);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(w.Apply(World::Wanted("a", "1")), Applied::kSame);
    w.executor.RunFor(1min);
    w.fake.SendBookmarks();
  }
  EXPECT_EQ(calls.ToString(), "");
  EXPECT_EQ(w.Apply(World::Wanted("a", "2")), Applied::kWritten);
}

TEST(Apply, RepairsAHandEditAndARemoval) {
  World w;
  w.Apply(World::Wanted("a", "1"));
  w.Settle();
  ASSERT_TRUE(w.client.Patch(Ref<ConfigMap>("x", "a"), PatchType::kMerge, json::object{{"data", {{"key", "hand"}}}}));
  w.Settle();
  EXPECT_EQ(w.Apply(World::Wanted("a", "1")), Applied::kWritten);
  w.Settle();
  EXPECT_EQ(w.Apply(World::Wanted("a", "1")), Applied::kSame);
  w.fake.Remove(Ref<ConfigMap>("x", "a"));
  w.executor.RunFor(10s);
  EXPECT_EQ(w.Apply(World::Wanted("a", "1")), Applied::kWritten);
}

TEST(Apply, WhatTheServerNormalisesIsWrittenOnce) {
  World w;
  json::object wanted = World::Wanted("a", "1");
  wanted["writeOnly"] = "secret";  // a field the server takes and does not show
  w.fake.Spoil([&w](const ApiRequest& r, const ApiResponse& answer) -> std::optional<Result<ApiResponse>> {
    if (r.method != "PATCH") return std::nullopt;
    json::object stored = w.fake.Peek(Ref<ConfigMap>("x", "a")).value();
    stored.erase("writeOnly");
    stored = w.fake.Put(ConfigMap::kResource, stored);
    ApiResponse other = answer;
    other.body = json::serialize(stored);
    return Result<ApiResponse>(other);
  });
  EXPECT_EQ(w.Apply(wanted), Applied::kWritten);
  w.executor.RunFor(1min);
  const CallScope calls(w.door);
  EXPECT_EQ(w.Apply(wanted), Applied::kSame);
  EXPECT_EQ(calls.ToString(), "");
  ASSERT_TRUE(w.fake.Peek(Ref<ConfigMap>("x", "a")));
  json::object edited = *w.fake.Peek(Ref<ConfigMap>("x", "a"));
  edited["data"].get_object()["key"] = "hand";
  w.fake.Put(ConfigMap::kResource, edited);
  w.Settle();
  EXPECT_EQ(w.Apply(wanted), Applied::kWritten);
}

TEST(Apply, ARefusalNamesTheObject) {
  World w;
  w.fake.Intercept([](const ApiRequest&) {
    return Result<ApiResponse>(Forbidden(ConfigMap::kResource, "a", "not you").ToResponse());
  });
  const auto r = w.applier.Apply(ConfigMap::kResource, World::Wanted("a", "1"), nullptr);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, Code::kForbidden);
  EXPECT_EQ(r.error().text, "apply configmaps/x/a: configmaps \"a\" is forbidden: not you");
}

}  // namespace
}  // namespace gpuop::kube
