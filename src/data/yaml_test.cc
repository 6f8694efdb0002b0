#include "data/yaml.h"

#include "data/testing/cases.h"

namespace gpuop::data {
namespace {

class YamlReadTest : public testing::TestWithParam<Json> {};
TEST_P(YamlReadTest, ReadsAsKubectlDoes) {
  const Json& c = GetParam();
  const auto got = ParseYamlStream(*GetString(c, "in"));
  if (c.get_object().contains("error")) {
    ASSERT_FALSE(got) << ToJson(got->empty() ? Json() : got->front().value) << " instead of " << ToJson(c.at("error"));
    EXPECT_THAT(got.error().text, testing::StartsWith("yaml: "));
    return;
  }
  ASSERT_TRUE(got) << got.error().text;
  JsonArray values;
  for (const YamlDocument& document : *got) values.push_back(document.value);
  EXPECT_TRUE(JsonEqual(values, c.at("want"))) << ToJson(values) << "\nwanted " << ToJson(c.at("want"));
}
INSTANTIATE_TEST_SUITE_P(All, YamlReadTest, testing::ValuesIn(TestCases("yaml_read.json")));

class YamlWriteTest : public testing::TestWithParam<Json> {};
TEST_P(YamlWriteTest, WritesAsKubectlDoesAndReadsItBack) {
  const Json& value = GetParam().at("value");
  const std::string text = ToYaml(value);
  EXPECT_EQ(text, *GetString(GetParam(), "text"));
  const auto back = ParseYaml(text);
  ASSERT_TRUE(back) << back.error().text << "\n" << text;
  EXPECT_TRUE(JsonEqual(*back, value)) << ToJson(*back);
}
INSTANTIATE_TEST_SUITE_P(All, YamlWriteTest, testing::ValuesIn(TestCases("yaml_write.json")));

TEST(YamlTest, ErrorsNameTheLine) {
  const auto got = ParseYaml("a: 1\nb: [1, 2\nc: 3\n");
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().text, testing::MatchesRegex("yaml: line [23]: .*"));
}

TEST(YamlTest, EscapedLatin1IsReadAsCharacters) {
  EXPECT_EQ(ToJson(*ParseYaml(R"(a: "x\Ny\_z")")), "{\"a\":\"x\xc2\x85y\xc2\xa0z\"}");
  const Json odd = JsonObject{{"k", "\xc2\x85 \xe2\x80\xa8 \xef\xbb\xbf"}};
  EXPECT_EQ(*ParseYaml(ToYaml(odd)), odd);
}

TEST(YamlTest, WhatNoDocumentBeginsWithEndsTheReading) {
  for (const char* text : {"a\n--- ,b", "---  ,\n", ","})
    EXPECT_THAT(ParseYamlStream(text).error().text, testing::HasSubstr("did not find expected <document start>"))
        << text;
}

TEST(YamlTest, DuplicateKeysAreNamedByPath) {
  const auto got = ParseYamlStream("a:\n- b: 1\n  b: 2\n---\nc: 1\n");
  ASSERT_TRUE(got);
  ASSERT_EQ(got->size(), 2);
  EXPECT_THAT((*got)[0].duplicates, testing::ElementsAre("a[0].b"));
  EXPECT_THAT((*got)[1].duplicates, testing::IsEmpty());
  EXPECT_EQ((*got)[1].line, 5);
}

TEST(YamlTest, ABillionLaughsAreRefused) {
  std::string text = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 0; k < 8; ++k) text += ", " + before;
    text += "]\n";
  }
  const auto got = ParseYaml(text);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::kTooLarge);
}

TEST(YamlTest, DeepAndLargeTextsAreErrorsNotCrashes) {
  EXPECT_FALSE(ParseYaml(std::string(100000, '[')));
  std::string nested;
  for (std::size_t i = 0; i < 2000; ++i) nested += "- ";
  EXPECT_FALSE(ParseYaml(nested + "x"));
  EXPECT_EQ(ParseYaml("a: b", {.max_bytes = 3}).error().code, Code::kTooLarge);
  EXPECT_FALSE(ParseYaml("a: \xff"));
  EXPECT_EQ(ParseYaml("a: \x01").error().text, "yaml: control characters are not allowed");
}

}  // namespace
}  // namespace gpuop::data
