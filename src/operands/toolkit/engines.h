#pragma once
// Where container engines keep what the toolkit edits, and how its container sees that (controller.md §4.3).

#include <string>
#include <string_view>

#include "api/cluster_policy.h"
#include "base/result.h"
#include "operands/build/pod.h"
#include "operands/facts.h"

namespace gpuop::operands::toolkit {

/// Adds what the toolkit needs for one engine: the variables that tell it the engine and its files, and mounts and
/// volumes of the folders they lie in. Variables of the user ("CONTAINERD_CONFIG", "RUNTIME_SOCKET" …) in
/// spec.toolkit.env name other places on the host; those of the engine go before the general ones.
/// kInvalid names a variable that is no absolute path.
Result<> AddEngine(std::string_view runtime, const api::ClusterPolicySpec& policy, const Facts& facts, PodSpec& pod,
                   Container& main);

}  // namespace gpuop::operands::toolkit
