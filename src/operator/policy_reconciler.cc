#include "operator/policy_reconciler.h"

#include <algorithm>
#include <boost/json.hpp>

#include "operands/checks.h"
#include "operands/labels.h"
#include "operator/active.h"
#include "operator/names.h"

namespace gpuop::op {
namespace {

using Kind = OperandReport::Kind;

/// States that NVIDIADrivers take over from the policy.
bool IsDriverState(std::string_view state) { return state == "state-driver" || state == "state-vgpu-manager"; }

OperandReport ReportFor(const operands::Operand& operand) {
  return {.state = std::string(operand.state),
          .condition = std::string(operand.condition),
          .kind = Kind::kReady,
          .reason = "Ready",
          .message = {}};
}

std::string Nodes(std::int64_t count) { return std::to_string(count) + (count == 1 ? " node" : " nodes"); }

/// An index of driver Pods: those whose image cannot be pulled.
constexpr const char* kPullFails = "pull-fails";

/// What a person must know though nothing waits for it: such conditions are there only while they hold.
bool IsWarning(const api::Condition& c) { return !c.type.ends_with("Ready") && c.type != "Error"; }

}  // namespace

PolicyReconciler::PolicyReconciler(Parts parts) : p_(std::move(parts)) {
  p_.world.driver_pods().AddIndex(kPullFails, [](const DriverPod& pod, const auto& emit) {
    if (!pod.missing_image.empty()) emit(kPullFails);
  });
}

Result<kube::Next> PolicyReconciler::Turn(const std::string& name) {
  if (!p_.world.Ready()) return kube::Next{.again = std::chrono::seconds(1)};
  const auto policy = p_.world.policies().Get(name);
  if (const auto known = uids_.find(name);
      known != uids_.end() && (!policy || policy->meta.deleting() || policy->meta.uid != known->second)) {
    p_.keeper.Forget(known->second);
    uids_.erase(known);
    inputs_ = std::nullopt;
  }
  const auto active = ActivePolicy(p_.world.policies().List());
  if (!active) p_.metrics.reconciliation_status.Set(-1);
  if (!policy || policy->meta.deleting()) return kube::Next{};
  uids_[name] = policy->meta.uid;
  if (policy->meta.uid != active->meta.uid) return Ignore(*policy, *active);
  const TimePoint begun = p_.executor.Now();
  auto next = TurnActive(policy);
  p_.metrics.turn_seconds.Observe(std::chrono::duration<double>(p_.executor.Now() - begun).count());
  return next;
}

Result<kube::Next> PolicyReconciler::TurnActive(const std::shared_ptr<const api::ClusterPolicy>& policy) {
  p_.metrics.reconciliations.Add();
  // Before what they number: news in between is then seen again, not passed over.
  const Inputs inputs{policy->meta.uid, policy->meta.generation, p_.fleet.shape(), p_.world.version()};
  const FleetSummary fleet = p_.fleet.Summary();
  p_.metrics.gpu_nodes.Set(static_cast<double>(fleet.gpu_nodes));
  p_.metrics.has_nfd_labels.Set(fleet.described > 0 ? 1 : 0);
  if (!policy->error.empty()) return Refuse(*policy, "ReconcileFailed", "invalid policy: " + policy->error, -1);
  if (const auto clusters = p_.world.clusters().List(); !clusters.empty())
    return Refuse(*policy, "ReconcileFailed",
                  "GPUCluster " + clusters.front()->meta.name +
                      " exists too: GPUs are offered either by a ClusterPolicy or by a GPUCluster; delete one of them",
                  -1);
  if (inputs_ != inputs) {
    Problems problems = CheckPolicy(policy->spec);
    const operands::Facts facts = FactsFor(*policy, fleet);
    Rendered rendered = problems.empty() ? Render(*policy, facts, problems) : Rendered();
    if (!problems.empty()) {
      // Nothing is written for a policy of which something is wrong; what runs goes on.
      inputs_ = std::nullopt;
      return Refuse(*policy, "ReconcileFailed", "invalid policy: " + NamesText(problems, 20), 0);
    }
    p_.keeper.Want(policy->meta.uid, rendered.wish);
    for (operands::NodeGroup& group : operands::GroupsWithoutDriverImage(policy->spec, facts)) {
      group.nodes = 0;
      if (!group.os_id.empty()) rendered.without_driver_image.push_back(std::move(group));
    }
    rendered_ = std::move(rendered);
    CountToolkit(*policy, facts);
    inputs_ = inputs;
  }
  // Of objects that were not looked at yet nothing can be said: what the status says stands until then. The keeper
  // gives another turn.
  if (!policy->status.state.empty() && !p_.lookout.Known(rendered_.wish.objects)) return kube::Next{};
  p_.metrics.auto_upgrade.Set(policy->spec.driver.upgrade_policy && policy->spec.driver.upgrade_policy->auto_upgrade);
  return Report(*policy, Assess(*policy, fleet));
}

operands::Facts PolicyReconciler::FactsFor(const api::ClusterPolicy& policy, const FleetSummary& fleet) {
  operands::Facts facts = GatherFacts(p_.world, fleet, p_.surroundings);
  facts.owner = OwnerRefTo(policy);
  if (!policy.spec.operator_.use_ocp_driver_toolkit.value_or(true)) facts.openshift.driver_toolkit_images.clear();
  return facts;
}

PolicyReconciler::Rendered PolicyReconciler::Render(const api::ClusterPolicy& policy, const operands::Facts& facts,
                                                    Problems& problems) const {
  Rendered out;
  out.wish.hold_daemon_sets = facts.groups.empty();
  const bool by_crd = policy.spec.driver.UsesNvidiaDriverCrd();
  if (by_crd) out.wish.orphaned_states = {"state-driver", "state-vgpu-manager"};
  for (const operands::Operand& operand : p_.operands) {
    OperandReport report = ReportFor(operand);
    const bool elsewhere = by_crd && IsDriverState(operand.state);
    if (elsewhere || !operand.enabled(policy.spec, facts)) {
      report.kind = Kind::kDisabled;
    } else if (auto objects = operand.render(policy.spec, facts); objects) {
      for (const operands::Object& object : *objects) out.wish.objects.push_back(object);
      out.objects[report.state] = *std::move(objects);
    } else if (objects.error().code == Code::kInvalid) {
      // Two operands of one image tell of it twice.
      const std::string& problem = objects.error().text;
      if (std::ranges::find(problems, problem) == problems.end()) problems.push_back(problem);
    } else {
      out.wish.held_states.insert(report.state);
      Worsen(report, Kind::kFailed, "PrerequisiteNotMet", objects.error().text);
    }
    out.reports.push_back(std::move(report));
  }
  return out;
}

OperandReport PolicyReconciler::Disabled(const api::ClusterPolicy& policy, const operands::Operand& operand,
                                         const FleetSummary& fleet) const {
  OperandReport out = ReportFor(operand);
  out.kind = Kind::kDisabled;
  out.reason = "Disabled";
  out.message = "not asked for";
  const bool by_crd = policy.spec.driver.UsesNvidiaDriverCrd();
  if (by_crd && IsDriverState(operand.state)) {
    out.reason = "ByNVIDIADriver";
    out.message = "drivers are described by NVIDIADriver objects";
  } else if (operand.state == "state-driver") {
    out.reason = "HostOwned";
    out.message = "owned by the host on " + Nodes(fleet.gpu_nodes);
  } else if (operand.state == "state-container-toolkit") {
    out.reason = "HostOwned";
    out.message = "owned by the host on " + Nodes(fleet.gpu_nodes);
  }
  return out;
}

StatusReport PolicyReconciler::Assess(const api::ClusterPolicy& policy, const FleetSummary& fleet) {
  std::vector<OperandReport> reports = rendered_.reports;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    OperandReport& report = reports[i];
    if (report.kind == Kind::kDisabled) report = Disabled(policy, p_.operands[i], fleet);
    if (const auto it = rendered_.objects.find(report.state); it != rendered_.objects.end())
      for (const operands::Object& object : it->second) p_.lookout.Look(object, report);
    if (report.kind == Kind::kReady && report.state == "state-driver" && fleet.host_driver > 0)
      report.message = "owned by the host, or switched off by label, on " + Nodes(fleet.host_driver);
    p_.metrics.SetOperand(report.state, report.desired, report.available);
  }
  PolicyFindings findings;
  findings.fleet = &fleet;
  // A node that changes now and then does not make a ready cluster unready.
  findings.labels_settled = policy.status.state == "ready" || p_.labels_settled();
  findings.drivers_by_crd = policy.spec.driver.UsesNvidiaDriverCrd();
  findings.sandbox = policy.spec.sandbox_workloads.IsEnabled();
  findings.unknown_fields = policy.unknown;
  for (const operands::NodeGroup& group : rendered_.without_driver_image)
    if (const auto it = fleet.groups.find(group); it != fleet.groups.end())
      findings.without_driver_image.push_back(operands::OsTag(group.os_id, group.os_version) + " on " +
                                              Nodes(it->second));
  const auto unpulled = p_.world.driver_pods().Find(kPullFails, kPullFails);
  findings.precompiled = policy.spec.driver.UsesPrecompiled() &&
                         std::ranges::any_of(unpulled, [](const auto& pod) { return pod->missing_is_driver; });
  findings.missing_images = MissingImages();
  const std::string drivers = api::NvidiaDriver::kResource.GroupPlural();
  if (findings.drivers_by_crd && !p_.world.Serves(drivers)) findings.missing_definitions.push_back(drivers);
  if (const auto crd = p_.world.crds().Get(api::ClusterPolicy::kResource.GroupPlural()))
    findings.missing_fields = crd->missing;
  return ReportOperands(reports, findings,
                        Conditions(policy.status.conditions, policy.meta.generation, p_.executor.Wall()));
}

