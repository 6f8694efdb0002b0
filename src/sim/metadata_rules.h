#pragma once
// What every object's metadata must look like, whatever its kind.

#include <boost/json/object.hpp>
#include <string_view>
#include <vector>

#include "sim/resource.h"
#include "sim/status.h"

namespace gpuop::sim {

/// What is wrong with an object's metadata, in the order in which the API server finds it.
std::vector<FieldError> CheckMetadata(const ResourceInfo& info, const boost::json::object& metadata);

/// What must not have changed from `old` to `now`.
std::vector<FieldError> CheckMetadataUpdate(const boost::json::object& now, const boost::json::object& old);

/// What is wrong with a name under a rule; empty when nothing is. `prefix`: a generateName, whose end is open.
std::vector<std::string> CheckName(NameRule rule, std::string_view name, bool prefix = false);

/// What is wrong with a qualified name (a label's or annotation's key); empty when nothing is.
std::vector<std::string> CheckQualifiedName(std::string_view name);

}  // namespace gpuop::sim
