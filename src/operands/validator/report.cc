#include "operands/validator/report.h"

#include "operands/node_condition.h"
#include "operands/node_event.h"

namespace gpuop::operands::validator {
namespace {

bool SaysReason(const kube::Node& node, std::string_view reason) {
  const kube::Condition* const now = kube::FindCondition(node.status.conditions, api::kGpuReadyCondition);
  return now != nullptr && now->reason == reason;
}

}  // namespace

Result<> NodeReport::Write(const api::Finding& finding) const {
  ASSIGN(const kube::Node node, client_.Get<kube::Node>(node_));
  const std::string message = api::ConditionMessage(finding, node.meta.name);
  const auto patch = PlanNodeCondition(node,
                                       {.type = api::kGpuReadyCondition,
                                        .status = api::ConditionStatus(finding.code),
                                        .reason = api::Find(finding.code).name,
                                        .message = message},
                                       clock_.Wall());
  if (!patch) return {};
  kube::ObjectRef status = kube::Ref<kube::Node>(node_);
  status.subresource = "status";
  TRY(client_.Patch(status, kube::PatchType::kStrategic, *patch));
  const bool news = api::ConditionStatus(finding.code) != "Unknown" && !SaysReason(node, api::Find(finding.code).name);
  return news ? Event(node, finding) : Result<>();
}

Result<> NodeReport::Tell(const api::Finding& finding) const {
  ASSIGN(const kube::Node node, client_.Get<kube::Node>(node_));
  return Event(node, finding);
}

Result<> NodeReport::Event(const kube::Node& node, const api::Finding& finding) const {
  const std::string message = api::ConditionMessage(finding, node_);
  const api::Reason& reason = api::Find(finding.code);
  return WriteNodeEvent(client_, node,
                        {.warning = reason.severity != api::Severity::kFine,
                         .reason = reason.name,
                         .message = message,
                         .program = "nvidia-validator"},
                        clock_.Wall());
}

}  // namespace gpuop::operands::validator
