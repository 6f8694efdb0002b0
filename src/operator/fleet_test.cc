#include "operator/fleet.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/virtual_executor.h"
#include "kube/door_fake.h"

namespace gpuop::op {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

/// A fleet beside a cache of nodes.
struct Bed {
  VirtualExecutor executor{1};
  kube::FakeDoor door{executor};
  kube::Cache<NodeState> nodes{executor, kube::Client(door)};
  Fleet fleet{nodes};

  Bed() {
    nodes.Start();
    executor.RunFor(1s);
  }
  void Put(const std::string& name, json::object labels, json::object status = {}, json::array taints = {}) {
    labels["feature.node.kubernetes.io/pci-10de.present"] = "true";
    door.Put(NodeState::kResource, {{"metadata", {{"name", name}, {"labels", std::move(labels)}}},
                                    {"spec", {{"taints", std::move(taints)}}},
                                    {"status", std::move(status)}});
    executor.RunFor(1s);
  }
  void Remove(const std::string& name) {
    door.Remove(kube::Ref<NodeState>(name));
    executor.RunFor(1s);
  }
};

json::object Os(const char* version) {
  return {{"feature.node.kubernetes.io/system-os_release.ID", "ubuntu"},
          {"feature.node.kubernetes.io/system-os_release.VERSION_ID", version}};
}

TEST(FleetTest, ItsShapeIsWhichGroupsThereAreAndNotHowManyNodes) {
  Bed bed;
  bed.Put("a", Os("22.04"));
  const std::uint64_t one = bed.fleet.shape();
  bed.Put("b", Os("22.04"));
  EXPECT_EQ(bed.fleet.shape(), one);
  EXPECT_EQ(bed.fleet.Summary().gpu_nodes, 2);
  // The only node of a group stays in it whatever else changes.
  bed.Remove("b");
  json::object labels = Os("22.04");
  labels["team"] = "a";
  bed.Put("a", labels);
  EXPECT_EQ(bed.fleet.shape(), one);
  bed.Put("c", Os("24.04"));
  EXPECT_GT(bed.fleet.shape(), one);
  EXPECT_EQ(bed.fleet.Summary().groups.size(), 2U);
}

TEST(FleetTest, CountsWhereADaemonSetRunsAndKeepsUpWithIt) {
  Bed bed;
  Placement placement;
  placement.selector = {{"deploy", "true"}};
  bed.Put("a", {{"deploy", "true"}});
  bed.Put("b", {{"deploy", "false"}});
  EXPECT_EQ(bed.fleet.NodesFor("x/ds", placement), 1);
  bed.Put("b", {{"deploy", "true"}});
  EXPECT_EQ(bed.fleet.NodesFor("x/ds", placement), 2);
  bed.Put("a", {{"deploy", "true"}}, {}, {{{"key", "maintenance"}, {"effect", "NoSchedule"}}});
  EXPECT_EQ(bed.fleet.NodesFor("x/ds", placement), 1);
  EXPECT_EQ(bed.fleet.NodesKeeping(placement), 1) << "its Pod on a stays: NoSchedule is for new ones";
  bed.Put("a", {{"deploy", "true"}}, {}, {{{"key", "maintenance"}, {"effect", "NoExecute"}}});
  EXPECT_EQ(bed.fleet.NodesKeeping(placement), 0) << "it is evicted";
  bed.Put("a", {{"deploy", "false"}}, {}, {{{"key", "maintenance"}, {"effect", "NoSchedule"}}});
  EXPECT_EQ(bed.fleet.NodesKeeping(placement), 0) << "it is not selected any longer";
  bed.Put("a", {{"deploy", "true"}}, {}, {{{"key", "maintenance"}, {"effect", "NoSchedule"}}});
  // What every DaemonSet tolerates counts for nothing.
  bed.Put("b", {{"deploy", "true"}}, {}, {{{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoExecute"}}});
  EXPECT_EQ(bed.fleet.NodesFor("x/ds", placement), 1);
  bed.Remove("b");
  EXPECT_EQ(bed.fleet.NodesFor("x/ds", placement), 0);
  placement.selector.clear();
  kube::Toleration maintenance;
  maintenance.key = "maintenance", maintenance.op = "Exists";
  placement.tolerations = {maintenance};
  EXPECT_EQ(bed.fleet.NodesFor("x/ds", placement), 1);
}

TEST(FleetTest, KnowsWhichNodesAreUnfitOrDescribedAsTheyWere) {
  Bed bed;
  const auto status = [](const char* is, const char* reason) {
    return json::object{{"nodeInfo", {{"kernelVersion", "6.8.0-31"}}},
                        {"conditions", {{{"type", "gpu-operator.dev/GPUReady"}, {"status", is}, {"reason", reason}}}}};
  };
  bed.Put("a", {{"feature.node.kubernetes.io/kernel-version.full", "6.8.0-30"}}, status("False", "DriverMissing"));
  EXPECT_EQ(bed.fleet.Summary().unfit.at("DriverMissing").size(), 1U);
  EXPECT_TRUE(bed.fleet.Summary().stale.contains("a"));
  // Another change leaves it as it is.
  bed.Put("a", {{"feature.node.kubernetes.io/kernel-version.full", "6.8.0-30"}, {"x", "y"}},
          status("False", "DriverMissing"));
  EXPECT_EQ(bed.fleet.Summary().unfit.at("DriverMissing").size(), 1U);
  bed.Put("a", {{"feature.node.kubernetes.io/kernel-version.full", "6.8.0-31"}}, status("True", "Proved"));
  EXPECT_TRUE(bed.fleet.Summary().unfit.empty());
  EXPECT_TRUE(bed.fleet.Summary().stale.empty());
}

/// NVIDIA's policies wait for nodes whose driver is being replaced, and only for those that a driver owns.
TEST(FleetTest, CountsDriverUpgradesThatAreUnderWay) {
  static constexpr const char *kOwner = "nvidia.com/gpu-operator.driver.owner",
                              *kState = "nvidia.com/gpu-driver-upgrade-state";
  using Upgrades = std::map<std::string, std::int64_t>;
  Bed bed;
  bed.Put("a", {{kOwner, "d"}, {kState, "upgrade-required"}});
  bed.Put("b", {{kOwner, "d"}, {kState, "upgrade-failed"}});
  EXPECT_EQ(bed.fleet.Summary().upgrades, (Upgrades{{"upgrade-failed", 1}, {"upgrade-required", 1}}));
  bed.Put("b", {{kOwner, "d"}, {kState, "upgrade-done"}});
  bed.Put("c", {{kOwner, "d"}, {kState, ""}});
  bed.Put("d", {{kState, "upgrade-required"}});
  bed.Put("e", {{kOwner, "d"}, {kState, "drain-required"}, {"nvidia.com/gpu-driver-upgrade.skip", "true"}});
  EXPECT_EQ(bed.fleet.Summary().upgrades, (Upgrades{{"upgrade-required", 1}}));
  bed.Remove("a");
  EXPECT_TRUE(bed.fleet.Summary().upgrades.empty());
}

TEST(FleetTest, NamesNodesWhoseWorkloadNobodyKnows) {
  static constexpr const char* kWorkload = "nvidia.com/gpu.workload.config";
  Bed bed;
  bed.Put("a", {{kWorkload, "kata"}});
  bed.Put("b", {{kWorkload, "vm-vgpu"}});
  bed.Put("c", {{kWorkload, ""}});
  EXPECT_EQ(bed.fleet.Summary().bad_workload.size(), 1U);
  EXPECT_TRUE(bed.fleet.Summary().bad_workload.contains("a"));
  bed.Put("a", {{kWorkload, "container"}});
  EXPECT_TRUE(bed.fleet.Summary().bad_workload.empty());
}

TEST(NodeStateTest, TellsRedHatCoreOsFromTheKubelet) {
  const auto rhcos = [](const char* image, const char* label, const char* kernel_label = "") {
    json::object labels;
    if (*label != 0) labels["feature.node.kubernetes.io/system-os_release.OSTREE_VERSION"] = label;
    if (*kernel_label != 0) labels["feature.node.kubernetes.io/kernel-version.full"] = kernel_label;
    const auto node = NodeState::FromJson(
        {{"metadata", {{"name", "n"}, {"labels", std::move(labels)}}},
         {"status", {{"nodeInfo", {{"osImage", image}, {"kernelVersion", "5.14.0-427.35.1.el9_4"}}}}}});
    return GroupOf(node.value()).rhcos_version + (HasStaleFeatures(node.value()) ? " stale" : "");
  };
  EXPECT_EQ(rhcos("Red Hat Enterprise Linux CoreOS 416.94.202409111234-0 (Plow)", "416.94.202407030122-0"),
            "416.94.202409111234-0 stale");
  EXPECT_EQ(rhcos("Red Hat Enterprise Linux CoreOS 416.94.202409111234-0", "416.94.202409111234-0"),
            "416.94.202409111234-0");
  EXPECT_EQ(rhcos("Something else", "416.94.202407030122-0"), "416.94.202407030122-0");
  EXPECT_EQ(rhcos("Something else", "416.94.202407030122-0", "5.14.0-427.20.1.el9_4"), " stale");
}

}  // namespace
}  // namespace gpuop::op
