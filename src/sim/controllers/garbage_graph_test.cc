#include "sim/controllers/garbage_graph.h"

#include <gtest/gtest.h>

namespace gpuop::sim {
namespace {

GarbageNode Thing(const std::string& uid, const std::vector<std::string>& owners = {}) {
  GarbageNode node;
  node.uid = uid;
  node.name = uid;
  node.ns = "ns";
  for (const std::string& owner : owners) node.owners.push_back({"v1", "Thing", owner, owner, true});
  return node;
}

GarbageAction Look(const GarbageGraph& graph, const std::string& uid) {
  return PlanGarbage(graph, uid, [](const GarbageNode&, const GarbageOwner&) -> Result<bool> { return false; }).value();
}

TEST(GarbageGraphTest, AnObjectWithoutAnyOwnerLeftIsDeleted) {
  GarbageGraph graph;
  graph.Put(Thing("child", {"gone"}));
  EXPECT_EQ(Look(graph, "child").kind, GarbageAction::Kind::kDeleteBackground);
}

TEST(GarbageGraphTest, OneLivingOwnerIsEnoughAndTheOthersAreDropped) {
  GarbageGraph graph;
  graph.Put(Thing("alive"));
  graph.Put(Thing("child", {"alive", "gone"}));
  const GarbageAction action = Look(graph, "child");
  EXPECT_EQ(action.kind, GarbageAction::Kind::kDropOwners);
  EXPECT_EQ(action.uids, std::vector<Interned>{"gone"});
}

TEST(GarbageGraphTest, AnOwnerInAnotherNamespaceDoesNotCount) {
  GarbageGraph graph;
  GarbageNode owner = Thing("owner");
  owner.ns = "elsewhere";
  graph.Put(owner);
  graph.Put(Thing("child", {"owner"}));
  EXPECT_EQ(Look(graph, "child").kind, GarbageAction::Kind::kDeleteBackground);
}

TEST(GarbageGraphTest, ForegroundDeletionGoesDownAndComesUp) {
  GarbageGraph graph;
  GarbageNode owner = Thing("owner");
  owner.deleting = owner.waits_for_dependents = true;
  graph.Put(owner);
  graph.Put(Thing("child", {"owner"}));
  graph.Put(Thing("grandchild", {"child"}));
  EXPECT_EQ(Look(graph, "owner").kind, GarbageAction::Kind::kLookAtDependents);
  EXPECT_EQ(Look(graph, "child").kind, GarbageAction::Kind::kDeleteForeground);
  EXPECT_EQ(Look(graph, "grandchild").kind, GarbageAction::Kind::kNothing);
  graph.Remove("grandchild");
  EXPECT_EQ(graph.Remove("child"), std::vector<Interned>{"owner"});
  EXPECT_EQ(Look(graph, "owner").kind, GarbageAction::Kind::kDropForeground);
}

TEST(GarbageGraphTest, OrphaningComesBeforeAnythingElse) {
  GarbageGraph graph;
  GarbageNode owner = Thing("owner");
  owner.deleting = owner.orphans_dependents = true;
  graph.Put(owner);
  graph.Put(Thing("child", {"owner"}));
  EXPECT_EQ(Look(graph, "owner").kind, GarbageAction::Kind::kOrphanDependents);
}

}  // namespace
}  // namespace gpuop::sim
