#include "gpu/mig_geometry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/rng.h"
#include "gpu/mig_name.h"

namespace gpuop::gpu {
namespace {

using Counts = std::vector<unsigned>;  // by profile of a model

/// All that fits, found without any of the arithmetic under test: every set of non-overlapping placements, then the
/// engines and counts of the table.
class BruteForce {
 public:
  explicit BruteForce(const MigModel& model) : model_(model), counts_(model.profiles.size()) { Try(0, 0); }
  const std::set<Counts>& fitting() const { return fitting_; }

 private:
  void Try(std::size_t profile, unsigned from) {
    fitting_.insert(counts_);
    for (std::size_t i = profile; i < counts_.size(); ++i) {
      const MigProfile& p = model_.profiles[i];
      for (unsigned s = i == profile ? from : 0; s < p.starts; ++s) TryAt(i, s);
    }
  }
  void TryAt(std::size_t i, unsigned s) {
    const MigProfile& p = model_.profiles[i];
    const unsigned first = s * p.step;
    for (unsigned slice = first; slice < first + p.size; ++slice)
      if (used_.contains(slice)) return;
    ++counts_[i];
    if (SumsAllow()) {
      for (unsigned slice = first; slice < first + p.size; ++slice) used_.insert(slice);
      Try(i, s + 1);
      for (unsigned slice = first; slice < first + p.size; ++slice) used_.erase(slice);
    }
    --counts_[i];
  }
  bool SumsAllow() const {
    unsigned slices = 0, copy = 0, decoder = 0, encoder = 0, jpeg = 0, ofa = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const MigProfile& p = model_.profiles[i];
      if (counts_[i] > p.max_instances) return false;
      slices += counts_[i] * p.slices;
      copy += counts_[i] * p.engines.copy;
      decoder += counts_[i] * p.engines.decoder;
      encoder += counts_[i] * p.engines.encoder;
      jpeg += counts_[i] * p.engines.jpeg;
      ofa += counts_[i] * p.engines.ofa;
    }
    const MigEngines& e = model_.engines;
    return slices <= model_.compute_slices && copy <= e.copy && decoder <= e.decoder && encoder <= e.encoder &&
           jpeg <= e.jpeg && ofa <= e.ofa;
  }

  const MigModel& model_;
  Counts counts_;
  std::set<unsigned> used_;
  std::set<Counts> fitting_;
};

std::vector<const MigProfile*> Wanted(const MigModel& model, const Counts& counts) {
  std::vector<const MigProfile*> wanted;
  for (std::size_t i = 0; i < counts.size(); ++i)
    for (unsigned n = 0; n < counts[i]; ++n) wanted.push_back(&model.profiles[i]);
  return wanted;
}

/// Instances by name, each put where Place finds room.
Result<std::vector<MigInstance>> PlaceNames(const MigModel& model, const std::vector<std::string>& names) {
  std::vector<const MigProfile*> wanted;
  for (const std::string& name : names) wanted.push_back(model.FindByName(name));
  return Place(model, {}, wanted);
}

void ExpectLegal(const MigModel& model, std::span<const MigInstance> layout) {
  std::vector<MigInstance> taken;
  for (const MigInstance& instance : layout) {
    EXPECT_EQ(WhyNot(model, taken, *instance.profile, instance.placement), "") << instance.profile->name;
    taken.push_back(instance);
  }
}

class EveryModel : public testing::TestWithParam<const MigModel*> {};

TEST_P(EveryModel, PlacesExactlyWhatBruteForceCanPlace) {
  const MigModel& model = *GetParam();
  const BruteForce truth(model);
  // Every multiset that fits, and every one that is a single profile more.
  for (const Counts& counts : truth.fitting()) {
    auto placed = Place(model, {}, Wanted(model, counts));
    ASSERT_TRUE(placed) << placed.error().text;
    ExpectLegal(model, *placed);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      Counts more = counts;
      ++more[i];
      EXPECT_EQ(Place(model, {}, Wanted(model, more)).has_value(), truth.fitting().contains(more))
          << model.name << ": one more " << model.profiles[i].name;
    }
  }
}

