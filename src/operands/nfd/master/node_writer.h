#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "kube/client.h"
#include "operands/nfd/master/node_plan.h"

namespace gpuop::operands::nfd {

/// Sends what PlanNode found: the status first, so that what fails there is still noted as ours and tried again; a
/// refusal there does not hold up labels and taints. kConflict: the taints were changed meanwhile, plan again.
Result<> WriteNode(const kube::Client& client, const std::string& node, NodePatch patch, const NodeSettings& settings);

}  // namespace gpuop::operands::nfd
