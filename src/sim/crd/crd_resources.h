#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "sim/resource.h"

namespace gpuop::sim {

/// The resources that a CustomResourceDefinition makes served, one for each served version. The names are those
/// accepted (status.acceptedNames).
std::vector<ResourceInfo> ResourcesOf(const boost::json::object& crd);

}  // namespace gpuop::sim
