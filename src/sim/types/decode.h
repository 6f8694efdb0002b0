#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sim/status.h"

namespace gpuop::sim::types {

/// The type that a body is expected to be of.
struct ExpectedType {
  std::string_view group, version, kind;
};

/// Reads a request's body: JSON, YAML or Kubernetes' protobuf, by its content type (none: JSON). apiVersion and kind
/// are set from `expected` when the body has neither. `problems` gets members that were written twice. Bodies over the
/// limits of the readers are refused.
Answer<boost::json::object> DecodeBody(const ExpectedType& expected, std::string_view content_type,
                                       std::string_view body, std::vector<std::string>& problems);

}  // namespace gpuop::sim::types
