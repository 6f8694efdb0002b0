#include "operator/node_patch.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "data/json.h"
#include "data/patch.h"

namespace gpuop::op {
namespace {

constexpr const char* kNode =
    R"({"metadata":{"name":"n1","uid":"u1","resourceVersion":"7","labels":{"a/deploy":"true","rack":"r1"},)"
    R"("annotations":{"nvidia.com/mine":"x"}},"status":{"beat":1}})";

data::Json NodeNow(const std::string& since) {
  return data::ApplyMergePatch(data::ParseJson(kNode).value(), data::ParseJson(since).value());
}

struct Case {
  const char *name, *since;  ///< what has become of the node since it was read
  NodePatch patch;
  const char* metadata;  ///< what comes of it; "" when the patch is refused
};

class NodePatchTest : public testing::TestWithParam<Case> {};

TEST_P(NodePatchTest, RestsOnNothingButWhatItTouches) {
  const Case& c = GetParam();
  const auto read = NodeState::FromJson(data::ParseJson(kNode)->as_object());
  ASSERT_TRUE(read);
  const auto after = data::ApplyJsonPatch(NodeNow(c.since), JsonPatchOf(*read, c.patch));
  ASSERT_EQ(after.has_value(), *c.metadata != 0) << (after ? data::Json() : data::Json(after.error().text));
  if (after) EXPECT_EQ(data::ApplyMergePatch(*after, data::ParseJson(c.metadata).value()), *after) << *after;
}

const NodePatch kSet{.labels = {{"a/deploy", "false"}, {"b/new", "1"}}, .annotations = {}};
const NodePatch kRemove{.labels = {{"a/deploy", std::nullopt}}, .annotations = {{"nvidia.com/mine", std::nullopt}}};

INSTANTIATE_TEST_SUITE_P(
    All, NodePatchTest,
    testing::Values(
        Case{"AnUnchangedNode", "{}", kSet, R"({"metadata":{"labels":{"a/deploy":"false","b/new":"1","rack":"r1"}}})"},
        Case{"AHeartbeatIsInNobodysWay", R"({"metadata":{"resourceVersion":"8"},"status":{"beat":2}})", kSet,
             R"({"metadata":{"resourceVersion":"8","labels":{"a/deploy":"false"}},"status":{"beat":2}})"},
        Case{"AForeignLabelIsKept", R"({"metadata":{"labels":{"rack":"r2","team":"a"}}})", kSet,
             R"({"metadata":{"labels":{"a/deploy":"false","rack":"r2","team":"a"}}})"},
        Case{"ALabelSetMeanwhileRefusesIt", R"({"metadata":{"labels":{"b/new":"2"}}})", kSet, ""},
        Case{"ALabelChangedMeanwhileRefusesIt", R"({"metadata":{"labels":{"a/deploy":"paused"}}})", kSet, ""},
        Case{"ALabelRemovedMeanwhileRefusesIt", R"({"metadata":{"labels":{"a/deploy":null}}})", kRemove, ""},
        Case{"AnAnnotationChangedMeanwhileRefusesIt", R"({"metadata":{"annotations":{"nvidia.com/mine":"y"}}})",
             kRemove, ""},
        Case{"RemovingLeavesTheOthers", "{}", kRemove, R"({"metadata":{"labels":{"rack":"r1","a/deploy":null}}})"},
        Case{"ANodeThatCameAnewIsAnother", R"({"metadata":{"uid":"u2"}})", kSet, ""}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(NodePatchTest, TheFirstAnnotationBringsTheMapUnlessSomebodyWasFaster) {
  const data::Json bare = data::ParseJson(R"({"metadata":{"name":"n1","uid":"u1"}})").value();
  const auto read = NodeState::FromJson(bare.as_object());
  ASSERT_TRUE(read);
  const NodePatch patch{.labels = {{"l", "1"}}, .annotations = {{"a", "true"}, {"b", std::nullopt}}};
  const auto requests = JsonPatchOf(*read, patch);
  const auto after = data::ApplyJsonPatch(bare, requests);
  ASSERT_TRUE(after) << after.error().text;
  EXPECT_EQ(after->at("metadata").at("annotations"), data::ParseJson(R"({"a":"true"})").value());
  EXPECT_EQ(after->at("metadata").at("labels"), data::ParseJson(R"({"l":"1"})").value());
  EXPECT_FALSE(data::ApplyJsonPatch(
      data::ParseJson(R"({"metadata":{"name":"n1","uid":"u1","annotations":{"theirs":"1"}}})").value(), requests));
}

TEST(NodePatchTest, AnotherProgramsAnnotationsAreNotCountedAsNone) {
  const data::Json node =
      data::ParseJson(R"({"metadata":{"name":"n1","uid":"u1","annotations":{"kubelet/ttl":"0"}}})").value();
  const auto read = NodeState::FromJson(node.as_object());
  const auto after = data::ApplyJsonPatch(node, JsonPatchOf(*read, {.labels = {}, .annotations = {{"a", "true"}}}));
  ASSERT_TRUE(after) << after.error().text;
  EXPECT_EQ(after->at("metadata").at("annotations"), data::ParseJson(R"({"kubelet/ttl":"0","a":"true"})").value());
}

}  // namespace
}  // namespace gpuop::op
