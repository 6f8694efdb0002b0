#pragma once
// Pure functions over values and their shapes, on which server-side apply stands: which fields a value has, how two
// values differ, a configuration merged into an object, and fields taken out of it.

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "sim/types/apply/field_set.h"
#include "sim/types/apply/shape.h"

namespace gpuop::sim::types {

/// What does not fit the schema, each with its path in the server's words: `.spec.foo: field not declared in schema`.
/// Two elements of one list under one name are wrong unless `allow_duplicates`.
std::vector<std::string> CheckTyped(Shape shape, const boost::json::value& value, bool allow_duplicates);

/// The fields that `value` sets, as its applier owns them.
FieldSet FieldsOf(Shape shape, const boost::json::value& value);

/// The paths that came, went and changed between two values.
struct Difference {
  FieldSet added, removed, modified;
  bool Empty() const { return added.Empty() && removed.Empty() && modified.Empty(); }
};
Difference Compare(Shape shape, const boost::json::value& before, const boost::json::value& after);

/// `config` merged into `live`: maps and lists by their parts, everything else replaced. Lists keep the order of `live`
/// where it does not contradict that of `config`.
boost::json::value MergeTyped(Shape shape, const boost::json::value& live, const boost::json::value& config);

/// `value` without the fields in `fields` and what is below them. What is a single piece vanishes with the first field
/// inside it.
boost::json::value RemoveFields(Shape shape, const boost::json::value& value, const FieldSet& fields);

/// `fields`, and every named struct field on the way to them.
FieldSet WithNamedFields(Shape shape, const FieldSet& fields);

}  // namespace gpuop::sim::types
