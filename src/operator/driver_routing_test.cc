#include "operator/driver_routing.h"

#include <gtest/gtest.h>

#include "operator/driver_pools.h"
#include "operator/names.h"

namespace gpuop::op {
namespace {

using Drivers = std::vector<std::shared_ptr<const api::NvidiaDriver>>;
using Selector = std::map<std::string, std::string>;
using testing::ElementsAre;
using testing::IsEmpty;

std::shared_ptr<const api::NvidiaDriver> Driver(const std::string& name, Selector selector = {},
                                                bool is_default = false, bool deleting = false) {
  auto out = std::make_shared<api::NvidiaDriver>();
  out->meta.name = name;
  out->meta.uid = "uid-" + name;
  if (deleting) out->meta.deleted = WallTime{};
  out->spec.node_selector = std::move(selector);
  out->spec.is_default = is_default;
  return out;
}

const std::string kOwner(kDriverOwner);

struct Case {
  const char* name;
  Drivers drivers;
  kube::StringMap labels;
  std::optional<std::string> owner;
  std::vector<std::string> rivals = {};
};
class RoutingTest : public testing::TestWithParam<Case> {};

TEST_P(RoutingTest, GivesEachNodeItsDriver) {
  const Case& c = GetParam();
  const DriverRouting routing(c.drivers);
  const auto answer = routing.OwnerOf(c.labels);
  EXPECT_EQ(answer.owner, c.owner);
  EXPECT_EQ(answer.rivals, c.rivals);
}

INSTANTIATE_TEST_SUITE_P(
    All, RoutingTest,
    testing::Values(
        Case{"SpecificBeatsDefault", {Driver("d", {}, true), Driver("a", {{"pool", "a"}})}, {{"pool", "a"}}, "a"},
        Case{"TheRestGetsTheDefault",
             {Driver("anything", {}, true), Driver("a", {{"pool", "a"}})},
             {{"pool", "b"}},
             "anything"},
        Case{"WithoutDefaultNone", {Driver("a", {{"pool", "a"}})}, {{"pool", "b"}}, std::nullopt},
        Case{"NamedDefaultWithoutTheFieldIsOrdinary",
             {Driver("default", {{"pool", "x"}})},
             {{"pool", "b"}},
             std::nullopt},
        Case{"AnEmptySelectorTakesAll", {Driver("a")}, {{"x", "y"}}, "a"},
        Case{"AllLabelsMustMatch", {Driver("a", {{"pool", "a"}, {"zone", "z"}})}, {{"pool", "a"}}, std::nullopt},
        Case{"DeletingOnesDoNotCount",
             {Driver("a", {{"pool", "a"}}, false, true), Driver("d", {}, true)},
             {{"pool", "a"}},
             "d"},
        Case{"DeletingDefaultsDoNotCount", {Driver("d", {}, true, true), Driver("e", {}, true)}, {}, "e"},
        Case{"TwoClaimsNobodyWins",
             {Driver("a", {{"pool", "a"}}), Driver("b", {{"pool", "a"}})},
             {{"pool", "a"}},
             std::nullopt,
             {"a", "b"}},
        Case{"TwoClaimsWhoHasItKeepsIt",
             {Driver("a", {{"pool", "a"}}), Driver("b", {{"pool", "a"}})},
             {{"pool", "a"}, {kOwner, "b"}},
             "b",
             {"a", "b"}},
        Case{"TwoDefaultsNobodyWins", {Driver("d", {}, true), Driver("e", {}, true)}, {}, std::nullopt, {"d", "e"}},
        Case{"TwoDefaultsWhoHasItKeepsIt",
             {Driver("d", {}, true), Driver("e", {}, true)},
             {{kOwner, "e"}},
             "e",
             {"d", "e"}},
        Case{"TwoDefaultsDoNotTouchASpecificOne",
             {Driver("d", {}, true), Driver("e", {}, true), Driver("a", {{"p", "a"}})},
             {{"p", "a"}},
             "a"},
        Case{
            "AReservedKeyClaimsNothing", {Driver("bad", {{kOwner, "x"}}), Driver("d", {}, true)}, {{kOwner, "x"}}, "d"},
        Case{"ADefaultWithSelectorClaimsNothing",
             {Driver("bad", {{"p", "a"}}, true), Driver("d", {}, true)},
             {{"p", "a"}},
             "d"},
        Case{"ABrokenOneKeepsItsNodes",
             {Driver("bad", {{"p", "a"}}, true), Driver("d", {}, true)},
             {{"p", "a"}, {kOwner, "bad"}},
             "bad"},
        Case{"AVanishedOwnerIsReplaced", {Driver("d", {}, true)}, {{kOwner, "gone"}}, "d"},
        Case{"AVanishedDiscoveryLabelIsWaitedFor",
             {Driver("a", {{"nvidia.com/gpu.product", "A100"}}), Driver("d", {}, true)},
             {{kOwner, "a"}},
             "a"},
        Case{"AChangedDiscoveryLabelIsNot",
             {Driver("a", {{"nvidia.com/gpu.product", "A100"}}), Driver("d", {}, true)},
             {{kOwner, "a"}, {"nvidia.com/gpu.product", "H100"}},
             "d"},
        Case{"AVanishedLabelOfPeopleIsObeyed",
             {Driver("a", {{"pool", "a"}}), Driver("d", {}, true)},
             {{kOwner, "a"}},
             "d"},
        Case{"NoDriversNoOwner", {}, {{kOwner, "x"}}, std::nullopt}),
    [](const auto& c) { return std::string(c.param.name); });

std::shared_ptr<const NodeState> Node(const std::string& name, const std::string& owner, const std::string& id,
                                      const std::string& version, const std::string& kernel = "5.15.0-70-generic") {
  auto out = std::make_shared<NodeState>();
  out->meta.name = name;
  out->meta.labels = {{kGpuPresent, "true"}, {kDriverOwner, owner}};
  if (!id.empty()) out->meta.labels.Set(kOsId, id);
  if (!version.empty()) out->meta.labels.Set(kOsVersion, version);
  out->kernel = kernel;
  return out;
}

TEST(PoolsTest, AreMadeByOperatingSystem) {
  const auto driver = Driver("a");
  const std::vector<std::shared_ptr<const NodeState>> nodes{
      Node("1", "a", "ubuntu", "22.04"), Node("2", "a", "ubuntu", "24.04"), Node("3", "a", "ubuntu", "22.04"),
      Node("4", "b", "rhel", "9.4"), Node("5", "a", "", "")};
  const DriverPools pools = PoolsOf(*driver, nodes, false, "/");
  ASSERT_EQ(pools.pools.size(), 2U);
  EXPECT_EQ(pools.pools[0].os_tag, "ubuntu22.04");
  EXPECT_EQ(pools.pools[0].nodes, 2);
  EXPECT_EQ(pools.pools[0].selector, (Selector{{kOwner, "a"}, {"nvidia.com/gpu-operator.os", "ubuntu22.04"}}));
  EXPECT_EQ(pools.pools[0].rbac_name, "nvidia-gpu-driver-a-ubuntu22.04");
  EXPECT_THAT(pools.unknown_nodes, ElementsAre("5"));
}

TEST(PoolsTest, PrecompiledOnesAreMadeByKernelToo) {
  auto driver = std::make_shared<api::NvidiaDriver>(*Driver("a"));
  driver->spec.use_precompiled = true;
  const std::vector<std::shared_ptr<const NodeState>> nodes{
      Node("1", "a", "rhel", "9.4", "5.14.0-427.37.1.el9_4.x86_64"),
      Node("2", "a", "rhel", "9.4", "5.14.0-427.37.1.el9_4.aarch64"),
      Node("3", "a", "rhel", "9.4", "5.14.0-500.el9.x86_64")};
  const DriverPools pools = PoolsOf(*driver, nodes, false, "/");
  // Two architectures of one kernel are two pools with names of their own.
  ASSERT_EQ(pools.pools.size(), 3U);
  std::set<std::string> names;
  for (const auto& pool : pools.pools) names.insert(pool.name);
  EXPECT_EQ(names.size(), 3U);
  EXPECT_EQ(pools.pools[0].kernel_sanitized, "5.14.0-427.37.1.el9.4");
}

TEST(PoolsTest, AnotherOrderOfNodesMakesTheSamePools) {
  const auto driver = Driver("a");
  std::vector<std::shared_ptr<const NodeState>> nodes{Node("1", "a", "ubuntu", "20.04"),
                                                      Node("2", "a", "ubuntu", "18.04")};
  const auto before = PoolsOf(*driver, nodes, false, "/").pools;
  std::ranges::reverse(nodes);
  EXPECT_EQ(PoolsOf(*driver, nodes, false, "/").pools, before);
}

TEST(PoolNameTest, IsNvidiasOwn) {
  EXPECT_EQ(PoolName("gpu", "ubuntu22.04", "bfac7359-6033-45ce-88d6-53db0078526e"),
            "nvidia-gpu-driver-ubuntu22.04-67cc6dbb79");
  EXPECT_EQ(PoolName("gpu", "ubuntu22.04", "bfac7359-6033-45ce-88d6-53db0078526e-5.15.0-70-generic"),
            "nvidia-gpu-driver-ubuntu22.04-59b779bcc5");
  const std::string longest =
      PoolName("gpu", "redhatCoreOS4.14-414.92.202309282257", "bfac7359-6033-45ce-88d6-53db0078526e-5.15.0-70-generic");
  EXPECT_EQ(longest, "nvidia-gpu-driver-redhatCoreOS4.14-414.92.2023092822-59b779bcc5");
  EXPECT_EQ(longest.size(), 63U);
}

}  // namespace
}  // namespace gpuop::op
