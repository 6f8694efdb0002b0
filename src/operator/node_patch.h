#pragma once
// Requests that change a node's labels and annotations. Pure.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "operator/node_plan.h"

namespace gpuop::op {

/// The changes as a merge patch, which people read.
boost::json::object MergePatchOf(const NodePatch& patch);

/// The changes as a JSON patch (RFC 6902) that asks of the node no more than they rest on: it is the same node, and
/// what they set, replace or remove is as `node` has it. So a heartbeat, or somebody else's label, is in nobody's way,
/// and a person's word that came meanwhile is not overwritten: then the server refuses all of it.
boost::json::array JsonPatchOf(const NodeState& node, const NodePatch& patch);

}  // namespace gpuop::op
