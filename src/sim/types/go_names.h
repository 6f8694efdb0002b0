#pragma once
// What Go calls the types of the table, as it stands in error messages.

#include <string>

#include "data/schema.h"

namespace gpuop::sim::types {

/// "PodSpec".
std::string GoShortName(const data::Schema& schema);
/// "v1.PodSpec", "[]v1.Container", "map[string]string", "int32".
std::string GoTypeName(const data::Schema& schema);

}  // namespace gpuop::sim::types
