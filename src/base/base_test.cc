#include <gtest/gtest.h>

#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/text.h"

namespace gpuop {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return Fail(Code::kInvalid, std::to_string(n) + " is odd");
  return n / 2;
}

Result<int> Quarter(int n) {
  ASSIGN(const int half, Half(n));
  TRY(Half(half));
  return half / 2;
}

TEST(Result, AnErrorTravelsWithItsCodeAndGathersContext) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).error(), (Error{Code::kInvalid, "3 is odd"}));
  EXPECT_EQ(Quarter(7).error().text, "7 is odd");
  EXPECT_EQ(Error(Code::kIo, "disk full").During("write x").During("save").text, "save: write x: disk full");
  EXPECT_EQ(CodeName(Code::kGone), "Gone");
}

TEST(Time, IsWrittenAsKubernetesWritesIt) {
  const auto t = ParseTime("2026-11-30T23:59:58.123456789+01:30");
  ASSERT_TRUE(t);
  EXPECT_EQ(FormatTime(*t), "2026-11-30T22:29:58Z");
  EXPECT_EQ(FormatMicroTime(*t), "2026-11-30T22:29:58.123456Z");
}

class BadTimes : public testing::TestWithParam<const char*> {};
TEST_P(BadTimes, AreRefused) { EXPECT_FALSE(ParseTime(GetParam())); }
INSTANTIATE_TEST_SUITE_P(All, BadTimes,
                         testing::Values("", "2026", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z",
                                         "2026-01-01T00:00:00", "2026-01-01T00:00:00Zx", "2026-01-01T00:00:00+1:00",
                                         "20a6-01-01T00:00:00Z"));

TEST(Text, SplitsCutsAndJoins) {
  EXPECT_EQ(Split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(Split("", ','), (std::vector<std::string_view>{""}));
  EXPECT_EQ(Cut("a=b=c", '='), (std::pair<std::string_view, std::string_view>{"a", "b=c"}));
  EXPECT_FALSE(Cut("abc", '='));
  EXPECT_EQ(Join({"a", "b"}, ", "), "a, b");
  EXPECT_EQ(Trim(" \t a b \r\n"), "a b");
  EXPECT_TRUE(EqualsIgnoreCase("Retry-After", "retry-AFTER"));
}

TEST(Text, QuotesSoThatALineStaysOneLine) { EXPECT_EQ(Quote("a\"b\\\n\x01\x7f"), R"("a\"b\\\n\u0001\u007f")"); }

TEST(Text, NumbersAndBooleansAreWholeOrNothing) {
  EXPECT_EQ(ParseInt("-9223372036854775808"), INT64_MIN);
  EXPECT_FALSE(ParseInt("9223372036854775808"));
  EXPECT_FALSE(ParseInt("1x"));
  EXPECT_FALSE(ParseInt(""));
  EXPECT_EQ(ParseBool("True"), true);
  EXPECT_EQ(ParseBool("0"), false);
  EXPECT_FALSE(ParseBool("yes"));
}

struct Base64Case {
  const char *plain, *coded;
};
class Base64 : public testing::TestWithParam<Base64Case> {};
TEST_P(Base64, BothWays) {
  EXPECT_EQ(Base64Encode(GetParam().plain), GetParam().coded);
  EXPECT_EQ(Base64Decode(GetParam().coded), GetParam().plain);
}
// The vectors of RFC 4648 §10.
INSTANTIATE_TEST_SUITE_P(Rfc4648, Base64,
                         testing::Values(Base64Case{"", ""}, Base64Case{"f", "Zg=="}, Base64Case{"fo", "Zm8="},
                                         Base64Case{"foo", "Zm9v"}, Base64Case{"foob", "Zm9vYg=="},
                                         Base64Case{"fooba", "Zm9vYmE="}, Base64Case{"foobar", "Zm9vYmFy"}));

TEST(Base64, RefusesWhatIsNotBase64) {
  for (const char* bad : {"Z", "Zg", "Zg=", "Zg==Zg==", "Zh==", "Zm9=", "Z!==", "=", "===="})
    EXPECT_FALSE(Base64Decode(bad)) << bad;
}

TEST(Text, Utf8IsCheckedStrictly) {
  EXPECT_TRUE(IsUtf8("grün \xf0\x9f\x98\x80"));
  for (const char* bad : {"\x80", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xff"})
    EXPECT_FALSE(IsUtf8(bad));
}

TEST(Rng, IsTheSameForTheSameSeed) {
  Rng a(5), b(5), c(6);
  const std::string uuid = NewUuid(a);
  EXPECT_EQ(uuid, NewUuid(b));
  EXPECT_NE(uuid, NewUuid(c));
  EXPECT_EQ(uuid.size(), 36U);
  EXPECT_EQ(uuid[14], '4');
  EXPECT_EQ(NameSuffix(a).size(), 5U);
  EXPECT_EQ(a.Below(0), 0U);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LT(a.Below(7), 7U);
    EXPECT_LT(a.Unit(), 1.0);
  }
}

TEST(Log, QuotesOnlyWhatNeedsIt) {
  FakeLog log;
  log.Info("node labelled", {{"node", "n1"}, {"why", "two words"}, {"empty", ""}});
  EXPECT_EQ(log.Lines(), std::vector<std::string>{R"(INFO node labelled node=n1 why="two words" empty="")"});
}

TEST(TextTest, WritesAUuid) {
  EXPECT_EQ(UuidText(std::string("\x0f\x1e\x2d\x3c\x4b\x5a\x69\x78\x87\x96\xa5\xb4\xc3\xd2\xe1\x00", 16)),
            "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e100");
}

}  // namespace
}  // namespace gpuop
