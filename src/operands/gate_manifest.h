#pragma once
// What the readiness gate asks of manifests (docs/readiness-gate.md).

#include "api/cluster_policy.h"
#include "base/result.h"
#include "operands/build/pod.h"
#include "operands/readiness_gate_plan.h"

namespace gpuop::operands {

/// The gate that the policy's device plugin keeps, as its variables READINESS_TAINT and READINESS_CONDITION say.
/// kInvalid names the field.
Result<GateSettings> GateOf(const api::ClusterPolicySpec& policy);

/// An operand's Pod may run while the gate is closed: it is what opens it, or comes before.
Result<> TolerateGate(const api::ClusterPolicySpec& policy, PodSpec& pod);

}  // namespace gpuop::operands
