#include "operator/node_plan.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "operands/labels.h"
#include "operator/names.h"

namespace gpuop::op {
namespace {

/// Values that the operator and the driver manager write; anything else is a person's decision.
bool IsOurs(std::string_view value) { return value == "true" || value == kPaused || value.empty(); }

/// Builds the patch: only what differs from the node gets into it.
class Plan {
 public:
  explicit Plan(const NodeState& node, NodePatch& out) : node_(node), out_(out) {}

  void Set(std::string_view key, std::string_view value) {
    const Interned* now = node_.meta.labels.Find(key);
    if (now == nullptr || *now != value) out_.labels[std::string(key)] = std::string(value);
  }
  void Remove(std::string_view key) {
    if (node_.meta.labels.contains(key)) out_.labels[std::string(key)] = std::nullopt;
  }
  void Annotate(std::string_view key, bool wanted) {
    const Interned* now = node_.meta.annotations.Find(key);
    if (wanted && (now == nullptr || *now != "true")) out_.annotations[std::string(key)] = "true";
    if (!wanted && now != nullptr) out_.annotations[std::string(key)] = std::nullopt;
  }
  void SetDeploy(std::string_view name) {
    const std::string key = operands::DeployLabel(name);
    if (node_.meta.labels.Get(key).empty()) Set(key, "true");  // "false", "pre-installed" and their like stay
  }
  void RemoveDeploy(std::string_view name) {
    const std::string key = operands::DeployLabel(name);
    if (IsOurs(node_.meta.labels.Get(key))) Remove(key);
  }

