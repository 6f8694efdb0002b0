#include "operator/driver_pools.h"

#include <map>

#include "operands/labels.h"
#include "operands/names.h"
#include "operator/names.h"

namespace gpuop::op {
namespace {

constexpr std::size_t kLongestName = 63, kLongestRbacName = 253;

/// What tells one pool from another.
struct Key {
  std::string os_tag, kernel, rhcos;
  auto operator<=>(const Key&) const = default;
};

std::string RbacName(const api::NvidiaDriver& driver, const std::string& os_tag) {
  std::string out = driver.spec.IsVgpuHostManager() ? std::string("nvidia-vgpu-manager-")
                                                    : "nvidia-" + driver.spec.driver_type + "-driver-";
  out.append(driver.meta.name).append("-").append(os_tag);
  out.resize(std::min(out.size(), kLongestRbacName));
  return out;
}

operands::DriverPool MakePool(const api::NvidiaDriver& driver, const Key& key, const operands::NodeGroup& group,
                              const std::string& host_root) {
  operands::DriverPool out;
  const std::string more = !key.kernel.empty() ? "-" + key.kernel : !key.rhcos.empty() ? "-" + key.rhcos : "";
  out.name = PoolName(driver.spec.driver_type, key.os_tag, driver.meta.uid + more);
  out.rbac_name = RbacName(driver, key.os_tag);
  out.os_id = group.os_id;
  out.os_version = group.os_version;
  out.os_tag = key.os_tag;
  out.kernel = key.kernel;
  out.kernel_sanitized = operands::SanitizedKernel(key.kernel);
  out.rhcos_version = key.rhcos;
  out.selector[std::string(kDriverOwner)] = driver.meta.name;
  const operands::StringMap labels = operands::GroupLabels(group);
  const auto select = [&](const char* label) {
    if (const auto it = labels.find(label); it != labels.end()) out.selector[label] = it->second;
  };
  select(operands::kOsLabel);
  if (!key.kernel.empty()) select(operands::kKernelLabel);
  if (!key.rhcos.empty()) select(operands::kRhcosLabel);
  out.host_root = host_root;
  return out;
}

}  // namespace

std::string PoolName(const std::string& driver_type, const std::string& os_tag, const std::string& hashed) {
  const std::string hash = "-" + operands::NameHash(hashed);
  std::string out = "nvidia-" + driver_type + "-driver-" + os_tag;
  out.resize(std::min(out.size(), kLongestName - hash.size()));
  return out + hash;
}

DriverPools PoolsOf(const api::NvidiaDriver& driver, std::span<const std::shared_ptr<const NodeState>> nodes,
                    bool driver_toolkit, const std::string& host_root) {
  DriverPools out;
  std::map<Key, operands::DriverPool> pools;
  for (const auto& node : nodes) {
    if (node->meta.labels.Get(kDriverOwner) != driver.meta.name || !IsGpuNode(*node)) continue;
    const operands::NodeGroup group = GroupOf(*node);
    Key key{operands::OsTag(group.os_id, group.os_version), {}, {}};
    if (driver.spec.UsesPrecompiled()) key.kernel = group.kernel;
    if (driver_toolkit && !driver.spec.UsesPrecompiled()) key.rhcos = group.rhcos_version;
    if (key.os_tag.empty() || (driver.spec.UsesPrecompiled() && key.kernel.empty())) {
      out.unknown_nodes.push_back(node->meta.name);
      continue;
    }
    auto it = pools.find(key);
    if (it == pools.end()) it = pools.emplace(key, MakePool(driver, key, group, host_root)).first;
    ++it->second.nodes;
  }
  for (auto& [key, pool] : pools) out.pools.push_back(std::move(pool));
  return out;
}

}  // namespace gpuop::op