TEST_P(EveryModel, RemainingCapacityIsWhatCanReallyBeAdded) {
  const MigModel& model = *GetParam();
  Rng rng(7);
  for (int run = 0; run < 200; ++run) {
    std::vector<MigInstance> taken;
    for (int step = 0; step < 8; ++step) {
      const MigProfile& profile = model.profiles[rng.Below(model.profiles.size())];
      const auto free = FreePlacements(model, taken, profile);
      const unsigned capacity = RemainingCapacity(model, taken, profile);
      // The most that can be added is found by trying all subsets through Place.
      unsigned most = 0;
      while (Place(model, taken, std::vector<const MigProfile*>(most + 1, &profile))) ++most;
      EXPECT_EQ(capacity, most) << model.name << " " << profile.name;
      EXPECT_EQ(free.empty(), most == 0);
      if (free.empty()) continue;
      const auto preferred = PreferredPlacement(model, taken, profile);
      ASSERT_TRUE(preferred);
      EXPECT_THAT(free, testing::Contains(*preferred));
      taken.push_back({&profile, rng.Below(2) == 0 ? *preferred : free[rng.Below(free.size())]});
      ExpectLegal(model, taken);
    }
  }
}

TEST_P(EveryModel, NamesFollowFromMemory) {
  const MigModel& model = *GetParam();
  for (const MigProfile& profile : model.profiles) {
    auto name = ParseMigName(profile.name);
    ASSERT_TRUE(name) << name.error().text;
    EXPECT_EQ(name->g, profile.slices) << profile.name;
    EXPECT_EQ(name->gb, MigNameGigabytes(profile.memory_mib, model.memory_mib << 20U)) << model.name << profile.name;
  }
}

TEST_P(EveryModel, ProfilesAreToldApartByNameAndNumbers) {
  const MigModel& model = *GetParam();
  for (const MigProfile& profile : model.profiles) {
    EXPECT_EQ(model.FindByName(profile.name), &profile);
    EXPECT_EQ(model.FindById(profile.id), &profile);
    EXPECT_EQ(model.FindByNvmlProfile(profile.nvml_profile), &profile);
    EXPECT_EQ(RemainingCapacity(model, {}, profile), profile.max_instances) << model.name << " " << profile.name;
  }
  EXPECT_EQ(model.FindByName("9g.9gb"), nullptr);
  for (const std::uint16_t id : model.device_ids) EXPECT_EQ(FindMigModel(id, model.memory_mib), &model);
}

TEST_P(EveryModel, PlacementsThatDoNotOverlapHaveDifferentIds) {
  const MigModel& model = *GetParam();
  std::map<unsigned, MigPlacement> seen;
  for (const MigProfile& profile : model.profiles)
    for (const MigPlacement at : FreePlacements(model, {}, profile)) {
      const auto [it, fresh] = seen.emplace(GpuInstanceId(model, at), at);
      EXPECT_EQ(it->second, at);
    }
}

std::vector<const MigModel*> All() {
  std::vector<const MigModel*> all;
  for (const MigModel& model : MigModels()) all.push_back(&model);
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, EveryModel, testing::ValuesIn(All()), [](const auto& p) {
  std::string name(p.param->name);
  std::erase(name, '-');
  return name;
});

struct SetCase {
  const char* model;
  std::vector<std::string> profiles;
  bool fits;
};

