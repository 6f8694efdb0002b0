#pragma once
// Labels of the operator's own namespace. Pure.

#include <map>
#include <optional>
#include <string>

#include "api/cluster_policy.h"
#include "kube/string_map.h"

namespace gpuop::op {

/// Marks that the pod-security labels beside it are the operator's, to be taken away again.
inline constexpr const char* kOurPodSecurity = "nvidia.com/gpu-operator.pod-security";

/// What must change: labels to set, or to remove where there is no value. `policy` is the one that counts, or null.
std::map<std::string, std::optional<std::string>> PlanNamespace(const kube::StringMap& labels, const std::string& ns,
                                                                const api::ClusterPolicySpec* policy, bool openshift);

}  // namespace gpuop::op
