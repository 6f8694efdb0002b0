#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace gpuop::sim::types {

/// A Swagger 2.0 document as the protobuf message openapi.v2.Document (gnostic's OpenAPIv2.proto), which is the only
/// form that kubectl before 1.29 reads. Knows the members that SwaggerDocument writes.
std::string SwaggerProto(const boost::json::object& document);

}  // namespace gpuop::sim::types
