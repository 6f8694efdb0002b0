#include "data/json.h"

#include <boost/json.hpp>

namespace gpuop::data {
namespace {

std::string Round(std::string_view text) {
  auto value = ParseJson(text);
  return value ? ToJson(*value) : value.error().text;
}

struct RoundCase {
  const char* in;
  const char* want;
};

class JsonRoundTest : public testing::TestWithParam<RoundCase> {};

TEST_P(JsonRoundTest, ReadsAndWrites) { EXPECT_EQ(Round(GetParam().in), GetParam().want); }

INSTANTIATE_TEST_SUITE_P(
    All, JsonRoundTest,
    testing::Values(RoundCase{R"( { "b" : 1 , "a" : [ true , null ] } )", R"({"b":1,"a":[true,null]})"},
                    RoundCase{"9223372036854775807", "9223372036854775807"},
                    RoundCase{"-9223372036854775808", "-9223372036854775808"},
                    RoundCase{"9223372036854775808", "9223372036854776000"},
                    RoundCase{"18446744073709551615", "18446744073709552000"},
                    RoundCase{"123456789012345678901234567890", "1.2345678901234568e+29"}, RoundCase{"0.1", "0.1"},
                    RoundCase{"1.0", "1"}, RoundCase{"1e2", "100"}, RoundCase{"1e20", "100000000000000000000"},
                    RoundCase{"1e21", "1e+21"}, RoundCase{"1234567890123456.5", "1234567890123456.5"},
                    RoundCase{"-1e20", "-100000000000000000000"}, RoundCase{"1e15", "1000000000000000"},
                    RoundCase{"0.000001", "0.000001"}, RoundCase{"0.0000001", "1e-7"}, RoundCase{"1e-400", "0"},
                    RoundCase{"5e-324", "5e-324"}, RoundCase{"1.7976931348623157e308", "1.7976931348623157e+308"},
                    RoundCase{"0.30000000000000004", "0.30000000000000004"},
                    RoundCase{"2.2250738585072011e-308", "2.225073858507201e-308"},
                    RoundCase{R"("\u00e9\ud83d\ude00\u0001\"\\\/\n")",
                              "\"\xc3\xa9\xf0\x9f\x98\x80\\u0001\\\"\\\\/\\n\""},
                    RoundCase{R"({"a":1,"a":2})", R"({"a":2})"},
                    RoundCase{"", "line 1, column 1: the text ends too early"},
                    RoundCase{"{\n \"a\": [1, 2, x]}", "line 2, column 14 (in a[2]): unexpected character"},
                    RoundCase{"[1e400]", "line 1, column 7 (in [0]): the number is out of range"},
                    RoundCase{R"({"a":{"b":1}} x)", "line 1, column 15: something follows the document"},
                    RoundCase{"\"\xff\"", "line 1, column 2: unexpected character"}));

TEST(JsonTest, DeepTextIsAnErrorNotACrash) {
  const std::string deep(100000, '[');
  auto value = ParseJson(deep);
  ASSERT_FALSE(value);
  EXPECT_THAT(value.error().text, testing::HasSubstr("nested too deep"));
  EXPECT_TRUE(ParseJson(std::string(512, '[') + std::string(512, ']')));
  EXPECT_FALSE(ParseJson(std::string(513, '[') + std::string(513, ']')));
}

TEST(JsonTest, AnOversizedTextIsRefusedUnread) {
  auto value = ParseJson("[1,2,3]", {.max_bytes = 6});
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, Code::kTooLarge);
}

TEST(JsonTest, DuplicateMembersAreNamedByPath) {
  auto got = ParseJsonFindingDuplicates(R"({"a":{"b":1,"b":2,"b":3},"l":[{"x":1},{"y":1,"y":2}],"a":{}})");
  ASSERT_TRUE(got);
  EXPECT_THAT(got->duplicates, testing::ElementsAre("a.b", "l[1].y", "a"));
  EXPECT_THAT(ParseJsonFindingDuplicates(R"({"a":1,"b":{"a":1}})")->duplicates, testing::IsEmpty());
}

TEST(JsonTest, FindsByPathAndSaysWhatIsMissing) {
  const Json root = *ParseJson(R"({"spec":{"n":3,"on":true,"c":[{"image":"a"},{"image":"b"}]}})");
  EXPECT_EQ(GetString(root, "spec.c[1].image"), "b");
  EXPECT_EQ(GetString(root, "spec.c[2].image"), std::nullopt);
  EXPECT_EQ(GetString(root, "spec.c[x].image"), std::nullopt);
  EXPECT_EQ(GetInt(root, "spec.n"), 3);
  EXPECT_TRUE(BoolOr(root, "spec.on"));
  EXPECT_EQ(StringOr(root, "spec.absent", "x"), "x");
  EXPECT_EQ(RequireString(root, "spec.n").error().text, "spec.n: expected a string, got a number");
  EXPECT_EQ(RequireInt(root, "spec.m").error().text, "spec.m: expected an integer, got nothing");
}

TEST(JsonTest, EnsureMakesTheWayAndEraseRemoves) {
  Json root;
  Ensure(root, "metadata.name") = "x";
  EnsureObject(root, "metadata.labels")["a.b/c"] = "d";
  EXPECT_EQ(ToJson(root), R"({"metadata":{"name":"x","labels":{"a.b/c":"d"}}})");
  EXPECT_TRUE(Erase(root, "metadata.labels"));
  EXPECT_FALSE(Erase(root, "metadata.labels"));
  EXPECT_FALSE(Erase(root, "spec.x"));
  EXPECT_EQ(ToJson(root), R"({"metadata":{"name":"x"}})");
}

TEST(JsonTest, EqualityIsByMeaning) {
  EXPECT_TRUE(JsonEqual(*ParseJson(R"({"a":1,"b":[2]})"), *ParseJson(R"({"b":[2.0],"a":1})")));
  EXPECT_FALSE(JsonEqual(*ParseJson("[1,2]"), *ParseJson("[2,1]")));
  EXPECT_FALSE(JsonEqual(*ParseJson(R"({"a":1})"), *ParseJson(R"({"b":1})")));
}

TEST(JsonTest, PrettyTextIsForPeople) {
  EXPECT_EQ(ToPrettyJson(*ParseJson(R"({"a":[1,{}],"b":[]})"), 2),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
}

}  // namespace
}  // namespace gpuop::data
