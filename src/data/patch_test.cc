#include "data/patch.h"

#include "data/testing/cases.h"

namespace gpuop::data {
namespace {

void Check(const Json& c, const Result<Json>& got) {
  if (const auto error = GetString(c, "error")) {
    ASSERT_FALSE(got) << ToJson(*got);
    if (*error != "any") EXPECT_EQ(got.error().text, *error);
  } else {
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_TRUE(JsonEqual(*got, c.at("want"))) << ToJson(*got) << "\nwanted " << ToJson(c.at("want"));
  }
}

class JsonPatchTest : public testing::TestWithParam<Json> {};
TEST_P(JsonPatchTest, AppliesAsTheServerDoes) {
  Check(GetParam(), ApplyJsonPatch(GetParam().at("doc"), GetParam().at("patch")));
}
INSTANTIATE_TEST_SUITE_P(All, JsonPatchTest, testing::ValuesIn(TestCases("json_patch.json")), CaseName);

TEST(JsonPatchTest, TooManyOperationsAreRefused) {
  const Json patch = *ParseJson(R"([{"op":"test","path":"/a"},{"op":"test","path":"/a"}])");
  const auto got = ApplyJsonPatch(JsonObject{}, patch, {.max_operations = 1});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error(), (Error{Code::kTooLarge, "The allowed maximum operations in a JSON patch is 1, got 2"}));
}

TEST(JsonPatchTest, CopiesCannotGrowADocumentWithoutBound) {
  std::string patch = R"([{"op":"add","path":"/a","value":")" + std::string(1000, 'x') + R"("})";
  for (int i = 0; i < 60; ++i)
    patch +=
        R"(,{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/a","value":{}},{"op":"copy","from":"/b","path":"/a/1"},{"op":"copy","from":"/b","path":"/a/2"})";
  const auto got = ApplyJsonPatch(JsonObject{}, *ParseJson(patch + "]"), {.max_copied_bytes = 100000});
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().text, testing::HasSubstr("accumulated size increase of copy"));
}

TEST(JsonPatchTest, WhatIsNoPatchIsRefused) {
  EXPECT_EQ(ApplyJsonPatch(JsonObject{}, JsonObject{}).error().code, Code::kInvalid);
  EXPECT_EQ(ApplyJsonPatch(JsonObject{}, *ParseJson("[1]")).error().code, Code::kInvalid);
  EXPECT_EQ(ApplyJsonPatch(1, JsonArray{}).error().code, Code::kInvalid);
}

class MergePatchTest : public testing::TestWithParam<Json> {};
TEST_P(MergePatchTest, AppliesAsTheServerDoes) {
  Check(GetParam(), ApplyMergePatch(GetParam().at("doc"), GetParam().at("patch")));
}
TEST_P(MergePatchTest, AMadePatchLeadsToTheSameResult) {
  const Json& before = GetParam().at("doc");
  const Json& after = GetParam().at("want");
  EXPECT_TRUE(JsonEqual(ApplyMergePatch(before, MakeMergePatch(before, after)), after));
}
INSTANTIATE_TEST_SUITE_P(All, MergePatchTest, testing::ValuesIn(TestCases("merge_patch.json")), CaseName);

TEST(MergePatchTest, EqualDocumentsNeedNoPatch) {
  const Json doc = *ParseJson(R"({"a":{"b":[1,2.0]}})");
  EXPECT_EQ(ToJson(MakeMergePatch(doc, *ParseJson(R"({"a":{"b":[1,2]}})"))), "{}");
}

SchemaPtr Object(std::vector<Property> properties) {
  auto schema = std::make_shared<Schema>();
  schema->type = Type::kObject;
  std::ranges::sort(properties, {}, &Property::name);
  schema->properties = std::move(properties);
  return schema;
}

SchemaPtr MergedList(std::string key, SchemaPtr items = nullptr) {
  auto schema = std::make_shared<Schema>();
  schema->type = Type::kArray;
  schema->patch_merge = true;
  schema->patch_merge_key = std::move(key);
  schema->items = std::move(items);
  return schema;
}

/// As much of Pod's and Deployment's shape as the cases need.
SchemaPtr PodSpec() {
  const SchemaPtr container = Object(
      {{"ports", MergedList("containerPort")}, {"env", MergedList("name")}, {"volumeMounts", MergedList("mountPath")}});
  return Object({{"containers", MergedList("name", container)},
                 {"volumes", MergedList("name")},
                 {"hostAliases", MergedList("ip")}});
}
SchemaPtr Metadata() { return Object({{"finalizers", MergedList("")}, {"ownerReferences", MergedList("uid")}}); }
SchemaPtr Kind(std::string_view kind) {
  if (kind != "Deployment") return Object({{"metadata", Metadata()}, {"spec", PodSpec()}});
  const SchemaPtr template_spec = Object({{"metadata", Metadata()}, {"spec", PodSpec()}});
  return Object({{"metadata", Metadata()}, {"spec", Object({{"template", template_spec}})}});
}

class StrategicPatchTest : public testing::TestWithParam<Json> {};
TEST_P(StrategicPatchTest, AppliesAsTheServerDoes) {
  const Json& c = GetParam();
  Check(c, ApplyStrategicPatch(c.at("doc"), c.at("patch"), Kind(StringOr(c, "kind")).get()));
}
INSTANTIATE_TEST_SUITE_P(All, StrategicPatchTest, testing::ValuesIn(TestCases("strategic_patch.json")), CaseName);

TEST(StrategicPatchTest, WithoutASchemaListsReplaceEachOther) {
  const Json doc = *ParseJson(R"({"spec":{"containers":[{"name":"a"}]}})");
  const auto got = ApplyStrategicPatch(doc, *ParseJson(R"({"spec":{"containers":[{"name":"b"}]}})"), nullptr);
  ASSERT_TRUE(got);
  EXPECT_EQ(ToJson(*got), R"({"spec":{"containers":[{"name":"b"}]}})");
}

}  // namespace
}  // namespace gpuop::data
