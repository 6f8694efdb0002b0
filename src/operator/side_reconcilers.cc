#include "operator/side_reconcilers.h"

#include <boost/json.hpp>

#include "operator/active.h"
#include "operator/label_patch.h"
#include "operator/namespace_labels.h"

namespace gpuop::op {
namespace {

const kube::Resource kNamespaces{"", "v1", "namespaces", "Namespace", false};

}  // namespace

Result<kube::Next> ClusterReconciler::Turn(const std::string& name) {
  if (!world_.Ready()) return kube::Next{.again = std::chrono::seconds(1)};
  const auto cluster = world_.clusters().Get(name);
  if (!cluster || cluster->meta.deleting()) return kube::Next{};
  const auto policy = ActivePolicy(world_.policies().List());
  Conditions conditions(cluster->status.conditions, cluster->meta.generation, executor_.Wall());
  std::string reason = "NotSupported";
  std::string message =
      "GPUs by Dynamic Resource Allocation are not offered yet by this operator; describe the nodes by a ClusterPolicy";
  if (policy != nullptr) {
    reason = "PrerequisiteNotMet";
    message = "ClusterPolicy " + policy->meta.name + " exists; and " + message;
  }
  if (!cluster->error.empty()) message = "invalid GPUCluster: " + cluster->error + "; and " + message;
  const api::Condition* before = FindCondition(cluster->status.conditions, "Error");
  if (before == nullptr || before->message != message)
    events_.Emit(kube::ReferenceTo(*cluster), kube::EventType::kWarning, reason, message);
  conditions.SetError(reason, std::move(message));
  const StatusReport report{"notReady", conditions.list()};
  ASSIGN(const auto again, statuses_.Write(kube::Ref<api::GpuCluster>(name), cluster->meta, cluster->status.state,
                                           cluster->status.ns, cluster->status.conditions, report));
  return kube::Next{.again = again};
}

std::optional<boost::json::object> NamespaceReconciler::Preview() {
  const auto ns = world_.namespaces().Get(world_.ns());
  const auto policy = ActivePolicy(world_.policies().List());
  if (!ns || ns->meta.deleting() || (policy && !policy->error.empty())) return std::nullopt;
  const auto changes =
      PlanNamespace(ns->meta.labels, world_.ns(), policy ? &policy->spec : nullptr, world_.IsOpenShift());
  if (changes.empty()) return std::nullopt;
  return boost::json::object{{"metadata", {{"labels", ValuesOf(changes)}}}};
}

Result<kube::Next> NamespaceReconciler::Turn() {
  if (!world_.Ready()) return kube::Next{.again = std::chrono::seconds(1)};
  const auto patch = Preview();
  if (!patch) return kube::Next{};
  TRY(client_.Patch({kNamespaces, {}, world_.ns(), {}}, kube::PatchType::kMerge, *patch));
  log_.Info("namespace labelled", {{"namespace", world_.ns()}});
  return kube::Next{};
}

}  // namespace gpuop::op
