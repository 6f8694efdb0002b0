#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "sim/status.h"

namespace gpuop::sim {

/// What is wrong with the default values of a structural schema: each must be valid by its own schema and have no
/// unknown fields, and top-level metadata has none.
void CheckSchemaDefaults(const boost::json::object& schema, const std::string& path, std::vector<FieldError>& errors);

}  // namespace gpuop::sim
