#include "operator/fleet.h"

#include <algorithm>

#include "operands/labels.h"
#include "operator/label_rules.h"
#include "operator/names.h"

namespace gpuop::op {
namespace {

bool IsDescribed(const NodeState& node) {
  return std::ranges::any_of(node.meta.labels,
                             [](const auto& e) { return e.first.view().starts_with(kFeaturePrefix); });
}

/// DaemonSets come and go with pools of nodes: when there are more than a cluster has at a time, all are counted anew.
constexpr std::size_t kMostPlacements = 256;

/// Whether the key has come or gone.
template <class Map, class Key, class Number>
bool AddTo(Map& map, const Key& key, Number by) {
  const auto [it, fresh] = map.try_emplace(key, 0);
  it->second += by;
  const bool gone = it->second == 0;
  if (gone) map.erase(it);
  return fresh != gone;
}

}  // namespace

void Fleet::Shared::Count(const NodeState& node, std::int32_t by) {
  for (auto& [name, counted] : placements)
    if (Places(counted.placement, node)) counted.nodes += by;
  const kube::StringMap& labels = node.meta.labels;
  summary.nodes += by;
  if (IsDescribed(node)) summary.described += by;
  if (!IsGpuNode(node)) return;
  summary.gpu_nodes += by;
  operands::NodeGroup group = GroupOf(node);
  group.nodes = 0;
  if (group.os_id.empty()) summary.without_os += by;
  if (group.runtime.empty()) summary.without_runtime += by;
  if (AddTo(summary.groups, group, by)) ++shape;
  const std::string& name = node.meta.name;
  if (HasStaleFeatures(node)) AddTo(summary.stale, name, by);
  const std::string_view workload = labels.Get(kWorkloadConfig);
  if (!workload.empty() && !ParseWorkload(workload)) AddTo(summary.bad_workload, name, by);
  if (!node.unfit.empty()) {
    const auto code = summary.unfit.try_emplace(std::string(node.unfit.view())).first;
    AddTo(code->second, name, by);
    if (code->second.empty()) summary.unfit.erase(code);
  }
  const std::string_view driver = labels.Get(operands::DeployLabel("driver"));
  if (driver == kPreInstalled || driver == "false") summary.host_driver += by;
  if (labels.Get(kDeployOperands) == "false") summary.no_operands += by;
  const std::string_view state = labels.Get(kUpgradeState);
  if (labels.contains(kDriverOwner) && labels.Get(kUpgradeSkip) != "true" && !state.empty() && state != "upgrade-done")
    AddTo(summary.upgrades, std::string(state), std::int64_t{by});
}

void Fleet::Shared::Heard(const kube::Change<NodeState>& c) {
  Lock l(mu);
  if (c.now) {
    nodes[c.now->meta.name] = c.now;
  } else {
    nodes.erase(c.old->meta.name);
  }
  if (c.old && c.now && !Differs(*c.old, *c.now)) return;
  ++version;
  // In this order, so that a group whose only node changes otherwise does not vanish in between.
  if (c.now) Count(*c.now, 1);
  if (c.old) Count(*c.old, -1);
}

Fleet::Fleet(kube::Cache<NodeState>& nodes) {
  nodes.OnChange([shared = shared_](const kube::Change<NodeState>& c) { shared->Heard(c); });
}

FleetSummary Fleet::Summary() const {
  Lock l(shared_->mu);
  return shared_->summary;
}

std::uint64_t Fleet::shape() const {
  Lock l(shared_->mu);
  return shared_->shape;
}

std::uint64_t Fleet::version() const {
  Lock l(shared_->mu);
  return shared_->version;
}

std::int64_t Fleet::NodesFor(const std::string& daemon_set, const Placement& placement) {
  Lock l(shared_->mu);
  auto& placements = shared_->placements;
  const auto known = placements.find(daemon_set);
  if (known != placements.end() && known->second.placement == placement) return known->second.nodes;
  if (known == placements.end() && placements.size() >= kMostPlacements) placements.clear();
  const auto places = [&placement](const auto& node) { return Places(placement, *node.second); };
  const std::int64_t nodes = std::ranges::count_if(shared_->nodes, places);
  placements[daemon_set] = {placement, nodes};
  return nodes;
}

std::int64_t Fleet::NodesKeeping(const Placement& placement) const {
  Lock l(shared_->mu);
  return std::ranges::count_if(shared_->nodes,
                               [&placement](const auto& node) { return Keeps(placement, *node.second); });
}

std::vector<std::string> Fleet::Losing(const Placement& from, const Placement& to) const {
  std::vector<std::string> out;
  Lock l(shared_->mu);
  for (const auto& [name, node] : shared_->nodes)
    if (Places(from, *node) && !Places(to, *node)) out.push_back(name);
  return out;
}

}  // namespace gpuop::op
