#include "gpu/mig_name.h"

#include <gtest/gtest.h>

namespace gpuop::gpu {
namespace {

TEST(MigNameTest, ReadsWhatPeopleWriteAndWritesItBack) {
  for (const char* text :
       {"1g.5gb", "1c.3g.20gb", "1g.10gb+me", "1g.24gb+me.all", "1g.24gb-me", "7g.141gb", "2g.48gb+gfx,me", "0g.0gb"}) {
    auto name = ParseMigName(text);
    ASSERT_TRUE(name) << name.error().text;
    EXPECT_EQ(ToText(*name), text);
  }
  EXPECT_EQ(ToText(*ParseMigName("3c.3g.20gb")), "3g.20gb");
  EXPECT_EQ(ParseMigName("1g.10gb+me")->with, std::vector<std::string>{"me"});
  EXPECT_EQ(ParseMigName("2c.3g.20gb")->c, 2U);
}

TEST(MigNameTest, RefusesWithAReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"bogus", R"(MIG profile "bogus": expected <number>g.<number>gb)"},
      {"1g", R"(MIG profile "1g": expected <number>g.<number>gb)"},
      {"1g.5", R"(MIG profile "1g.5": expected <number>gb after the "g.")"},
      {"-1g.5gb", R"(MIG profile "-1g.5gb": expected <number>g.<number>gb)"},
      {"1g.5gb+", R"(MIG profile "1g.5gb+": an attribute is empty)"},
      {"1g.5gb x", R"(MIG profile "1g.5gb x": expected "+" or "-" and attributes, or nothing, after "gb")"},
      {"1g.5gb+me-me", R"(MIG profile "1g.5gb+me-me": "+" and "-" attributes do not go together)"},
      {"1g.5gb+me,me", R"(MIG profile "1g.5gb+me,me": attribute "me" is there twice)"},
      {"1g.5gb+1me", R"(MIG profile "1g.5gb+1me": attribute "1me" begins with a digit)"},
      {"1g.5gb+me.", R"(MIG profile "1g.5gb+me.": attribute "me." begins or ends with a dot)"},
      {"1g.5gb+m_e", R"(MIG profile "1g.5gb+m_e": attribute "m_e" holds something else than letters, digits and dots)"},
      {"99999999999g.5gb", R"(MIG profile "99999999999g.5gb": expected <number>g.<number>gb)"},
  };
  for (const auto& [text, error] : cases) {
    auto name = ParseMigName(text);
    ASSERT_FALSE(name) << text;
    EXPECT_EQ(name.error(), (Error{Code::kInvalid, error}));
  }
}

TEST(MigNameTest, GigabytesAreEighthsOfTheCard) {
  struct Case {
    unsigned total_gib;
    unsigned eighth, quarter, half, whole;
  };
  for (const Case& c :
       {Case{40, 5, 10, 20, 40}, Case{80, 10, 20, 40, 80}, Case{94, 12, 24, 47, 94}, Case{96, 12, 24, 48, 96},
        Case{141, 18, 35, 71, 141}, Case{144, 18, 36, 72, 144}, Case{180, 23, 45, 90, 180}, Case{186, 23, 47, 93, 186},
        Case{189, 24, 47, 95, 189}, Case{269, 34, 67, 135, 269}, Case{278, 35, 70, 139, 278}}) {
    const std::uint64_t mib = c.total_gib * 1024ULL, bytes = mib << 20U;
    EXPECT_EQ(MigNameGigabytes(mib / 8, bytes), c.eighth) << c.total_gib;
    EXPECT_EQ(MigNameGigabytes(mib / 4, bytes), c.quarter) << c.total_gib;
    EXPECT_EQ(MigNameGigabytes(mib / 2, bytes), c.half) << c.total_gib;
    EXPECT_EQ(MigNameGigabytes(mib, bytes), c.whole) << c.total_gib;
  }
  EXPECT_EQ(MigNameGigabytes(0, 0), 0U);
}

TEST(MigNameTest, ResourcesHaveNoPlus) {
  EXPECT_EQ(ToResourceText("1g.10gb+me"), "1g.10gb.me");
  EXPECT_EQ(ToResourceText("1g.24gb-me"), "1g.24gb-me");
}

}  // namespace
}  // namespace gpuop::gpu
