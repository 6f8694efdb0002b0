#include "operator/label_rules.h"

#include <algorithm>
#include <array>

namespace gpuop::op {
namespace {

using Spec = api::ClusterPolicySpec;
using Is = bool (*)(const Spec&);

constexpr std::string_view kMigManager = "mig-manager";

/// One deploy label: for which workloads, and when.
struct Row {
  std::string_view name;
  bool container, passthrough, vgpu;
  Is when;
};

bool Always(const Spec&) { return true; }
bool InKata(const Spec& s) { return s.sandbox_workloads.mode == "kata"; }

// clang-format off
constexpr std::array kRows = {
    Row{"driver", true, false, false, [](const Spec& s) { return s.driver.IsEnabled(); }},
    Row{"container-toolkit", true, false, false, [](const Spec& s) { return s.toolkit.IsEnabled(); }},
    Row{"device-plugin", true, false, false, [](const Spec& s) { return s.device_plugin.IsEnabled(); }},
    Row{"gpu-feature-discovery", true, false, false, [](const Spec& s) { return s.gfd.IsEnabled(); }},
    Row{"dcgm", true, false, false, [](const Spec& s) { return s.dcgm.IsEnabled(); }},
    Row{"dcgm-exporter", true, false, false, [](const Spec& s) { return s.dcgm_exporter.IsEnabled(); }},
    Row{"node-status-exporter", true, false, false, [](const Spec& s) { return s.node_status_exporter.IsEnabled(); }},
    Row{"operator-validator", true, false, false, Always},
    Row{kMigManager, true, false, false, [](const Spec& s) { return s.mig_manager.IsEnabled(); }},
    Row{"client", true, true, true, Always},
    Row{"sandbox-device-plugin", false, true, true,
        [](const Spec& s) { return s.sandbox_device_plugin.IsEnabled() && !InKata(s); }},
    Row{"kata-sandbox-device-plugin", false, true, false,
        [](const Spec& s) { return s.kata_sandbox_device_plugin.IsEnabled() && InKata(s); }},
    Row{"sandbox-validator", false, true, true, Always},
    Row{"vfio-manager", false, true, false, [](const Spec& s) { return s.vfio_manager.IsEnabled(); }},
    Row{"vgpu-manager", false, false, true, [](const Spec& s) { return s.vgpu_manager.IsEnabled(); }},
    Row{"vgpu-device-manager", false, false, true, [](const Spec& s) { return s.vgpu_device_manager.IsEnabled(); }},
    Row{"cc-manager", false, true, true, [](const Spec& s) { return s.cc_manager.IsEnabled() && InKata(s); }},
    Row{"kata-manager", false, false, false, Always},
    Row{"dra-driver", false, false, false, Always},
    Row{"dra-validator", false, false, false, Always},
    Row{"dcgm-dra", false, false, false, Always},
    Row{"dcgm-exporter-dra", false, false, false, Always},
};
// clang-format on

std::map<std::string_view, NodeMarks> MarksBy(const Spec& policy) {
  std::map<std::string_view, NodeMarks> out{{"operator-validator", ValidatorMarks()}};
  PluginMarks plugin;
  for (const api::EnvVar& variable : policy.device_plugin.env) plugin.Add(variable.name, variable.value);
  if (policy.device_plugin.IsEnabled()) out.emplace("device-plugin", plugin.Marks());
  return out;
}

}  // namespace

std::optional<Workload> ParseWorkload(std::string_view text) {
  if (text == "container") return Workload::kContainer;
  if (text == "vm-passthrough") return Workload::kVmPassthrough;
  if (text == "vm-vgpu") return Workload::kVmVgpu;
  return std::nullopt;
}

bool Serves(std::string_view deploy_name, Workload workload) {
  const auto* row = std::ranges::find(kRows, deploy_name, &Row::name);
  if (row == kRows.end()) return false;
  switch (workload) {
    case Workload::kContainer: return row->container;
    case Workload::kVmPassthrough: return row->passthrough;
    case Workload::kVmVgpu: return row->vgpu;
  }
  return false;
}

const std::vector<std::string_view>& AllDeployNames() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> out;
    for (const Row& row : kRows) out.push_back(row.name);
    return out;
  }();
  return kNames;
}

LabelRules RulesOf(const api::ClusterPolicySpec* policy, bool has_drivers) {
  LabelRules out;
  if (policy == nullptr) {
    out.none = !has_drivers;
    out.drivers_by_crd = has_drivers;
    if (has_drivers) out.deploy[Workload::kContainer] = {"driver"};
    return out;
  }
  out.none = false;
  out.sandbox = policy->sandbox_workloads.IsEnabled();
  if (out.sandbox)
    out.default_workload = ParseWorkload(policy->sandbox_workloads.default_workload).value_or(Workload::kContainer);
  for (const Row& row : kRows) {
    if (!row.when(*policy) || row.name == kMigManager) continue;
    if (row.container) out.deploy[Workload::kContainer].push_back(row.name);
    if (row.passthrough && out.sandbox) out.deploy[Workload::kVmPassthrough].push_back(row.name);
    if (row.vgpu && out.sandbox) out.deploy[Workload::kVmVgpu].push_back(row.name);
  }
  out.mig_manager = policy->mig_manager.IsEnabled();
  if (out.mig_manager && policy->mig_manager.config) out.mig_default = policy->mig_manager.config->default_config;
  out.marks = MarksBy(*policy);
  out.drivers_by_crd = policy->driver.IsEnabled() && policy->driver.UsesNvidiaDriverCrd();
  out.auto_upgrade = policy->driver.IsEnabled() && policy->driver.upgrade_policy &&
                     policy->driver.upgrade_policy->auto_upgrade && !out.sandbox;
  return out;
}

}  // namespace gpuop::op
