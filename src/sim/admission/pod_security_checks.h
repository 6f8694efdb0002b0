#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuop::sim {

/// One check: why the pod's specification fails it, or nullopt.
using PodSecurityCheck = std::optional<std::string> (*)(const boost::json::object& pod_spec);

/// In the order in which messages list them. The restricted level replaces some of the baseline's.
std::span<const PodSecurityCheck> BaselineChecks();
std::span<const PodSecurityCheck> BaselineChecksKeptByRestricted();
std::span<const PodSecurityCheck> RestrictedChecks();

/// Calls `see(name, container)` for init containers, containers and ephemeral containers.
void ForContainers(const boost::json::object& pod_spec,
                   const std::function<void(std::string_view name, const boost::json::object& container)>& see);
/// `container "a"` or `containers "a", "b"`.
std::string Containers(const std::vector<std::string>& names);
/// `"a", "b"`.
std::string QuotedNames(const std::vector<std::string>& names);

}  // namespace gpuop::sim
