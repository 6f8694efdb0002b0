#pragma once

#include <string>

#include "sim/resource.h"
#include "sim/types/openapi/schema_writer.h"

namespace gpuop::sim::types {

/// The name that OpenAPI gives the resource's type: from the table, or "com.nvidia.v1.ClusterPolicy" for a custom one.
std::string TypeNameOf(const ResourceInfo& info);

/// Appends the paths of a resource and of its subresources to the members of `paths` (which begins with "{").
void AppendPaths(std::string& paths, const ResourceInfo& info, OpenApiVersion version, SchemaWriter& schemas);

}  // namespace gpuop::sim::types
