#include "operator/driver_routing.h"

#include <algorithm>

#include "operator/names.h"

namespace gpuop::op {
namespace {

/// Labels that programs write and lose again, as when their Pods restart.
bool IsDiscovered(std::string_view key) {
  return key.starts_with(kFeaturePrefix) || key.starts_with("nvidia.com/gpu.") || key.starts_with("nvidia.com/cuda.") ||
         key.starts_with("nvidia.com/mig");
}

}  // namespace

std::string SelectorProblem(const api::NvidiaDriverSpec& spec) {
  if (spec.node_selector.contains(std::string(kDriverOwner)))
    return "spec.nodeSelector: " + std::string(kDriverOwner) + " is reserved for the operator";
  if (spec.is_default && !spec.node_selector.empty())
    return "spec.nodeSelector: the default driver serves the nodes that no other selects: it has no nodeSelector";
  return {};
}

DriverRouting::DriverRouting(std::span<const std::shared_ptr<const api::NvidiaDriver>> drivers) {
  for (const auto& driver : drivers) {
    if (driver->meta.deleting()) continue;
    Entry& entry = drivers_[driver->meta.name];
    entry.selector = driver->spec.node_selector;
    entry.is_default = driver->spec.is_default;
    entry.broken = !driver->error.empty() || !SelectorProblem(driver->spec).empty();
    entry.auto_upgrade = !driver->spec.upgrade_policy || driver->spec.upgrade_policy->auto_upgrade;
    if (entry.is_default && !entry.broken) defaults_.push_back(driver->meta.name);
  }
  std::ranges::sort(defaults_);
}

bool DriverRouting::Selects(const Entry& entry, const kube::StringMap& labels) const {
  return std::ranges::all_of(entry.selector,
                             [&labels](const auto& want) { return labels.Get(want.first) == want.second; });
}

bool DriverRouting::Held(const std::string& owner, const kube::StringMap& labels) const {
  const auto it = drivers_.find(owner);
  if (it == drivers_.end() || it->second.is_default) return false;
  bool missing = false;
  for (const auto& [key, value] : it->second.selector) {
    const Interned* says = labels.Find(key);
    if (says != nullptr && *says == value) continue;
    if (says != nullptr || !IsDiscovered(key)) return false;
    missing = true;
  }
  return missing;
}

DriverRouting::Answer DriverRouting::OwnerOf(const kube::StringMap& labels) const {
  const std::string present(labels.Get(kDriverOwner));
  const auto current = drivers_.find(present);
  if (current != drivers_.end() && current->second.broken) return {present, {}, false};
  std::vector<std::string> claims;
  for (const auto& [name, entry] : drivers_)
    if (!entry.broken && !entry.is_default && Selects(entry, labels)) claims.push_back(name);
  if (claims.size() == 1) return {claims.front(), {}, false};
  if (claims.empty()) {
    if (Held(present, labels)) return {present, {}, true};
    claims = defaults_;
    if (claims.size() == 1) return {claims.front(), {}, false};
    if (claims.empty()) return {};
  }
  // Nobody's claim is better: whoever has the node keeps it until people decide.
  Answer out;
  if (current != drivers_.end()) out.owner = present;
  out.rivals = std::move(claims);
  return out;
}

bool DriverRouting::AutoUpgrade(std::string_view name) const {
  const auto it = drivers_.find(name);
  return it != drivers_.end() && it->second.auto_upgrade;
}

}  // namespace gpuop::op
