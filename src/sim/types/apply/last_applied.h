#pragma once
// kubectl's way from client-side to server-side apply: the annotation kubectl.kubernetes.io/last-applied-configuration.

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string_view>
#include <vector>

#include "sim/types/apply/ownership.h"
#include "sim/types/apply/shape.h"

namespace gpuop::sim::types {

/// Drops the conflicts over fields that the annotation of `live` shows to be kubectl's own. When any other is left,
/// only those are left; when none is, the list is empty.
void DropAllowedByLastApplied(Shape shape, const boost::json::value& live, std::string_view api_version,
                              std::vector<ApplyConflict>& conflicts);

/// Writes `config` into the annotation of `object`, if it has one.
void RefreshLastApplied(boost::json::object& object, const boost::json::object& config);

}  // namespace gpuop::sim::types