std::vector<std::string> PolicyReconciler::MissingImages() const {
  std::map<std::string, std::vector<std::string>> nodes;
  for (const auto& pod : p_.world.driver_pods().Find(kPullFails, kPullFails))
    nodes[std::string(pod->missing_image.view())].emplace_back(pod->node.view());
  std::vector<std::string> out;
  for (const auto& [image, of] : nodes) out.push_back(image + " on " + NamesText(of));
  return out;
}

Result<kube::Next> PolicyReconciler::Report(const api::ClusterPolicy& policy, const StatusReport& report) {
  const bool ready = report.state == "ready";
  p_.metrics.reconciliation_status.Set(ready ? 1 : 0);
  if (!ready) p_.metrics.failures.Add();
  if (ready) p_.metrics.last_success.Set(std::chrono::duration<double>(p_.executor.Wall().time_since_epoch()).count());
  Announce(policy, report);
  ASSIGN(const auto again, p_.statuses.Write(kube::Ref<api::ClusterPolicy>(policy.meta.name), policy.meta,
                                             policy.status.state, policy.status.ns, policy.status.conditions, report));
  return kube::Next{.again = again};
}

Result<kube::Next> PolicyReconciler::Refuse(const api::ClusterPolicy& policy, std::string_view reason,
                                            std::string message, std::int64_t metric) {
  Conditions conditions(policy.status.conditions, policy.meta.generation, p_.executor.Wall());
  conditions.SetError(reason, std::move(message));
  StatusReport report{"notReady", conditions.list()};
  auto next = Report(policy, report);
  p_.metrics.reconciliation_status.Set(static_cast<double>(metric));
  return next;
}

