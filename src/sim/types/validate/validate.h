#pragma once

#include <boost/json/object.hpp>
#include <string_view>
#include <vector>

#include "sim/status.h"

namespace gpuop::sim::types {

struct ValidatedKind {
  std::string_view group, kind;
  /// Empty for the resource itself.
  std::string_view subresource;
};

/// What is wrong with an object of a built-in kind besides its metadata, in the order and the words of the API server;
/// `old` is null for a create. The object has been conformed and defaulted. Kinds without rules of their own, and the
/// status of any kind, are not looked at.
std::vector<FieldError> ValidateObject(const ValidatedKind& kind, const boost::json::object& object,
                                       const boost::json::object* old);

}  // namespace gpuop::sim::types
