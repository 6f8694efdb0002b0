#pragma once
// Which deploy labels a node gets, as far as the policy decides it. Pure.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/cluster_policy.h"
#include "operator/node_marks.h"

namespace gpuop::op {

/// What nodes are set up for.
enum class Workload { kContainer, kVmPassthrough, kVmVgpu };

/// What one policy (or none) asks of all nodes; made once for each change of it.
struct LabelRules {
  /// Nobody asks for anything: our labels go.
  bool none = true;
  bool sandbox = false;
  Workload default_workload = Workload::kContainer;
  /// Names behind nvidia.com/gpu.deploy. that nodes of a workload get.
  std::map<Workload, std::vector<std::string_view>> deploy;
  bool mig_manager = false;
  /// nvidia.com/mig.config of MIG-capable nodes that have none; empty: they get none.
  std::string mig_default;
  /// The marks of operands on the nodes that they are on, by the name behind nvidia.com/gpu.deploy.
  std::map<std::string_view, NodeMarks> marks;
  /// Drivers come from NVIDIADriver objects.
  bool drivers_by_crd = false;
  /// The policy's own driver is replaced by the upgrade controller.
  bool auto_upgrade = false;
};

/// Rules of a policy; with null, of NVIDIADrivers alone (or of nothing when `has_drivers` is false).
LabelRules RulesOf(const api::ClusterPolicySpec* policy, bool has_drivers);

/// Every name that any rules can ask for: what may be removed when it is not asked for.
const std::vector<std::string_view>& AllDeployNames();

/// Whether nodes of that workload can ever get the operand.
bool Serves(std::string_view deploy_name, Workload workload);

/// nullopt for anything else than the three words.
std::optional<Workload> ParseWorkload(std::string_view text);

}  // namespace gpuop::op
