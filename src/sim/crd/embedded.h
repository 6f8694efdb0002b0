#pragma once

#include <boost/json/value.hpp>
#include <expected>
#include <string>
#include <vector>

#include "data/schema.h"
#include "sim/status.h"

namespace gpuop::sim {

/// Reads the metadata of every embedded resource below `value` (x-kubernetes-embedded-resource) as ObjectMeta, whose
/// shape is `metadata`: unknown fields are dropped, and a value of a wrong type is the error told.
std::expected<void, std::string> ConformEmbedded(boost::json::value& value, const data::Schema& schema,
                                                 const data::Schema& metadata);

/// What embedded resources lack: apiVersion, kind, and names that may be names.
std::vector<FieldError> CheckEmbedded(const boost::json::value& value, const data::Schema& schema);

}  // namespace gpuop::sim
