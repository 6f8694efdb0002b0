#include "sim/controllers/garbage_graph.h"

#include <algorithm>

namespace gpuop::sim {

namespace {

using Kind = GarbageAction::Kind;

const GarbageOwner* ReferenceTo(const GarbageNode& node, const Interned& uid) {
  for (const GarbageOwner& o : node.owners)
    if (o.uid == uid) return &o;
  return nullptr;
}

GarbageAction PlanDeleting(const GarbageGraph& graph, const GarbageNode& node) {
  if (node.orphans_dependents) return {Kind::kOrphanDependents, {node.uid}, {}};
  if (!node.waits_for_dependents) return {};
  std::vector<Interned> blocking;
  for (const GarbageNode* d : graph.Dependents(node.uid))
    if (ReferenceTo(*d, node.uid)->block_owner_deletion) blocking.push_back(d->uid);
  if (blocking.empty()) return {Kind::kDropForeground, {}, {}};
  return {Kind::kLookAtDependents, std::move(blocking), {}};
}

/// An owner in another namespace does not count: only cluster-wide ones and those beside the object do.
bool InReach(const GarbageNode& item, const GarbageNode& owner) { return owner.ns.empty() || owner.ns == item.ns; }

GarbageAction Delete(const GarbageNode& node) {
  if (node.orphans_dependents) return {Kind::kDeleteOrphaning, {}, {}};
  if (node.waits_for_dependents) return {Kind::kDeleteForeground, {}, {}};
  return {Kind::kDeleteBackground, {}, {}};
}

}  // namespace

std::vector<Interned> GarbageGraph::WaitingOwners(const GarbageNode& node) const {
  std::vector<Interned> out;
  for (const GarbageOwner& o : node.owners)
    if (const GarbageNode* owner = Find(o.uid); owner != nullptr && owner->deleting) out.push_back(o.uid);
  return out;
}

std::vector<Interned> GarbageGraph::Put(GarbageNode node) {
  std::vector<Interned> look{node.uid};
  if (const auto old = nodes_.find(node.uid); old != nodes_.end()) {
    for (Interned& o : WaitingOwners(old->second)) look.push_back(std::move(o));
    for (const GarbageOwner& o : old->second.owners) {
      const auto set = dependents_.find(o.uid);
      set->second.erase(node.uid);
      if (set->second.empty()) dependents_.erase(set);
    }
  }
  for (const GarbageOwner& o : node.owners) dependents_[o.uid].insert(node.uid);
  for (Interned& o : WaitingOwners(node)) look.push_back(std::move(o));
  const Interned uid = node.uid;
  nodes_[uid] = std::move(node);
  return look;
}

std::vector<Interned> GarbageGraph::Remove(const Interned& uid) {
  const auto it = nodes_.find(uid);
  if (it == nodes_.end()) return {};
  std::vector<Interned> look = WaitingOwners(it->second);
  for (const GarbageOwner& o : it->second.owners) {
    const auto set = dependents_.find(o.uid);
    if (set == dependents_.end()) continue;
    set->second.erase(uid);
    if (set->second.empty()) dependents_.erase(set);
  }
  nodes_.erase(it);
  if (const auto set = dependents_.find(uid); set != dependents_.end())
    look.insert(look.end(), set->second.begin(), set->second.end());
  return look;
}

const GarbageNode* GarbageGraph::Find(const Interned& uid) const {
  const auto it = nodes_.find(uid);
  return it == nodes_.end() ? nullptr : &it->second;
}

std::vector<const GarbageNode*> GarbageGraph::Dependents(const Interned& uid) const {
  std::vector<const GarbageNode*> out;
  if (const auto set = dependents_.find(uid); set != dependents_.end())
    for (const Interned& d : set->second) out.push_back(Find(d));
  return out;
}

Result<GarbageAction> PlanGarbage(const GarbageGraph& graph, const Interned& uid, const OwnerExists& exists) {
  const GarbageNode* node = graph.Find(uid);
  if (node == nullptr) return GarbageAction{};
  if (node->deleting) return PlanDeleting(graph, *node);
  bool solid = false;
  std::vector<Interned> dangling, waiting;
  for (const GarbageOwner& o : node->owners) {
    const GarbageNode* owner = graph.Find(o.uid);
    bool there = owner != nullptr && InReach(*node, *owner);
    if (owner == nullptr) {
      ASSIGN(there, exists(*node, o));
    }
    if (!there)
      dangling.push_back(o.uid);
    else if (owner != nullptr && owner->IsWaiting())
      waiting.push_back(o.uid);
    else
      solid = true;
  }
  if (dangling.empty() && waiting.empty()) return GarbageAction{};
  if (solid) {
    dangling.insert(dangling.end(), waiting.begin(), waiting.end());
    return GarbageAction{Kind::kDropOwners, std::move(dangling), {}};
  }
  const auto dependents = graph.Dependents(uid);
  if (waiting.empty() || dependents.empty()) return Delete(*node);
  GarbageAction action{Kind::kDeleteForeground, {}, {}};
  for (const GarbageNode* d : dependents)
    if (d->IsWaiting()) action.unblock.push_back(d->uid);
  return action;
}

}  // namespace gpuop::sim
