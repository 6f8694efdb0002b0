#include "operands/device_plugin/preferred.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "base/rng.h"
#include "operands/device_plugin/testing/profiles.h"

namespace gpuop::operands::device_plugin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Resource Shares(unsigned gpus, unsigned replicas) {
  Resource out{.name = "nvidia.com/gpu"};
  for (unsigned i = 0; i < gpus; ++i)
    out.units.push_back(
        {.uuid = fmt::format("gpu{}", i), .gpu = fmt::format("gpu{}", i), .replicas = replicas, .shared = true});
  return out;
}

std::vector<std::string> AllIds(const Resource& resource) {
  std::vector<std::string> out;
  for (const Unit& unit : resource.units)
    for (std::string& id : IdsOf(unit)) out.push_back(std::move(id));
  return out;
}

/// How many of each GPU, most first.
std::vector<int> CountsOf(const std::vector<std::string>& ids) {
  std::map<std::string, int> counts;
  for (const std::string& id : ids) ++counts[std::string(UuidOf(id))];
  std::vector<int> out;
  for (const auto& [gpu, count] : counts) out.push_back(count);
  std::ranges::sort(out, std::greater<>());
  return out;
}

struct SpreadCase {
  const char* name;
  unsigned gpus, replicas;
  Spread spread;
  int size;
  std::vector<int> want;
};
class SpreadTest : public testing::TestWithParam<SpreadCase> {};

TEST_P(SpreadTest, SharesComeFromTheGpusThatThePolicyWants) {
  const SpreadCase& c = GetParam();
  const Resource resource = Shares(c.gpus, c.replicas);
  const Chooser chooser(resource, {}, c.spread);
  const auto first = chooser.Choose({AllIds(resource), {}, c.size});
  ASSERT_TRUE(first) << first.error().text;
  EXPECT_EQ(CountsOf(*first), c.want);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(*chooser.Choose({AllIds(resource), {}, c.size}), *first);
}

INSTANTIATE_TEST_SUITE_P(All, SpreadTest,
                         testing::Values(SpreadCase{"TwoOfTwo", 2, 4, Spread::kDistributed, 2, {1, 1}},
                                         SpreadCase{"FourOfTwo", 2, 4, Spread::kDistributed, 4, {2, 2}},
                                         SpreadCase{"ThreeOfThree", 3, 2, Spread::kDistributed, 3, {1, 1, 1}},
                                         SpreadCase{"TwoPacked", 2, 4, Spread::kPacked, 2, {2}},
                                         SpreadCase{"FourPacked", 2, 4, Spread::kPacked, 4, {4}},
                                         SpreadCase{"FivePacked", 2, 4, Spread::kPacked, 5, {4, 1}},
                                         SpreadCase{"ThreePacked", 3, 2, Spread::kPacked, 3, {2, 1}}),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(SpreadTest, UsedGpusCountAndRequiredSharesComeBack) {
  const Resource resource = Shares(2, 4);
  const std::vector<std::string> available = {"gpu0::1", "gpu0::2", "gpu0::3", "gpu1::0",
                                              "gpu1::1", "gpu1::2", "gpu1::3"};
  EXPECT_THAT(*Chooser(resource, {}, Spread::kDistributed).Choose({available, {}, 1}), ElementsAre("gpu1::0"));
  EXPECT_THAT(*Chooser(resource, {}, Spread::kPacked).Choose({available, {}, 1}), ElementsAre("gpu0::1"));
  EXPECT_THAT(*Chooser(resource, {}, Spread::kPacked).Choose({available, {"gpu1::3"}, 2}),
              ElementsAre("gpu1::3", "gpu0::1"));
  EXPECT_THAT(*Chooser(resource, {}, Spread::kPacked).Choose({available, {"gpu1::3", "gpu1::2"}, 1}),
              ElementsAre("gpu1::3", "gpu1::2"));
}

TEST(SpreadTest, TooFewIsAnErrorAndStrangersAreNotCounted) {
  const Resource resource = Shares(1, 2);
  const auto answer = Chooser(resource, {}, Spread::kDistributed).Choose({AllIds(resource), {}, 5});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().text,
            "error getting list of preferred allocation devices: not enough available devices to satisfy allocation");
  EXPECT_FALSE(Chooser(resource, {}, Spread::kDistributed).Choose({{"gpu0::0", "other"}, {}, 2}));
}

