#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sim/status.h"

namespace gpuop::sim {

/// What keeps an openAPIV3Schema (JSONSchemaProps) from being a structural schema, in the API server's words and
/// order. `path` is where the schema stands: "spec.validation.openAPIV3Schema".
std::vector<FieldError> CheckStructural(const boost::json::object& schema, std::string_view path);

/// What is wrong with it besides: unsupported fields and types, list and map types. CEL rules are not compiled here.
std::vector<FieldError> CheckSchemaFields(const boost::json::object& schema, std::string_view path);

// Short forms for the errors of field validation; `value` is put into the text as it is.
FieldError InvalidField(std::string path, std::string value, std::string detail);
FieldError RequiredField(std::string path, std::string detail = {});
FieldError ForbiddenField(std::string path, std::string detail);
FieldError UnsupportedValue(std::string path, std::string_view value, const std::vector<std::string>& supported);

}  // namespace gpuop::sim
