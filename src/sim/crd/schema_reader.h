#pragma once

#include <boost/json/object.hpp>

#include "data/schema.h"

namespace gpuop::sim {

/// A CustomResourceDefinition's JSONSchemaProps as a Schema. Lenient: what has no meaning is passed over (structural.h
/// refuses it beforehand). A name in `required` that is not declared becomes a property of any type.
data::SchemaPtr ReadSchema(const boost::json::object& props);

}  // namespace gpuop::sim
