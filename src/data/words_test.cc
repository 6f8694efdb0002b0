#include "data/duration.h"
#include "data/glob.h"
#include "data/names.h"
#include "data/testing/cases.h"

namespace gpuop::data {
namespace {

class NamesTest : public testing::TestWithParam<Json> {};
TEST_P(NamesTest, AreJudgedInKubernetesWords) {
  const Json& c = GetParam();
  const std::string in(*GetString(c, "in"));
  const auto want = [&](std::string_view check) {
    Messages out;
    for (const Json& message : *GetArray(c, check)) out.emplace_back(AsView(message.get_string()));
    return out;
  };
  EXPECT_EQ(CheckDnsLabel(in), want("label"));
  EXPECT_EQ(CheckDnsSubdomain(in), want("subdomain"));
  EXPECT_EQ(CheckDns1035Label(in), want("dns1035"));
  EXPECT_EQ(CheckQualifiedName(in), want("qualified"));
  EXPECT_EQ(CheckLabelValue(in), want("value"));
  EXPECT_EQ(CheckPathSegment(in), want("path"));
  EXPECT_EQ(CheckConfigKey(in), want("config"));
  EXPECT_EQ(CheckPortName(in), want("port"));
}
INSTANTIATE_TEST_SUITE_P(All, NamesTest, testing::ValuesIn(TestCases("names.json")));

TEST(NamesTest, LabelsAndAnnotationsAreNamedWithTheirField) {
  const JsonObject labels{{"a b", "c"}, {"ok", "x y"}};
  const auto errors = CheckLabels(labels, "metadata.labels");
  ASSERT_EQ(errors.size(), 2);
  EXPECT_THAT(errors[0].ToString(),
              testing::StartsWith("metadata.labels: Invalid value: \"a b\": name part must consist of"));
  EXPECT_THAT(errors[1].ToString(),
              testing::StartsWith("metadata.labels: Invalid value: \"x y\": a valid label must be"));
  EXPECT_THAT(CheckAnnotations(JsonObject{{"Upper.Case/X", std::string(1000, ' ')}}, "metadata.annotations"),
              testing::IsEmpty());
  const auto big = CheckAnnotations(JsonObject{{"a", std::string(262144, 'x')}}, "metadata.annotations");
  ASSERT_EQ(big.size(), 1);
  EXPECT_EQ(big[0].ToString(), "metadata.annotations: Too long: may not be more than 262144 bytes");
}

class DurationTest : public testing::TestWithParam<Json> {};
TEST_P(DurationTest, ReadsAndPrintsAsGoDoes) {
  const auto got = ParseDuration(*GetString(GetParam(), "in"));
  if (const auto error = GetString(GetParam(), "error")) {
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().text, *error);
    return;
  }
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_EQ(got->count(), *GetInt(GetParam(), "ns"));
  EXPECT_EQ(FormatDuration(*got), *GetString(GetParam(), "text"));
}
INSTANTIATE_TEST_SUITE_P(All, DurationTest, testing::ValuesIn(TestCases("duration.json")));

class GlobTest : public testing::TestWithParam<Json> {};
TEST_P(GlobTest, MatchesAsGoDoes) {
  const Json& c = GetParam();
  const auto got = MatchGlob(*GetString(c, "pattern"), *GetString(c, "name"));
  if (const auto error = GetString(c, "error")) {
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().text, *error);
    return;
  }
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_EQ(*got, *GetBool(c, "matches"));
}
INSTANTIATE_TEST_SUITE_P(All, GlobTest, testing::ValuesIn(TestCases("glob.json")));

TEST(GlobTest, ManyStarsDoNotTakeForEver) {
  std::string pattern;
  for (int i = 0; i < 1000; ++i) pattern += "*a";
  EXPECT_FALSE(MatchGlob(pattern + "b", std::string(5000, 'a')).value());
  EXPECT_FALSE(MatchWildcard(pattern + "b", std::string(5000, 'a')));
}

TEST(GlobTest, AWildcardCrossesSlashes) {
  EXPECT_TRUE(MatchWildcard("nvidia.com/*", "nvidia.com/gpu"));
  EXPECT_TRUE(MatchWildcard("*", "a/b"));
  EXPECT_TRUE(MatchWildcard("a*b*c", "a1/b2/bc"));
  EXPECT_FALSE(MatchWildcard("a*b", "a/c"));
  EXPECT_FALSE(MatchWildcard("", "a"));
  EXPECT_TRUE(MatchWildcard("**", ""));
}

}  // namespace
}  // namespace gpuop::data
