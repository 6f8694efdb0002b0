#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "sim/status.h"

namespace gpuop::sim {

/// What is wrong with the x-kubernetes-validations of a structural schema, at every depth.
void CheckCelRules(const boost::json::object& schema, const std::string& path, std::vector<FieldError>& errors);

}  // namespace gpuop::sim
