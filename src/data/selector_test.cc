#include "data/field_selector.h"
#include "data/label_selector.h"
#include "data/testing/cases.h"

namespace gpuop::data {
namespace {

using Labels = std::map<std::string, std::string>;

/// The label sets that each case's `matches` speaks of.
const Labels kSets[] = {{}, {{"a", "b"}}, {{"a", "c"}, {"x", "5"}}, {{"env", "prod"}, {"tier", "db"}}, {{"x", "10"}}};

template <class Selector, class Match>
void Check(const Json& c, const Result<Selector>& got, const Match& match) {
  if (const auto error = GetString(c, "error")) {
    ASSERT_FALSE(got) << got->ToString();
    EXPECT_EQ(got.error(), (Error{Code::kInvalid, std::string(*error)}));
    return;
  }
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_EQ(got->ToString(), *GetString(c, "text"));
  for (std::size_t i = 0; i < std::size(kSets); ++i)
    EXPECT_EQ(match(*got, kSets[i]), *GetArray(c, "matches")->at(i).if_bool()) << i;
}

class LabelSelectorTest : public testing::TestWithParam<Json> {};
TEST_P(LabelSelectorTest, ReadsAndMatchesAsKubernetesDoes) {
  const auto got = LabelSelector::Parse(*GetString(GetParam(), "in"));
  Check(GetParam(), got, [](const LabelSelector& s, const Labels& l) { return s.Matches(l); });
  if (got) EXPECT_EQ(LabelSelector::Parse(got->ToString()).value(), *got);
}
INSTANTIATE_TEST_SUITE_P(All, LabelSelectorTest, testing::ValuesIn(TestCases("label_selector.json")));

class LabelSelectorJsonTest : public testing::TestWithParam<Json> {};
TEST_P(LabelSelectorJsonTest, ReadsAndMatchesAsKubernetesDoes) {
  const auto got = LabelSelector::FromJson(GetParam().get_object().if_contains("in"));
  Check(GetParam(), got, [](const LabelSelector& s, const Labels& l) {
    JsonObject object;
    for (const auto& [key, value] : l) object[key] = value;
    return s.Matches(&object);
  });
}
INSTANTIATE_TEST_SUITE_P(All, LabelSelectorJsonTest, testing::ValuesIn(TestCases("label_selector_json.json")));

TEST(LabelSelectorTest, OfLabelsMatchesTheirBearers) {
  const auto selector = LabelSelector::Of({{"a", "c"}, {"x", "5"}});
  EXPECT_EQ(selector.ToString(), "a=c,x=5");
  EXPECT_TRUE(selector.Matches(kSets[2]));
  EXPECT_FALSE(selector.Matches(kSets[1]));
  EXPECT_TRUE(LabelSelector().Everything());
  EXPECT_FALSE(LabelSelector::Nothing().Matches(kSets[0]));
}

class FieldSelectorTest : public testing::TestWithParam<Json> {};
TEST_P(FieldSelectorTest, ReadsAndMatchesAsKubernetesDoes) {
  const auto got = FieldSelector::Parse(*GetString(GetParam(), "in"));
  Check(GetParam(), got, [](const FieldSelector& s, const Labels& fields) {
    return s.MatchesBy([&](const std::string& field) {
      const auto it = fields.find(field);
      return it == fields.end() ? std::string() : it->second;
    });
  });
}
INSTANTIATE_TEST_SUITE_P(All, FieldSelectorTest, testing::ValuesIn(TestCases("field_selector.json")));

TEST(FieldSelectorTest, NamesTheExactValueOfAField) {
  const auto selector = FieldSelector::Parse("spec.nodeName=n1,status.phase!=Failed").value();
  ASSERT_NE(selector.Exact("spec.nodeName"), nullptr);
  EXPECT_EQ(*selector.Exact("spec.nodeName"), "n1");
  EXPECT_EQ(selector.Exact("status.phase"), nullptr);
}

}  // namespace
}  // namespace gpuop::data
