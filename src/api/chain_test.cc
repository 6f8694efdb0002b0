#include "api/chain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

namespace gpuop::api {
namespace {

TEST(ChainTest, EveryCodeHasItsRowAndARowSaysWhatToDo) {
  std::set<std::string_view> names;
  std::size_t at = 0;
  for (const Reason& reason : Reasons()) {
    EXPECT_EQ(static_cast<std::size_t>(reason.code), at++) << reason.name;
    EXPECT_TRUE(names.insert(reason.name).second) << reason.name;
    EXPECT_TRUE(std::ranges::all_of(reason.name, [](unsigned char c) { return std::isalnum(c) != 0; })) << reason.name;
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(reason.name.front()))) << reason.name;
    EXPECT_FALSE(reason.words.empty()) << reason.name;
    EXPECT_EQ(reason.first_check.empty(), reason.severity == Severity::kFine) << reason.name;
    EXPECT_EQ(FindReason(reason.name), &reason);
  }
  EXPECT_EQ(at, static_cast<std::size_t>(ReasonCode::kXidReported) + 1);
  EXPECT_EQ(FindReason("KubeletReady"), nullptr);
}

TEST(ChainTest, RowsFollowTheChain) {
  EXPECT_TRUE(std::ranges::is_sorted(Reasons(), {}, [](const Reason& r) { return r.link; }));
}

struct FirstCase {
  const char* name;
  std::vector<ReasonCode> found;
  const char* want;
};

class FirstBrokenTest : public testing::TestWithParam<FirstCase> {};

TEST_P(FirstBrokenTest, IsTheOneThatExplainsTheOthers) {
  std::vector<Finding> findings;
  for (ReasonCode code : GetParam().found) findings.push_back({.code = code});
  const Finding* first = FirstBroken(findings);
  EXPECT_EQ(first == nullptr ? "none" : Find(first->code).name, GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    All, FirstBrokenTest,
    testing::Values(FirstCase{"NothingFound", {}, "none"}, FirstCase{"AllProved", {ReasonCode::kProved}, "none"},
                    FirstCase{
                        "EarlierLink", {ReasonCode::kCudaNoDevice, ReasonCode::kDriverNotLoaded}, "DriverNotLoaded"},
                    FirstCase{"OfOneLinkTheFirstFound", {ReasonCode::kGpuLost, ReasonCode::kNoGpu}, "GPULost"},
                    FirstCase{"ABreakBeforeAWarning", {ReasonCode::kPowerBrake, ReasonCode::kXidFatal}, "XidFatal"},
                    FirstCase{"AWarningBeforeNothing", {ReasonCode::kProved, ReasonCode::kPowerBrake}, "PowerBrake"}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(ChainTest, AConditionSaysLinkEvidenceAndFirstCheck) {
  const Finding finding{.code = ReasonCode::kDriverNotLoaded, .evidence = "nvmlInit_v2: DRIVER_NOT_LOADED"};
  const std::string message = ConditionMessage(finding, "n1");
  EXPECT_EQ(message,
            "host driver: the driver's kernel module is not loaded: nvmlInit_v2: DRIVER_NOT_LOADED; first check: "
            "modprobe nvidia; dmesg | tail -n 30 (on node n1)");
  EXPECT_EQ(FirstCheckIn(message), "modprobe nvidia; dmesg | tail -n 30 (on node n1)");
  EXPECT_EQ(ConditionStatus(finding.code), "False");
}

TEST(ChainTest, AConditionWithNothingToDoNamesNoCheck) {
  const std::string message = ConditionMessage({.code = ReasonCode::kProved, .evidence = "8 GPUs computed"}, "n1");
  EXPECT_EQ(message, "every link of the chain was proved: 8 GPUs computed");
  EXPECT_EQ(FirstCheckIn(message), std::nullopt);
  EXPECT_EQ(ConditionStatus(ReasonCode::kProved), "True");
  EXPECT_EQ(ConditionStatus(ReasonCode::kThermalSlowdown), "True");
  EXPECT_EQ(ConditionStatus(ReasonCode::kValidating), "Unknown");
}

TEST(ChainTest, LongEvidenceIsCutAndTheFirstCheckStays) {
  std::string evidence;
  while (evidence.size() < 3000) evidence += "é";
  const std::string message = ConditionMessage({.code = ReasonCode::kNoGpu, .evidence = evidence}, "n1");
  EXPECT_LE(message.size(), 1023U);
  EXPECT_EQ(FirstCheckIn(message), "lspci -d 10de: (on node n1)");
  EXPECT_EQ(message[message.find("; first") - 1], "é"[1]);
}

TEST(ChainTest, NamesOfNodeAndPodAreFilledIn) {
  EXPECT_EQ(FirstCheck(ReasonCode::kUnschedulable, "n1", "-n a b"), "kubectl describe pod -n a b");
  EXPECT_EQ(FirstCheck(ReasonCode::kNodeCordoned, "n1"), "kubectl get node n1");
}

}  // namespace
}  // namespace gpuop::api
