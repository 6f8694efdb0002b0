#pragma once
// Objects as flat lists of facts, so that ours and recorded ones can be compared whatever the order of lists in them.

#include <map>
#include <string>

#include "operands/operand.h"

namespace gpuop::operands::testing {

/// "DaemonSet/nvidia-dcgm containers[nvidia-dcgm-ctr].image" to the value as JSON.
using Flat = std::map<std::string, std::string>;

/// Of objects as rendered, with the defaults that the API server adds.
Flat FlattenObjects(const Objects& objects);

/// Of testdata/manifests/oracle_default.json.
Flat FlattenOracle(const data::JsonObject& oracle);

}  // namespace gpuop::operands::testing
