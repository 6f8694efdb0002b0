// The choice of GPUs on every ready-made machine, as NVML tells of its links and PCI paths, beside one that looks at
// every set.
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "gpu/inventory_reader.h"
#include "machine/host/machine_folder.h"
#include "machine/spec/spec.h"
#include "operands/device_plugin/preferred.h"
#include "operands/device_plugin/settings.h"
#include "os/real_fs.h"
#include "os/temp_folder.h"

namespace gpuop::e2e {
namespace {

namespace plugin = operands::device_plugin;
using Ids = std::vector<std::string>;

gpu::Inventory InventoryOf(const std::string& name) {
  const auto folder = os::TempFolder::Make(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "").value();
  machine::DriverFiles files = machine::OwnDriverFiles();
  const std::string library = files.folder + "/libnvidia-ml.so.1";
  files.program.clear();
  auto made = machine::MachineFolder::Create(
      folder.path() + "/m", machine::ReadSpec(*machine::ReadyMadeMachine(name), name).value(), std::move(files));
  EXPECT_TRUE(made) << made.error().text;
  ::setenv("GPUOP_MACHINE_STATE", made->state_path().c_str(), 1);
  ::setenv("GPUOP_MACHINE_DEV", (made->root() + "/dev").c_str(), 1);
  gpu::Inventory out;
  if (const auto nvml = gpu::Nvml::Open({library})) {
    const auto host = os::RealFs::Open(made->root()).value();
    out = gpu::InventoryReader(**nvml, host.get()).Read().value();
  }
  EXPECT_EQ(out.devices.size(), made->state().Read()->device_count);
  ::unsetenv("GPUOP_MACHINE_STATE");
  ::unsetenv("GPUOP_MACHINE_DEV");
  return out;
}

/// What a set is worth: what belongs together inside, and what its removal tears apart among `available`.
std::pair<int, int> WorthOf(const plugin::Affinity& affinity, const Ids& available, const std::set<std::string>& set) {
  int inside = 0, torn = 0;
  for (std::size_t i = 0; i < available.size(); ++i)
    for (std::size_t j = i + 1; j < available.size(); ++j) {
      const bool a = set.contains(available[i]), b = set.contains(available[j]);
      const int score = affinity.Between(available[i], available[j]);
      if (a && b) inside += score;
      if (a != b) torn += score;
    }
  return {inside, -torn};
}

std::pair<int, int> BestWorth(const plugin::Affinity& affinity, const Ids& available, const Ids& required, int size) {
  std::pair best(-1, 0);
  for (std::uint64_t bits = 0; bits < 1ULL << available.size(); ++bits) {
    if (std::popcount(bits) != size) continue;
    std::set<std::string> set;
    for (std::size_t i = 0; i < available.size(); ++i)
      if ((bits >> i & 1U) != 0) set.insert(available[i]);
    if (std::ranges::all_of(required, [&](const std::string& id) { return set.contains(id); }))
      best = std::max(best, WorthOf(affinity, available, set));
  }
  return best;
}

class TopologyTest : public testing::TestWithParam<std::string> {};

TEST_P(TopologyTest, NoOtherGpusBelongTogetherMoreThanTheChosen) {
  const gpu::Inventory machine = InventoryOf(GetParam());
  const auto resources = plugin::PlanResources(machine, {}, {}).resources;
  ASSERT_EQ(resources.empty(), machine.devices.empty());
  if (resources.empty()) return;
  const plugin::Affinity affinity(machine);
  const plugin::Chooser chooser(resources.front(), affinity, plugin::Spread::kDistributed);
  const std::size_t count = machine.devices.size();
  // Every set of free GPUs, every size, with nothing required and with the last of the free ones.
  for (std::uint64_t free = 1; free < 1ULL << count; ++free) {
    Ids available;
    for (std::size_t i = 0; i < count; ++i)
      if ((free >> i & 1U) != 0) available.push_back(machine.devices[i].uuid);
    for (const Ids& required : {Ids(), Ids{available.back()}})
      for (int size = 1; size <= std::popcount(free); ++size) {
        const auto chosen = chooser.Choose({available, required, size});
        ASSERT_TRUE(chosen) << chosen.error().text;
        const std::set<std::string> set(chosen->begin(), chosen->end());
        ASSERT_EQ(set.size(), static_cast<std::size_t>(size));
        for (const std::string& id : required) ASSERT_TRUE(set.contains(id));
        ASSERT_EQ(WorthOf(affinity, available, set), BestWorth(affinity, available, required, size))
            << "of " << free << ", " << size;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(ReadyMade, TopologyTest, testing::ValuesIn(machine::ReadyMadeMachines()), [](const auto& c) {
  std::string name = c.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace gpuop::e2e