 private:
  const NodeState& node_;
  NodePatch& out_;
};

void RemoveGroups(Plan& plan) {
  for (const std::string_view key :
       {operands::kOsLabel, operands::kRuntimeLabel, operands::kKernelLabel, operands::kRhcosLabel})
    plan.Remove(key);
}

void RemoveDeploys(Plan& plan) {
  for (const std::string_view name : AllDeployNames()) plan.RemoveDeploy(name);
}

/// Nobody asks for anything: what is ours goes.
void PlanFarewell(const NodeState& node, Plan& plan) {
  plan.Remove(kGpuPresent);
  RemoveDeploys(plan);
  RemoveGroups(plan);
  plan.Remove(kDriverOwner);
  plan.Remove(kUpgradeState);
  if (node.meta.labels.Get(kMigConfig) == "all-disabled") plan.Remove(kMigConfig);
  plan.Annotate(kUpgradeEnabled, false);
  plan.Annotate(kWorkloadChanging, false);
}

/// The GPUs are gone, proved and held.
void PlanGone(Plan& plan) {
  plan.Set(kGpuPresent, "false");
  plan.Annotate(kWorkloadChanging, false);
  RemoveDeploys(plan);
  RemoveGroups(plan);
  plan.Remove(kDriverOwner);
  plan.Annotate(kUpgradeEnabled, false);
}

/// What the node is set up for; nullopt when its label says nothing that we know.
std::optional<Workload> WorkloadOf(const NodeState& node, const LabelRules& rules) {
  if (!rules.sandbox) return Workload::kContainer;
  const std::string_view says = node.meta.labels.Get(kWorkloadConfig);
  return says.empty() ? rules.default_workload : ParseWorkload(says);
}

/// Whether MIG manager's label stays or comes. While feature discovery is silent, what is there stays.
bool WantsMigManager(const NodeState& node, const LabelRules& rules, Workload workload) {
  if (!rules.mig_manager || workload != Workload::kContainer) return false;
  if (const auto capable = MigCapable(node)) return *capable;
  return !node.meta.labels.Get(operands::DeployLabel("mig-manager")).empty();
}

/// Our labels on the node for operands that only another workload has.
std::vector<std::string_view> Leaving(const NodeState& node, Workload workload) {
  std::vector<std::string_view> out;
  for (const std::string_view name : AllDeployNames()) {
    const std::string_view value = node.meta.labels.Get(operands::DeployLabel(name));
    const bool another =
        Serves(name, Workload::kContainer) || Serves(name, Workload::kVmPassthrough) || Serves(name, Workload::kVmVgpu);
    if (!value.empty() && IsOurs(value) && another && !Serves(name, workload)) out.push_back(name);
  }
  return out;
}

/// One workload's operands never meet another's: who uses GPUs leaves first, then the operands of the one, and only
/// then those of the other come. Whether they may.
bool PlanChange(const NodeState& node, const NodeContext& context, Workload workload, NodePlan& out, Plan& plan) {
  const auto leaving = Leaving(node, workload);
  if (leaving.empty() && !node.meta.annotations.contains(kWorkloadChanging)) return true;
  out.changing_workload = true;
  plan.Annotate(kWorkloadChanging, true);
  if (context.gpus_in_use) return false;
  for (const std::string_view name : leaving) plan.RemoveDeploy(name);
  const auto stays = [workload](const std::string& name) { return Serves(name, workload); };
  if (!leaving.empty() || !std::ranges::all_of(context.running, stays)) return false;
  out.changing_workload = false;
  plan.Annotate(kWorkloadChanging, false);
  return true;
}

void PlanDeploys(const NodeState& node, const NodeContext& context, NodePlan& out, Plan& plan) {
  if (node.meta.labels.Get(kDeployOperands) == "false") {
    plan.Annotate(kWorkloadChanging, false);
    return RemoveDeploys(plan);
  }
  const auto workload = WorkloadOf(node, context.rules);
  if (!workload) {
    out.bad_workload = node.meta.labels.Get(kWorkloadConfig);
    return;
  }
  if (!PlanChange(node, context, *workload, out, plan)) return;
  const auto it = context.rules.deploy.find(*workload);
  static const std::vector<std::string_view> kNone;
  const auto& wanted = it == context.rules.deploy.end() ? kNone : it->second;
  const bool mig = WantsMigManager(node, context.rules, *workload);
  for (const std::string_view name : AllDeployNames()) {
    if (std::ranges::find(wanted, name) != wanted.end() || (mig && name == "mig-manager")) {
      plan.SetDeploy(name);
    } else {
      plan.RemoveDeploy(name);
    }
  }
  if (mig && MigCapable(node).value_or(false) && !context.rules.mig_default.empty() &&
      node.meta.labels.Get(kMigConfig).empty())
    plan.Set(kMigConfig, context.rules.mig_default);
}

/// The driver's owner, and whether upgrades are ours to run.
void PlanDriver(const NodeState& node, const NodeContext& context, NodePlan& out, Plan& plan) {
  if (!context.rules.drivers_by_crd) {
    plan.Remove(kDriverOwner);
    return plan.Annotate(kUpgradeEnabled, context.rules.auto_upgrade);
  }
  DriverRouting::Answer answer = context.drivers.OwnerOf(node.meta.labels);
  out.rivals = std::move(answer.rivals);
  if (answer.held && context.unmet_held) {
    // Asked again as if the node had no owner yet: then nothing is held.
    kube::StringMap labels = node.meta.labels;
    labels.Set(kDriverOwner, "");
    answer = context.drivers.OwnerOf(labels);
  }
  out.unmet_pending = answer.held;
  if (answer.owner) {
    plan.Set(kDriverOwner, *answer.owner);
  } else {
    plan.Remove(kDriverOwner);
  }
  plan.Annotate(kUpgradeEnabled, answer.owner && context.drivers.AutoUpgrade(*answer.owner));
  const std::string_view state = node.meta.labels.Get(kUpgradeState);
  if (context.orphaned_driver && answer.owner && (state.empty() || state == "upgrade-done"))
    plan.Set(kUpgradeState, "upgrade-required");
}

void PlanLabels(const NodeState& node, const NodeContext& context, NodePlan& out, Plan& plan) {
  if (context.rules.none) return PlanFarewell(node, plan);
  const bool was = node.meta.labels.Get(kGpuPresent) == "true";
  const GpuSign sign = SignOf(node);
  if (!was && sign != GpuSign::kPresent) {
    // Not one of ours: what an earlier operator may have left on it goes.
    plan.Annotate(kWorkloadChanging, false);
    RemoveDeploys(plan);
    RemoveGroups(plan);
    plan.Remove(kDriverOwner);
    plan.Annotate(kUpgradeEnabled, false);
    return;
  }
  if (sign == GpuSign::kAbsent) {
    if (context.absence_held) {
      PlanGone(plan);
      return;
    }
    out.absence_pending = true;
  }
  plan.Set(kGpuPresent, "true");
  const operands::NodeGroup group = GroupOf(node);
  for (const auto& [key, value] : operands::GroupLabels(group)) plan.Set(key, value);
  // Its system was updated and nobody tells to what: a driver that is built for the old one must not come back.
  if (group.rhcos_version.empty() && HasStaleFeatures(node)) plan.Remove(operands::kRhcosLabel);
  PlanDeploys(node, context, out, plan);
  PlanDriver(node, context, out, plan);
}

/// Whether the node is one that the operand is meant to be on, once `patch` is written. It stays so while the driver
/// manager works on it.
bool Takes(const NodeState& node, const NodePatch& patch, std::string_view deploy_name) {
  const std::string key = operands::DeployLabel(deploy_name);
  const auto it = patch.labels.find(key);
  const std::string value(it == patch.labels.end() ? node.meta.labels.Get(key) : it->second.value_or(""));
  return value == "true" || value == kPaused;
}

/// What an operand may mark the node by is written down before it can, and goes when the operand has gone.
void PlanMarks(const NodeState& node, const NodeContext& context, NodePlan& out) {
  const NodeMarks recorded = ParseMarks(node.meta.annotations.Get(kNodeMarks));
  NodeMarks wanted;
  for (const auto& [deploy_name, marks] : context.rules.marks)
    if (Takes(node, out.patch, deploy_name)) wanted.insert(marks.begin(), marks.end());
  NodeMarks all = wanted;
  all.insert(recorded.begin(), recorded.end());
  if (all != recorded) out.patch.annotations[std::string(kNodeMarks)] = TextOf(all);
  std::ranges::set_difference(recorded, wanted, std::inserter(out.leftovers, out.leftovers.end()));
  // Who uninstalls the operator waits for this label.
  if (!context.rules.none || out.leftovers.empty()) return;
  if (auto present = out.patch.labels.extract(std::string(kGpuPresent))) out.last.labels.insert(std::move(present));
}

}  // namespace

NodePlan PlanNode(const NodeState& node, const NodeContext& context) {
  NodePlan out;
  Plan plan(node, out.patch);
  PlanLabels(node, context, out, plan);
  PlanMarks(node, context, out);
  return out;
}

}  // namespace gpuop::op
