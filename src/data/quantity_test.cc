#include "data/quantity.h"

#include "data/testing/cases.h"

namespace gpuop::data {
namespace {

/// Each case is `{in, text, value, milli, again | error}`: what Kubernetes' own reader makes of `in`; `again` is the
/// text after an addition of nothing.
class QuantityTest : public testing::TestWithParam<Json> {};

TEST_P(QuantityTest, ReadsAndWritesAsKubernetesDoes) {
  const Json& c = GetParam();
  const auto got = Quantity::Parse(*GetString(c, "in"));
  if (const auto error = GetString(c, "error")) {
    ASSERT_FALSE(got) << got->ToString();
    EXPECT_EQ(got.error().text, *error);
    return;
  }
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_EQ(got->ToString(), *GetString(c, "text"));
  // Absent where Kubernetes' own number overflows.
  if (const auto value = GetInt(c, "value")) EXPECT_EQ(got->Value(), *value);
  if (const auto milli = GetInt(c, "milli")) EXPECT_EQ(got->MilliValue(), *milli);
  EXPECT_EQ((*got + Quantity()).ToString(), *GetString(c, "again"));
  if (c.get_object().contains("value")) EXPECT_EQ(*Quantity::Parse(got->ToString()), *got);
}

INSTANTIATE_TEST_SUITE_P(All, QuantityTest, testing::ValuesIn(TestCases("quantity.json")));

Quantity Q(std::string_view text) { return Quantity::Parse(text).value(); }

TEST(QuantityTest, ComparesByAmount) {
  EXPECT_EQ(Q("1"), Q("1000m"));
  EXPECT_LT(Q("999m"), Q("1"));
  EXPECT_GT(Q("1Gi"), Q("1G"));
  EXPECT_LT(Q("-1"), Q("0"));
}

TEST(QuantityTest, SumsKeepTheFirstOnesFormat) {
  EXPECT_EQ((Q("1Gi") + Q("512Mi")).ToString(), "1536Mi");
  EXPECT_EQ((Q("0") + Q("512Mi")).ToString(), "512Mi");
  EXPECT_EQ((Q("1") - Q("100m")).ToString(), "900m");
  EXPECT_EQ((Q("1Gi") - Q("1Gi")).ToString(), "0");
  EXPECT_EQ((Q("1k") + Q("1Ki")).ToString(), "2024");
}

TEST(QuantityTest, TheEndsOfTheRangeHold) {
  Quantity sum = Q("1e28");
  for (int i = 0; i < 100; ++i) sum += sum;
  EXPECT_EQ(sum.Value(), INT64_MAX);
  EXPECT_FALSE(Quantity::Parse("1e40"));
  EXPECT_FALSE(Quantity::Parse("1e99999999999999999999"));
  EXPECT_EQ(Q("1e-2000000000").ToString(), "1e-9");
  EXPECT_EQ(Q("0e2000000000").ToString(), "0");
}

TEST(QuantityTest, MakesQuantitiesFromNumbers) {
  EXPECT_EQ(Quantity::Of(2048, Quantity::Format::kBinary).ToString(), "2Ki");
  EXPECT_EQ(Quantity::OfMilli(1500).ToString(), "1500m");
  EXPECT_EQ(Quantity::Of(8).ToString(), "8");
}

}  // namespace
}  // namespace gpuop::data
