#pragma once
// HorizontalPodAutoscalers in the two versions in which they are served.

#include <boost/json/object.hpp>
#include <string_view>

namespace gpuop::sim::types {

/// Makes `autoscaler` one of autoscaling/`version` ("v1" or "v2"). What v1 has no field for (metrics but the CPU's
/// utilization, behavior, conditions) is kept in annotations of "autoscaling.alpha.kubernetes.io/", as the real server
/// writes them, and comes back from there.
void ConvertAutoscaler(std::string_view version, boost::json::object& autoscaler);

}  // namespace gpuop::sim::types
