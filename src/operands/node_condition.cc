#include "operands/node_condition.h"

namespace gpuop::operands {

std::optional<data::JsonObject> PlanNodeCondition(const kube::Node& node, const NodeCondition& wanted, WallTime now) {
  const kube::Condition* const old = kube::FindCondition(node.status.conditions, wanted.type);
  const bool same_status = old != nullptr && old->status == wanted.status;
  if (same_status && old->reason == wanted.reason && old->message == wanted.message) return std::nullopt;
  data::JsonObject condition{{"type", wanted.type},
                             {"status", wanted.status},
                             {"reason", wanted.reason},
                             {"message", wanted.message},
                             {"lastHeartbeatTime", FormatTime(now)},
                             {"lastTransitionTime", FormatTime(same_status ? old->last_transition : now)}};
  return data::JsonObject{{"status", data::JsonObject{{"conditions", data::JsonArray{std::move(condition)}}}}};
}

}  // namespace gpuop::operands