Result<kube::Next> PolicyReconciler::Ignore(const api::ClusterPolicy& policy, const api::ClusterPolicy& active) {
  p_.keeper.Forget(policy.meta.uid);
  Conditions conditions(policy.status.conditions, policy.meta.generation, p_.executor.Wall());
  conditions.SetError("Ignored", "ClusterPolicy " + active.meta.name +
                                     " is older and counts alone; this one has no effect while it exists");
  const StatusReport report{"ignored", conditions.list()};
  Announce(policy, report);
  ASSIGN(const auto again, p_.statuses.Write(kube::Ref<api::ClusterPolicy>(policy.meta.name), policy.meta,
                                             policy.status.state, policy.status.ns, policy.status.conditions, report));
  return kube::Next{.again = again};
}

/// Events for what a person must know: when the whole turns, when an operand cannot be made, and when a warning comes.
void PolicyReconciler::Announce(const api::ClusterPolicy& policy, const StatusReport& report) {
  const api::Condition* error = FindCondition(report.conditions, "Error");
  const api::Condition* before = FindCondition(policy.status.conditions, "Error");
  if (policy.status.state != "ready" && report.state == "ready") {
    p_.events.Emit(kube::ReferenceTo(policy), kube::EventType::kNormal, "Ready", "all operands are ready");
  } else if (error != nullptr && error->status == "True" && error->reason != "OperandNotReady" &&
             (before == nullptr || before->message != error->message)) {
    p_.events.Emit(kube::ReferenceTo(policy), kube::EventType::kWarning, error->reason, error->message);
  }
  for (const api::Condition& c : report.conditions) {
    const api::Condition* old = FindCondition(policy.status.conditions, c.type);
    const bool stuck = c.reason == "PrerequisiteNotMet" || c.reason == "ApplyFailed";
    if ((IsWarning(c) && old == nullptr) || (stuck && (old == nullptr || old->message != c.message)))
      p_.events.Emit(kube::ReferenceTo(policy), kube::EventType::kWarning, c.reason, c.type + ": " + c.message);
  }
}

