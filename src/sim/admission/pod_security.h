#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sim/api_server.h"

namespace gpuop::sim {

/// The Pod Security Standards' levels, from the most to the least permissive.
enum class PodSecurityLevel : std::uint8_t { kPrivileged, kBaseline, kRestricted };

/// Each check of the level that the pod's specification fails: `privileged (container "a" must not set …)`.
std::vector<std::string> PodSecurityViolations(PodSecurityLevel level, const boost::json::object& pod_spec);

/// Enforces the labels pod-security.kubernetes.io/enforce and …/warn of namespaces: Pods that violate the enforced
/// level are refused; the other one gives warnings, for workloads' templates too.
void AddPodSecurity(ApiServer& server);

}  // namespace gpuop::sim
