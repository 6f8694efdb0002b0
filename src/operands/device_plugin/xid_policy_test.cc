#include "operands/device_plugin/xid_policy.h"

#include <gtest/gtest.h>

#include "data/yaml.h"

namespace gpuop::operands::device_plugin {
namespace {

XidPolicy Make(const std::string& disabled, const std::string& enabled = "", const char* health = "") {
  auto policy = XidPolicy::Make(data::ParseYaml(health).value_or(data::Json()), disabled, enabled);
  EXPECT_TRUE(policy) << policy.error().text;
  return policy ? *policy : XidPolicy();
}

TEST(XidPolicyTest, WhatProgramsDoToThemselvesIsPassedOver) {
  const XidPolicy policy = Make("");
  for (const unsigned xid : {13U, 31U, 43U, 45U, 68U, 109U, 83U, 63U}) EXPECT_TRUE(policy.RuleOf(xid).ignore) << xid;
  for (const unsigned xid : {48U, 64U, 67U, 74U, 79U, 94U, 95U, 119U, 555U})
    EXPECT_FALSE(policy.RuleOf(xid).ignore) << xid;
}

TEST(XidPolicyTest, VariablesTakeXidsOutAndPutThemIn) {
  struct Case {
    const char *disabled, *enabled;
    unsigned xid;
    bool ignore;
  };
  for (const Case& c : {Case{"68,not-an-int,67", "", 67, true}, Case{"-68", "", 79, false}, Case{",", "", 79, false},
                        Case{"79  ", "", 79, true}, Case{"all", "", 79, true}, Case{"XIDS", "", 79, true},
                        Case{"", "all", 13, false}, Case{"", "all", 555, false}, Case{"79", "79", 79, false},
                        Case{"all", "all", 13, false}, Case{"all", "79", 79, true}, Case{"", "31", 31, false}})
    EXPECT_EQ(Make(c.disabled, c.enabled).RuleOf(c.xid).ignore, c.ignore) << c.disabled << " / " << c.enabled;
  EXPECT_TRUE(Make("all").off());
  EXPECT_FALSE(Make("all", "all").off());
}

TEST(XidPolicyTest, TheSettingsFileHasARuleForEachXid) {
  const XidPolicy policy = Make("74", "", R"(
quiet: 90s
xids:
- {xid: 94, effect: ignore}
- {xid: 79, recovery: never}
- {xid: 13, effect: unhealthy, recovery: quiet}
- {xid: 74, effect: unhealthy}
)");
  EXPECT_EQ(policy.quiet(), Duration(std::chrono::seconds(90)));
  EXPECT_TRUE(policy.RuleOf(94).ignore);
  EXPECT_EQ(policy.RuleOf(79).recovery, XidRule::Recovery::kNever);
  EXPECT_FALSE(policy.RuleOf(13).ignore);
  EXPECT_TRUE(policy.RuleOf(74).ignore);  // the variable weighs more
}

TEST(XidPolicyTest, WhatIsFatalWaitsForAResetAndTheRestForQuiet) {
  const XidPolicy policy = Make("");
  EXPECT_EQ(policy.RuleOf(48).recovery, XidRule::Recovery::kReset);
  EXPECT_EQ(policy.RuleOf(94).recovery, XidRule::Recovery::kQuiet);
}

}  // namespace
}  // namespace gpuop::operands::device_plugin
