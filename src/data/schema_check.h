#pragma once
// What an API server does to an object with its schema before anything else: strict decoding, pruning, defaulting.
// Validation of values is in data/schema_validate.h.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/json.h"
#include "data/schema.h"

namespace gpuop::data {

/// What strict field validation complains about, in document order and the API server's words:
/// `unknown field "spec.foo"`, `duplicate field "spec.bar"`. `duplicates` are the paths that
/// ParseJsonFindingDuplicates named. `root_is_object` passes over apiVersion, kind and metadata at the top when the
/// schema does not describe them, as custom resources have it.
std::vector<std::string> StrictErrors(const Json& value, const Schema& schema, std::span<const std::string> duplicates,
                                      bool root_is_object = true);

/// Removes fields that a structural schema does not name; answers their paths in document order. Objects that preserve
/// unknown fields keep theirs, embedded resources (and the root, with `root_is_object`) keep apiVersion, kind and
/// metadata.
std::vector<std::string> Prune(Json& value, const Schema& schema, bool root_is_object = true);

/// Fills in defaults, top down, so that a defaulted object gets its own fields' defaults too. A null where the schema
/// allows none counts as absent: it gets the default, or goes away.
void ApplyDefaults(Json& value, const Schema& schema);

/// Why a built-in type's decoder refuses `value`, in the API server's words ("json: cannot unmarshal string into Go
/// struct field DeploymentSpec.spec.replicas of type int32"); nullopt when every value has its field's type.
/// Values of unknown fields are not looked at.
std::optional<std::string> DecodeError(const Json& value, const Schema& schema);

}  // namespace gpuop::data
