#pragma once
// Field ownership and server-side apply: https://kubernetes.io/docs/reference/using-api/server-side-apply/

#include <boost/json/object.hpp>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "data/schema.h"
#include "sim/types/apply/field_set.h"
#include "sim/types/apply/managers.h"

namespace gpuop::sim::types {

/// Who writes, to what, when. References live as long as the call.
struct Writing {
  /// The shape of the whole object, metadata included; null when nobody knows it.
  const data::Schema* schema = nullptr;
  std::string_view manager;
  std::string_view api_version;
  std::string_view subresource;
  /// RFC 3339; empty: the entry keeps the time that it has.
  std::string_view time;
  /// Fields that this endpoint does not write whatever is sent (status on the main resource).
  const FieldSet* reset = nullptr;
  /// The only field that this endpoint writes (the replicas, for scale); its owners change only if it has any.
  const FieldPath* only = nullptr;
};

/// A field that somebody else owns with another value.
struct ApplyConflict {
  ManagerId manager;
  FieldPath path;
};

/// Why an apply was refused.
struct ApplyFailure {
  /// Empty when the configuration itself is wrong.
  std::vector<ApplyConflict> conflicts;
  /// The server's words.
  std::string message;
};

/// Sets managedFields of `now` for a create or update that made `now` out of `live` (for a create: the empty object of
/// the type). Takes the list from `now` when the client sent one (an empty one resets it), else from `live`; always
/// from `live` for a subresource.
void TrackUpdate(const Writing& writing, const boost::json::object& live, boost::json::object& now);

/// `live` with `config` applied, its managedFields included. For a create, `live` is the empty object of the type.
/// `*changed` tells whether anything but managedFields differs.
std::expected<boost::json::object, ApplyFailure> ApplyConfig(const Writing& writing, const boost::json::object& empty,
                                                             const boost::json::object& live,
                                                             const boost::json::object& config, bool force);

}  // namespace gpuop::sim::types
