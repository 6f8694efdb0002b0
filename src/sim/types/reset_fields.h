#pragma once

#include <string_view>

#include "data/schema.h"
#include "sim/resource.h"
#include "sim/types/apply/field_set.h"

namespace gpuop::sim::types {

/// What an endpoint does not write whatever is sent to it, and so nobody comes to own there; null when it writes
/// everything. Lives for ever.
const FieldSet* ResetFields(const ResourceInfo& info, std::string_view subresource);

/// A custom resource's schema with apiVersion, kind and metadata as every object has them.
data::SchemaPtr WithObjectMeta(const data::Schema& schema);

}  // namespace gpuop::sim::types
