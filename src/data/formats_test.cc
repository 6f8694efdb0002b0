#include "data/formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace gpuop::data {
namespace {

struct Case {
  const char* format;
  std::vector<std::string_view> good, bad;
};

class FormatsTest : public testing::TestWithParam<Case> {};

TEST_P(FormatsTest, TakesAndRefusesWhatKubeApiserverDoes) {
  for (const std::string_view text : GetParam().good)
    EXPECT_TRUE(MatchesFormat(GetParam().format, text)) << GetParam().format << " \"" << text << "\"";
  for (const std::string_view text : GetParam().bad)
    EXPECT_FALSE(MatchesFormat(GetParam().format, text)) << GetParam().format << " \"" << text << "\"";
}

INSTANTIATE_TEST_SUITE_P(
    All, FormatsTest,
    testing::Values(
        Case{"email", {"a@b.c", "a@b", "\"x y\"@b.c", "Jane <a@b.c>"}, {"a b@c.d", "@b", "a@b.c, d@e.f", ""}},
        Case{"uri",
             {"http://a", "/a", "//a", "http://[::1]", "urn:x:y"},
             {"a", "http://a b", "%zz", "", "#x", "http://a:b"}},
        Case{"hostname",
             {"a", "A", "a-", "1"},
             {"a.b", "-a", "a_b", "a..b", "a.", "1.2.3.4",
              "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "*.a", ""}},
        Case{"ipv4", {"1.2.3.4", "01.2.3.4", "::ffff:1.2.3.4"}, {"1.2.3", "1.2.3.256", "::1", ""}},
        Case{"ipv6", {"::1", "::ffff:1.2.3.4"}, {"1.2.3.4", "fe80::1%eth0", ":::", ""}},
        Case{"ip", {"x", "1.2.3.4"}, {}},
        Case{"cidr", {"1.2.3.0/24", "::/0", "1.2.3.4/24", "01.2.3.0/24"}, {"1.2.3.4", "1.2.3.4/33"}},
        Case{"mac", {"00:11:22:33:44:55", "00-11-22-33-44-55", "0011.2233.4455"}, {"00:11", "g0:11:22:33:44:55"}},
        Case{"uuid",
             {"123e4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000",
              "123E4567-E89B-12D3-A456-426614174000"},
             {"x"}},
        Case{"uuid3", {"123e4567-e89b-32d3-a456-426614174000"}, {"123e4567-e89b-12d3-a456-426614174000"}},
        Case{"uuid4", {"123e4567-e89b-42d3-a456-426614174000"}, {"123e4567-e89b-42d3-c456-426614174000"}},
        Case{"uuid5", {"123e4567-e89b-52d3-a456-426614174000"}, {"123e4567-e89b-42d3-a456-426614174000"}},
        Case{"isbn", {"0-306-40615-2", "978-3-16-148410-0"}, {"123"}},
        Case{"isbn10", {"0306406152"}, {"0306406153", "978-3-16-148410-0"}},
        Case{"isbn13", {"9783161484100"}, {"9783161484101"}},
        Case{"creditcard", {"4111111111111111"}, {"4111111111111112", "1"}},
        Case{"ssn", {"123-45-6789"}, {"123456789"}}, Case{"hexcolor", {"#fff", "#ffffff", "fff"}, {"#ggg"}},
        Case{"rgbcolor", {"rgb(1,2,3)", "rgb(1, 2, 3)"}, {"rgb(256,0,0)", "red"}},
        Case{"byte", {"aGk="}, {"aGk", "***", ""}}, Case{"password", {"anything", ""}, {}},
        Case{"date", {"2020-01-02"}, {"2020-13-01", "2020-1-2", "2020-02-30", ""}},
        Case{"date-time",
             {"2020-01-02T03:04:05Z", "2020-01-02T03:04:05+01:00", "2020-01-02T03:04:05.123Z", "2020-01-02t03:04:05z"},
             {"2020-01-02 03:04:05Z", "2020-01-02", "2020-01-02T03:04:05", "2020-13-02T03:04:05Z", ""}},
        Case{"datetime", {"2020-01-02T03:04:05Z"}, {"x"}},
        Case{"duration", {"1h", "1 day", "3 weeks", "1h30m", "1.5h"}, {"x", "", "5"}},
        Case{"bsonobjectid", {"507f1f77bcf86cd799439011"}, {"x"}},
        Case{"k8s-short-name", {"abc"}, {"A", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}},
        Case{"k8s-long-name", {"a.b"}, {"A"}}, Case{"int32", {"x"}, {}}, Case{"nonsense", {"x"}, {}}),
    [](const auto& c) {
      std::string name(c.param.format);
      std::ranges::replace(name, '-', '_');
      return name;
    });

}  // namespace
}  // namespace gpuop::data