TEST(MigGeometryTest, KnownSetsFitOrDoNot) {
  const std::vector<SetCase> cases = {
      {"A100-40GB", {"1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb"}, true},
      {"A100-40GB", {"2g.10gb", "2g.10gb", "2g.10gb", "1g.5gb"}, true},
      {"A100-40GB", {"3g.20gb", "3g.20gb"}, true},
      {"A100-40GB", {"3g.20gb", "3g.20gb", "1g.5gb"}, false},
      {"A100-40GB", {"4g.20gb", "3g.20gb"}, true},
      {"A100-40GB", {"4g.20gb", "2g.10gb", "1g.5gb"}, true},
      {"A100-40GB", {"1g.5gb", "1g.5gb", "2g.10gb", "3g.20gb"}, true},
      {"A100-40GB", {"1g.5gb", "1g.5gb", "1g.5gb", "2g.10gb", "2g.10gb"}, true},
      {"A100-40GB", {"1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "2g.10gb", "2g.10gb"}, false},
      {"A100-40GB", {"1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb"}, true},
      {"A100-40GB", {"4g.20gb", "4g.20gb"}, false},
      {"A100-40GB", {"1g.5gb+me", "1g.5gb+me"}, false},
      {"A100-40GB", {"1g.5gb+me", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb"}, true},
      {"A30", {"1g.6gb", "1g.6gb", "2g.12gb"}, true},
      {"A30", {"2g.12gb+me", "1g.6gb+me"}, false},
      {"RTX-PRO-6000", {"1g.24gb+me.all", "1g.24gb-me", "2g.48gb-me"}, true},
      {"RTX-PRO-6000", {"1g.24gb+me.all", "1g.24gb"}, false},
      {"RTX-PRO-6000", {"1g.24gb+gfx", "1g.24gb", "2g.48gb"}, true},
  };
  for (const SetCase& c : cases)
    EXPECT_EQ(PlaceNames(*FindMigModel(c.model), c.profiles).has_value(), c.fits)
        << c.model << " " << testing::PrintToString(c.profiles);
}

TEST(MigGeometryTest, ARefusalNamesTheProfileAndTheReason) {
  const MigModel& a100 = *FindMigModel("A100-40GB");
  EXPECT_EQ(PlaceNames(a100, {"3g.20gb", "3g.20gb", "1g.5gb"}).error(),
            (Error{Code::kUnavailable, "A100-40GB: no room for 1g.5gb: no placement is free beside the others"}));
  EXPECT_EQ(PlaceNames(a100, {"7g.40gb", "1g.5gb"}).error().text,
            "A100-40GB: no room for 1g.5gb: all 7 compute slices are taken");
  EXPECT_EQ(PlaceNames(a100, {"1g.5gb+me", "1g.5gb+me"}).error().text,
            "A100-40GB: no room for 1g.5gb+me: at most 1 of them fit on one GPU");
  EXPECT_EQ(PlaceNames(*FindMigModel("RTX-PRO-6000"), {"1g.24gb+me.all", "1g.24gb"}).error().text,
            "RTX-PRO-6000: no room for 1g.24gb: no decoder is left");
}

TEST(MigGeometryTest, WhatIsKeptStaysWhereItIs) {
  const MigModel& a100 = *FindMigModel("A100-40GB");
  const MigProfile& one = *a100.FindByName("1g.5gb");
  const MigProfile& three = *a100.FindByName("3g.20gb");
  const std::vector<MigInstance> kept = {{&one, {1, 1}}};
  auto placed = Place(a100, kept, std::vector{&three});
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->front().placement, (MigPlacement{4, 4}));
  EXPECT_FALSE(Place(a100, kept, std::vector{&three, &three}));
}

TEST(MigGeometryTest, TheNextInstanceLeavesRoomForLargerOnes) {
  const MigModel& a100 = *FindMigModel("A100-40GB");
  std::vector<MigInstance> taken;
  for (const char* name : {"1g.5gb", "2g.10gb", "4g.20gb"}) {
    const MigProfile& profile = *a100.FindByName(name);
    const auto at = PreferredPlacement(a100, taken, profile);
    ASSERT_TRUE(at) << name;
    taken.push_back({&profile, *at});
  }
  EXPECT_EQ(taken[0].placement, (MigPlacement{6, 1}));
  EXPECT_EQ(taken[1].placement, (MigPlacement{4, 2}));
  EXPECT_EQ(taken[2].placement, (MigPlacement{0, 4}));
}

TEST(MigGeometryTest, InstanceIdsAreThoseOfListings) {
  const MigModel& a100 = *FindMigModel("A100-40GB");
  EXPECT_EQ(GpuInstanceId(a100, {0, 8}), 0U);
  EXPECT_EQ(GpuInstanceId(a100, {4, 4}), 2U);
  EXPECT_EQ(GpuInstanceId(a100, {4, 2}), 5U);
  EXPECT_EQ(GpuInstanceId(a100, {6, 1}), 13U);
  EXPECT_EQ(GpuInstanceId(*FindMigModel("RTX-PRO-6000"), {9, 3}), 6U);
}

TEST(MigGeometryTest, ComputeInstancesSplitAGpuInstance) {
  const MigModel& a100 = *FindMigModel("A100-40GB");
  const MigProfile& seven = *a100.FindByName("7g.40gb");
  std::vector<std::string> got;
  for (const MigComputeProfile& p : ComputeProfiles(a100, seven))
    got.push_back(ComputeProfileName(seven, p.slices) + " x" + std::to_string(p.max_instances) + " sm" +
                  std::to_string(p.multiprocessors));
  EXPECT_THAT(got, testing::ElementsAre("1c.7g.40gb x7 sm14", "2c.7g.40gb x3 sm28", "3c.7g.40gb x2 sm42",
                                        "4c.7g.40gb x1 sm56", "7g.40gb x1 sm98"));
  const MigProfile& three = *a100.FindByName("3g.20gb");
  got.clear();
  for (const MigComputeProfile& p : ComputeProfiles(a100, three))
    got.push_back(ComputeProfileName(three, p.slices) + " x" + std::to_string(p.max_instances));
  EXPECT_THAT(got, testing::ElementsAre("1c.3g.20gb x3", "2c.3g.20gb x1", "3g.20gb x1"));
}

}  // namespace
}  // namespace gpuop::gpu