/// Four GPUs, linked 0-1 and 2-3.
gpu::Inventory Pairs(unsigned gpus = 4) {
  gpu::Inventory out;
  out.closeness.resize(std::size_t{gpus} * gpus);
  for (unsigned i = 0; i < gpus; ++i) {
    out.devices.emplace_back().uuid = fmt::format("gpu{}", i);
    out.devices.back().index = i;
    out.closeness[i * gpus + (i ^ 1U)].links = 4;
  }
  return out;
}

Resource WholeGpus(const gpu::Inventory& inventory) {
  return PlanResources(inventory, {}, SettingsOf({})).resources.front();
}

TEST(AlignedTest, LinkedGpusStayTogether) {
  const auto machine = Pairs();
  const Chooser chooser(WholeGpus(machine), Affinity(machine), Spread::kDistributed);
  const std::vector<std::string> all = {"gpu0", "gpu1", "gpu2", "gpu3"};
  EXPECT_THAT(*chooser.Choose({all, {}, 2}), ElementsAre("gpu0", "gpu1"));
  EXPECT_THAT(*chooser.Choose({all, {"gpu2"}, 2}), ElementsAre("gpu2", "gpu3"));
  EXPECT_THAT(*chooser.Choose({all, {}, 1}), ElementsAre("gpu0"));
  EXPECT_THAT(*chooser.Choose({all, {}, 4}), ElementsAre("gpu0", "gpu1", "gpu2", "gpu3"));
  EXPECT_THAT(*chooser.Choose({{"gpu1", "gpu2"}, {"gpu0"}, 2}), IsEmpty());
  EXPECT_THAT(*chooser.Choose({all, {}, 5}), IsEmpty());
  EXPECT_THAT(*chooser.Choose({all, {}, 0}), IsEmpty());
  EXPECT_THAT(*chooser.Choose({all, {"gpu0", "gpu1"}, 1}), IsEmpty());
  EXPECT_EQ(chooser.Choose({{"gpu0", "gone"}, {}, 1}).error().text,
            "error getting list of preferred allocation devices: unable to retrieve list of available devices: no "
            "device with uuid: gone");
}

TEST(AlignedTest, SinglesFillPairsSoThatLaterPairsAreWhole) {
  const auto machine = Pairs(8);
  const Chooser chooser(WholeGpus(machine), Affinity(machine), Spread::kDistributed);
  std::vector<std::string> free;
  for (unsigned i = 0; i < 8; ++i) free.push_back(fmt::format("gpu{}", i));
  std::vector<std::vector<std::string>> got;
  for (const int size : {1, 1, 1, 1, 2, 2}) {
    got.push_back(*chooser.Choose({free, {}, size}));
    for (const std::string& id : got.back()) std::erase(free, id);
  }
  EXPECT_THAT(got, ElementsAre(ElementsAre("gpu0"), ElementsAre("gpu1"), ElementsAre("gpu2"), ElementsAre("gpu3"),
                               ElementsAre("gpu4", "gpu5"), ElementsAre("gpu6", "gpu7")));
}

TEST(AlignedTest, WithoutLinksTheNumaNodeDecides) {
  gpu::Inventory machine = MachineOf("a100");
  machine.closeness.assign(64, {});
  const Chooser chooser(WholeGpus(machine), Affinity(machine), Spread::kDistributed);
  std::vector<std::string> free;
  for (const std::size_t i : {0U, 4U, 5U}) free.push_back(machine.devices[i].uuid);
  EXPECT_THAT(*chooser.Choose({free, {}, 2}), ElementsAre(machine.devices[4].uuid, machine.devices[5].uuid));
}

