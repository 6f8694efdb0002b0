#include "operands/groups.h"

#include <algorithm>
#include <map>

namespace gpuop::operands {
namespace {

/// The parts in the order of their values. Primary is the one that was so before, else the largest, else the first.
std::vector<Part> PartsBy(const Facts& facts, const char* label, const std::string& primary_before,
                          const std::function<bool(const NodeGroup&)>& wanted) {
  std::map<std::string, std::pair<std::int64_t, NodeGroup>> nodes;
  for (const NodeGroup& group : facts.groups) {
    const StringMap labels = GroupLabels(group);
    const auto it = labels.find(label);
    if (it == labels.end() || !wanted(group)) continue;
    auto& [count, sample] = nodes.try_emplace(it->second, 0, group).first->second;
    count += group.nodes;
    sample = std::min(sample, group);
  }
  if (nodes.empty()) return {};
  auto primary = nodes.find(primary_before);
  if (primary == nodes.end())
    primary = std::ranges::max_element(nodes, {}, [](const auto& entry) { return entry.second.first; });
  std::vector<Part> out;
  for (auto it = nodes.begin(); it != nodes.end(); ++it)
    out.push_back({.value = it->first, .primary = it == primary, .group = it->second.second});
  return out;
}

/// Narrow, of a DaemonSet that is whole.
void NarrowObject(const Part& part, Object& ds) {
  data::JsonObject& meta = ds.body["metadata"].as_object();
  data::JsonObject& spec = ds.body["spec"].as_object();
  data::JsonObject& pod = spec["template"].as_object();
  pod["spec"].as_object()["nodeSelector"].as_object()[kRuntimeLabel] = part.value;
  meta["labels"].as_object()[kRuntimeLabel] = part.value;
  if (part.primary) return;
  meta["name"] = std::string(ds.name()).append("-").append(part.value);
  spec["selector"].as_object()["matchLabels"].as_object()[kRuntimeLabel] = part.value;
  pod["metadata"].as_object()["labels"].as_object()[kRuntimeLabel] = part.value;
}

}  // namespace

std::vector<Part> PartsByRuntime(const Facts& facts) {
  Facts known = facts;
  for (NodeGroup& group : known.groups)
    if (group.runtime.empty()) group.runtime = kContainerd;
  return PartsBy(known, kRuntimeLabel, facts.primary_runtime, [](const NodeGroup&) { return true; });
}

std::vector<Part> PartsByOs(const Facts& facts, const std::function<bool(const NodeGroup&)>& wanted) {
  return PartsBy(facts, kOsLabel, facts.primary_os, wanted);
}

void Narrow(const Part& part, const char* label, DaemonSet& ds) {
  ds.pod.spec.node_selector[label] = part.value;
  ds.meta.labels[label] = part.value;
  if (part.primary) return;
  ds.meta.name += "-" + part.value;
  ds.selector.match_labels[label] = part.value;
  ds.pod.meta.labels[label] = part.value;
}

Result<std::vector<Object>> RenderByEngine(RenderFunction render, const api::ClusterPolicySpec& policy,
                                           const Facts& facts) {
  if (std::ranges::find(facts.groups, kDocker, &NodeGroup::runtime) == facts.groups.end()) return render(policy, facts);
  std::vector<Object> out;
  for (const Part& part : PartsByRuntime(facts)) {
    Facts own = facts;
    own.engine = part.value;
    ASSIGN(std::vector<Object> objects, render(policy, own));
    for (Object& object : objects) {
      const bool is_set = object.resource.kind == "DaemonSet";
      if (is_set) NarrowObject(part, object);
      if (is_set || part.primary) out.push_back(std::move(object));  // what is no DaemonSet serves all parts
    }
  }
  return out;
}

}  // namespace gpuop::operands
