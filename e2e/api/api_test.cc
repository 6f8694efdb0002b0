// The API suite on the embedded server, in process, held to what the real kube-apiserver answered (testdata/api).
// To renew the recordings: see CONTRIBUTING.md.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/testing/source_dir.h"
#include "e2e/api/mutant_door.h"
#include "e2e/api/transcript.h"
#include "sim/cluster.h"

namespace gpuop::e2e {
namespace {

const std::filesystem::path kGolden = std::filesystem::path(SourceDir()) / "testdata" / "api";

/// Plays a scenario on an embedded cluster of its own, through a mutant's door unless `mutant` is empty.
Transcript PlayEmbedded(const Scenario& scenario, std::string_view mutant = {}) {
  sim::Cluster cluster(1);
  const DoorFactory doors = [&](const std::string& user,
                                const std::vector<std::string>& groups) -> std::unique_ptr<kube::Door> {
    sim::User who = sim::User::Admin();
    if (!user.empty()) who = sim::User{user, "", groups, {}};
    return MakeMutantDoor(cluster.DoorFor(std::move(who)), mutant);
  };
  const Pump pump = [&](const std::function<bool()>& done, Duration limit) {
    return cluster.executor().RunUntil(done, limit);
  };
  return Play(scenario, doors, pump);
}

class ApiSuite : public testing::TestWithParam<Scenario> {};

TEST_P(ApiSuite, AnswersAsTheRealServerDid) {
  const auto golden = ReadGolden(kGolden, GetParam().name);
  ASSERT_TRUE(golden) << golden.error().text;
  std::size_t differences = 0;
  const std::string report = Differences(*golden, PlayEmbedded(GetParam()).text, &differences);
  EXPECT_EQ(differences, 0U) << report;
}

std::string TestName(const testing::TestParamInfo<Scenario>& info) {
  std::string name = info.param.name;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ApiSuite, testing::ValuesIn(AllScenarios()), TestName);

class ApiSuiteMutants : public testing::TestWithParam<Mutant> {};

TEST_P(ApiSuiteMutants, APlantedBugIsCaught) {
  for (const Scenario& scenario : AllScenarios()) {
    if (std::string_view(scenario.name) != GetParam().scenario) continue;
    std::size_t differences = 0;
    Differences(PlayEmbedded(scenario).text, PlayEmbedded(scenario, GetParam().name).text, &differences);
    EXPECT_GT(differences, 0U) << GetParam().name;
    return;
  }
  FAIL() << "no scenario " << GetParam().scenario;
}

INSTANTIATE_TEST_SUITE_P(All, ApiSuiteMutants, testing::ValuesIn(AllMutants()),
                         [](const auto& info) { return "Mutant" + std::to_string(info.index); });

TEST(ApiSuiteItself, HasAtLeastTwoHundredChecks) {
  std::size_t checks = 0;
  for (const Scenario& scenario : AllScenarios()) {
    const auto golden = ReadGolden(kGolden, scenario.name);
    ASSERT_TRUE(golden) << golden.error().text;
    for (std::size_t at = golden->find("--- "); at != std::string::npos; at = golden->find("\n--- ", at + 1)) ++checks;
  }
  EXPECT_GE(checks, 200U);
}

}  // namespace
}  // namespace gpuop::e2e
