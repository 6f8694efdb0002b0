#include "operator/policy_report.h"

#include <algorithm>

#include "api/chain.h"

namespace gpuop::op {
namespace {

bool IsDone(const OperandReport& r) {
  return r.kind == OperandReport::Kind::kReady || r.kind == OperandReport::Kind::kDisabled;
}

std::string NotReadyStates(const std::vector<OperandReport>& operands) {
  std::vector<std::string> names;
  for (const OperandReport& r : operands)
    if (!IsDone(r)) names.push_back(r.state);
  return names.empty() ? std::string() : "states not ready: [" + NamesText(names, names.size()) + "]";
}

/// Nodes on which an NVIDIADriver has not finished replacing the driver.
std::string Upgrades(const PolicyFindings& findings) {
  if (!findings.drivers_by_crd || findings.fleet->upgrades.empty()) return {};
  std::vector<std::string> parts;
  for (const auto& [state, count] : findings.fleet->upgrades) parts.push_back(std::to_string(count) + " " + state);
  return "driver upgrade incomplete on nodes: " + NamesText(parts, parts.size());
}

void Append(std::string& out, const std::string& part) {
  if (!part.empty()) out.append("; ").append(part);
}

std::vector<std::string> NamesOf(const FleetSummary::NodeNames& nodes) {
  std::vector<std::string> out;
  for (const auto& [name, count] : nodes) out.push_back(name);
  return out;
}

/// The nodes by what is broken first on them, and what to look at.
std::string UnfitText(const FleetSummary& fleet) {
  std::size_t count = 0;
  std::string parts;
  for (const auto& [code, nodes] : fleet.unfit) {
    count += nodes.size();
    parts.append("; ").append(code).append(" on ").append(NamesText(NamesOf(nodes)));
    const api::Reason* reason = api::FindReason(code);
    if (reason == nullptr) continue;
    parts.append(" (").append(api::Name(reason->link)).append(": ").append(reason->words).append("; first check: ");
    parts.append(api::FirstCheck(reason->code, nodes.begin()->first)).append(")");
  }
  return std::to_string(count) + " of " + std::to_string(fleet.gpu_nodes) + " GPU nodes cannot run GPU work" + parts;
}

/// Conditions that are there only when they hold.
void AddWarnings(const PolicyFindings& findings, Conditions& out) {
  if (!findings.unknown_fields.empty())
    out.Set("UnknownFields", true, "UnknownFields",
            "fields that this version does not know have no effect: " + NamesText(findings.unknown_fields, 20));
  if (!findings.missing_fields.empty())
    out.Set("SchemaOutdated", true, "FieldsMissing",
            "the installed CustomResourceDefinition is older than this operator and drops fields: " +
                NamesText(findings.missing_fields, 10) + "; apply deploy/crds");
  if (!findings.missing_definitions.empty())
    out.Set("DefinitionsMissing", true, "NotServed",
            "the cluster does not serve " + NamesText(findings.missing_definitions) +
                ": apply deploy/crds; what they describe is followed from the moment that they are there");
  if (!findings.missing_images.empty())
    out.Set("DriverImageMissing", true, findings.precompiled ? "PrecompiledImageMissing" : "ImagePullFailed",
            "drivers cannot be pulled: " + NamesText(findings.missing_images, 10) +
                (findings.precompiled ? ": publish the image, or have drivers built on the nodes "
                                        "(spec.driver.usePrecompiled=false)"
                                      : ": see the Pod's Events"));
  if (!findings.without_driver_image.empty())
    out.Set("UnsupportedDriverOS", true, "NoDriverImage",
            "NVIDIA publishes no driver image for " + NamesText(findings.without_driver_image, 10) +
                ": let the host bring its driver (label the node nvidia.com/gpu.deploy.driver=false), or name an image "
                "of your own (spec.driver.repository)");
  const FleetSummary& fleet = *findings.fleet;
  if (!fleet.unfit.empty()) out.Set("NodesNotFit", true, "GPUWorkFails", UnfitText(fleet));
  if (!fleet.stale.empty())
    out.Set("StaleNodeFeatures", true, "FeaturesDisagree",
            "node feature discovery has not looked at " + NamesText(NamesOf(fleet.stale)) +
                " since it was updated: its labels name another kernel or system than the kubelet does. What the "
                "kubelet says counts, and no driver is built for the old one");
  if (findings.sandbox && !fleet.bad_workload.empty())
    out.Set("InvalidWorkloadConfig", true, "UnknownWorkload",
            "label nvidia.com/gpu.workload.config is none of container, vm-passthrough and vm-vgpu on " +
                NamesText(NamesOf(fleet.bad_workload)) + ": no operand is deployed there on a guess");
  if (fleet.without_os > 0)
    out.Set("NodeFeaturesMissing", true, "NFDLabelsMissing",
            std::to_string(fleet.without_os) +
                " GPU nodes carry no feature.node.kubernetes.io/system-os_release labels: no driver is built for them "
                "until node feature discovery describes them");
  if (fleet.without_runtime > 0)
    out.Set("RuntimeUnknown", true, "UnsupportedRuntime",
            std::to_string(fleet.without_runtime) + " GPU nodes run none of containerd, CRI-O and Docker");
}

void AddOperands(const std::vector<OperandReport>& operands, Conditions& out) {
  for (const OperandReport& r : operands) out.Set(r.condition + "Ready", IsDone(r), r.reason, r.message);
}

}  // namespace

StatusReport ReportOperands(const std::vector<OperandReport>& operands, const PolicyFindings& findings,
                            Conditions conditions) {
  StatusReport out;
  const std::string states = NotReadyStates(operands), upgrades = Upgrades(findings);
  const bool ready = states.empty() && upgrades.empty() && findings.labels_settled;
  out.state = ready ? "ready" : "notReady";
  if (!ready) {
    std::string message = "ClusterPolicy is not ready";
    Append(message, states);
    Append(message, upgrades);
    if (!findings.labels_settled) Append(message, "node labels are being written");
    conditions.SetError("OperandNotReady", std::move(message));
  } else if (findings.fleet->described == 0) {
    conditions.SetReady("NFDLabelsMissing",
                        "no node carries labels of node feature discovery: GPU nodes cannot be told from others");
  } else if (findings.fleet->gpu_nodes == 0) {
    conditions.SetReady("NoGPUNodes", "No GPU node found; operands are deployed when one comes");
  } else {
    conditions.SetReady("Reconciled", "ClusterPolicy is ready as all resources have been successfully reconciled");
  }
  AddOperands(operands, conditions);
  AddWarnings(findings, conditions);
  out.conditions = conditions.list();
  return out;
}

}  // namespace gpuop::op