TEST(AlignedTest, ALostGpuTakesNothingElseAway) {
  gpu::Inventory machine = Pairs();
  const Resource all = WholeGpus(machine);
  machine.devices[3].unreadable = "NVML_ERROR_GPU_IS_LOST";
  const auto choice = Chooser(all, Affinity(machine), Spread::kDistributed).Choose({{"gpu0", "gpu1", "gpu2"}, {}, 1});
  ASSERT_TRUE(choice);
  EXPECT_THAT(*choice, ElementsAre("gpu2"));  // it has no partner
}

/// Straightforward and slow: every subset by counting.
std::pair<int, int> BestWorth(const std::vector<int>& scores, std::size_t n, std::uint64_t required, int size) {
  std::pair<int, int> best(-1, 0);
  for (std::uint64_t set = 0; set < 1ULL << n; ++set) {
    if (std::popcount(set) != size || (set & required) != required) continue;
    int inside = 0, torn = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) {
        const bool a = (set >> i & 1U) != 0, b = (set >> j & 1U) != 0;
        if (a && b) inside += scores[i * n + j];
        if (a != b) torn += scores[i * n + j];
      }
    best = std::max(best, std::pair(inside, -torn));
  }
  return best;
}

std::pair<int, int> WorthOf(const std::vector<int>& scores, std::size_t n, std::uint64_t set) {
  int inside = 0, torn = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) {
      const int sides = static_cast<int>(set >> i & 1U) + static_cast<int>(set >> j & 1U);
      if (sides == 2) inside += scores[i * n + j];
      if (sides == 1) torn += scores[i * n + j];
    }
  return {inside, -torn};
}

TEST(AlignedTest, TheBestSetIsWhatLookingAtEverySetFinds) {
  Rng rng(5);
  for (int round = 0; round < 400; ++round) {
    const std::size_t n = 1 + rng.Below(9);
    std::vector<int> scores(n * n, 0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j)
        scores[i * n + j] = scores[j * n + i] = static_cast<int>(10 * (1 + rng.Below(6)) + 100 * rng.Below(5));
    const auto size = static_cast<int>(1 + rng.Below(n));
    std::uint64_t required = rng.Next() & ((1ULL << n) - 1) & rng.Next();
    while (std::popcount(required) > size) required &= required - 1;
    const std::uint64_t set = BestSet(scores, n, required, static_cast<std::size_t>(size));
    EXPECT_EQ(std::popcount(set), size);
    EXPECT_EQ(set & required, required);
    EXPECT_EQ(WorthOf(scores, n, set), BestWorth(scores, n, required, size));
  }
}

TEST(AlignedTest, SetsThatAreTooManyToLookAtAreGrown) {
  const std::size_t n = 40;  // five boxes of eight
  std::vector<int> scores(n * n, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (i != j) scores[i * n + j] = i / 8 == j / 8 ? 100 : 10;
  const std::uint64_t set = BestSet(scores, n, 1ULL << 11U, 8);
  EXPECT_EQ(set, 0xffULL << 8U);
}

TEST(AlignedTest, SixteenGpusAreChosenAsWellAsCanBe) {
  const std::size_t n = 16;  // two boards of eight, of which one has lost some links
  std::vector<int> scores(n * n, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (i != j) scores[i * n + j] = i / 8 != j / 8 ? 610 : i + j == 1 ? 410 : 1210;
  for (const int size : {2, 4, 8, 15}) {
    const std::uint64_t set = BestSet(scores, n, 1, static_cast<std::size_t>(size));
    EXPECT_EQ(WorthOf(scores, n, set), BestWorth(scores, n, 1, size)) << size;
  }
}

}  // namespace
}  // namespace gpuop::operands::device_plugin