/// OpenShift's Driver Toolkit in numbers.
void PolicyReconciler::CountToolkit(const api::ClusterPolicy& policy, const operands::Facts& facts) {
  const bool asked = facts.openshift.present && policy.spec.operator_.use_ocp_driver_toolkit.value_or(true) &&
                     policy.spec.driver.IsEnabled() && !policy.spec.driver.UsesPrecompiled();
  const bool any_version = std::ranges::any_of(facts.groups, [](const auto& g) { return !g.rhcos_version.empty(); });
  const bool missing = asked && facts.openshift.driver_toolkit_images.empty();
  const bool tags_missing =
      asked && !missing && std::ranges::any_of(facts.groups, [&](const auto& g) {
        return !g.rhcos_version.empty() && !facts.openshift.driver_toolkit_images.contains(g.rhcos_version);
      });
  p_.metrics.driver_toolkit_enabled.Set(!asked ? 0 : missing || !any_version ? -1 : 1);
  p_.metrics.driver_toolkit_nfd_too_old.Set(asked && !facts.groups.empty() && !any_version);
  p_.metrics.driver_toolkit_imagestream_missing.Set(missing);
  p_.metrics.driver_toolkit_rhcos_tags_missing.Set(tags_missing);
  p_.metrics.driver_toolkit_imagestream_broken.Set(asked && facts.openshift.driver_toolkit_broken);
}

Result<Wish> PolicyReconciler::Preview(const api::ClusterPolicy& policy) {
  if (!policy.error.empty()) return Fail(Code::kInvalid, policy.error);
  Problems problems = CheckPolicy(policy.spec);
  if (!problems.empty()) return Fail(Code::kInvalid, NamesText(problems, 20));
  const operands::Facts facts = FactsFor(policy, p_.fleet.Summary());
  Rendered rendered = Render(policy, facts, problems);
  if (!problems.empty()) return Fail(Code::kInvalid, NamesText(problems, 20));
  return std::move(rendered.wish);
}

}  // namespace gpuop::op
