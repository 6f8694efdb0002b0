#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "data/json.h"
#include "kube/types/node.h"

namespace gpuop::operands {

/// What a condition of a node shall say.
struct NodeCondition {
  std::string_view type, status, reason, message;
};
/// The strategic merge patch of the node's status that makes it say so; nullopt when it does. The time of the last
/// transition changes only with the status.
std::optional<data::JsonObject> PlanNodeCondition(const kube::Node& node, const NodeCondition& wanted, WallTime now);

}  // namespace gpuop::operands
