#pragma once
// Makes an object what the API server makes of it by decoding it into its Go type and encoding it again: fields that
// the type does not have are dropped, values of the wrong kind are refused in the server's words, numbers, times and
// quantities take their canonical form, and what is empty is left out or written as the type says.

#include <boost/json/object.hpp>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "data/schema.h"

namespace gpuop::sim::types {

/// A value of the wrong kind, in the words that the server puts after `… cannot be handled as a …: `.
struct TypeError {
  std::string text;
};

/// Conforms `object` to `schema`, which comes from the table of built-in types. `problems` gets
/// `unknown field "spec.x"` for each dropped field, in the object's order.
std::expected<void, TypeError> Conform(const data::Schema& schema, boost::json::object& object,
                                       std::vector<std::string>& problems);

}  // namespace gpuop::sim::types
