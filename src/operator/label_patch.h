#pragma once
// Changes of labels and annotations as the API wants them.

#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <string>

namespace gpuop::op {

/// The members of a merge patch that makes these changes; those without a value are removed.
boost::json::object ValuesOf(const std::map<std::string, std::optional<std::string>>& changes);

}  // namespace gpuop::op
