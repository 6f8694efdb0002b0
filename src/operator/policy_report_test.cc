#include "operator/policy_report.h"

#include <gtest/gtest.h>

namespace gpuop::op {
namespace {

using namespace std::chrono_literals;
using Kind = OperandReport::Kind;

constexpr WallTime kThen = FakeClock::kStart, kNow = FakeClock::kStart + 1h;

OperandReport Operand(std::string state, std::string condition, Kind kind = Kind::kReady, std::string message = {}) {
  OperandReport out;
  out.state = std::move(state), out.condition = std::move(condition), out.kind = kind;
  out.reason = kind == Kind::kReady ? "Ready" : "NotReady", out.message = std::move(message);
  return out;
}

/// "True Reason: message @generation" of a condition.
std::string Says(const StatusReport& report, std::string_view type) {
  const api::Condition* c = FindCondition(report.conditions, type);
  if (c == nullptr) return "none";
  return c->status + " " + c->reason + ": " + c->message + " @" + std::to_string(c->observed_generation.value_or(0));
}

struct PolicyReportTest : testing::Test {
  FleetSummary fleet;
  PolicyFindings findings;
  std::vector<api::Condition> before;

  PolicyReportTest() {
    fleet.nodes = fleet.gpu_nodes = fleet.described = 2;
    findings.fleet = &fleet;
  }
  StatusReport Report(const std::vector<OperandReport>& operands) {
    return ReportOperands(operands, findings, Conditions(before, 7, kNow));
  }
};

TEST_F(PolicyReportTest, IsReadyWhenAllOperandsAre) {
  const StatusReport report =
      Report({Operand("state-driver", "Driver"), Operand("state-dcgm", "Dcgm", Kind::kDisabled)});
  EXPECT_EQ(report.state, "ready");
  EXPECT_EQ(Says(report, "Ready"),
            "True Reconciled: ClusterPolicy is ready as all resources have been successfully reconciled @7");
  EXPECT_EQ(Says(report, "Error"), "False Ready:  @7");
  EXPECT_EQ(Says(report, "DriverReady"), "True Ready:  @7");
}

TEST_F(PolicyReportTest, NamesWhatIsNotInOneSentenceInNvidiasOrder) {
  findings.drivers_by_crd = true;
  findings.labels_settled = false;
  fleet.upgrades = {{"drain-required", 1}, {"upgrade-required", 2}};
  const StatusReport report = Report({Operand("state-driver", "Driver", Kind::kWaiting, "0 of 2 Pods available"),
                                      Operand("state-mig-manager", "MigManager", Kind::kFailed, "refused")});
  EXPECT_EQ(report.state, "notReady");
  EXPECT_EQ(
      Says(report, "Error"),
      "True OperandNotReady: ClusterPolicy is not ready; states not ready: [state-driver, state-mig-manager]; "
      "driver upgrade incomplete on nodes: 1 drain-required, 2 upgrade-required; node labels are being written @7");
  EXPECT_EQ(Says(report, "Ready"), "False Error:  @7");
  EXPECT_EQ(Says(report, "DriverReady"), "False NotReady: 0 of 2 Pods available @7");
}

TEST_F(PolicyReportTest, UpgradesOfThePolicysOwnDriverDoNotHoldItUp) {
  fleet.upgrades = {{"upgrade-required", 2}};
  EXPECT_EQ(Report({Operand("state-driver", "Driver")}).state, "ready");
}

TEST_F(PolicyReportTest, AConditionThatSaysTheSameKeepsItsTimeAndAnotherHasItsOwn) {
  before = Report({Operand("state-driver", "Driver")}).conditions;
  for (api::Condition& c : before) c.last_transition_time = FormatTime(kThen);
  const StatusReport same = Report({Operand("state-driver", "Driver", Kind::kReady, "another word")});
  EXPECT_EQ(FindCondition(same.conditions, "DriverReady")->last_transition_time, FormatTime(kThen));
  const StatusReport worse = Report({Operand("state-driver", "Driver", Kind::kWaiting)});
  EXPECT_EQ(FindCondition(worse.conditions, "DriverReady")->last_transition_time, FormatTime(kNow));
  EXPECT_EQ(FindCondition(worse.conditions, "Ready")->last_transition_time, FormatTime(kNow));
}

TEST_F(PolicyReportTest, WarningsStandOnlyWhileTheyHold) {
  EXPECT_EQ(Report({}).conditions.size(), 2U);
  fleet.bad_workload = {{"vm-0", 1}};
  EXPECT_EQ(Says(Report({}), "InvalidWorkloadConfig"), "none") << "nobody reads the label";
  findings.sandbox = true;
  EXPECT_EQ(
      Says(Report({}), "InvalidWorkloadConfig"),
      "True UnknownWorkload: label nvidia.com/gpu.workload.config is none of container, vm-passthrough and vm-vgpu "
      "on vm-0: no operand is deployed there on a guess @7");
  EXPECT_EQ(Report({}).state, "ready");
}

}  // namespace
}  // namespace gpuop::op
