#pragma once
// The three patches of the Kubernetes API, as pure functions on documents.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "data/json.h"
#include "data/schema.h"

namespace gpuop::data {

/// What one JSON patch may cost; the API server's own limits.
struct PatchLimits {
  std::size_t max_operations = 10000;
  /// Bytes of JSON that all `copy` operations together may add.
  std::size_t max_copied_bytes = 3U << 20U;
};

/// RFC 6902 as the API server applies it, which is more lenient in places: `replace` of an absent member adds it,
/// negative indexes count from the end, `test` of an absent member passes for null. All or nothing.
/// Errors: kInvalid when `patch` is no list of operations (400 there), kTooLarge over `limits` (413),
/// kUnsupported when an operation does not apply (422); texts are the API server's.
Result<Json> ApplyJsonPatch(Json doc, const Json& patch, const PatchLimits& limits = {});

/// A member's name as it stands in a path of such a patch (RFC 6901 §4).
std::string PointerToken(std::string_view name);

/// RFC 7386: null removes, objects merge, everything else replaces.
Json ApplyMergePatch(Json doc, const Json& patch);

/// The smallest merge patch that turns `before` into `after`; an empty object when they are equal.
/// Nulls inside `after` cannot be expressed by such a patch and are lost.
Json MakeMergePatch(const Json& before, const Json& after);

/// Kubernetes' strategic merge patch: lists whose schema says so merge by their key (or as sets), with the directives
/// $patch (replace, delete, merge), $deleteFromPrimitiveList/<field>, $setElementOrder/<field> and $retainKeys.
/// `schema` describes both documents; where it is null, or silent, lists replace each other.
/// Errors: kInvalid for a malformed directive (400 there), kUnsupported for lists of lists (422), kInternal for the
/// rest, which the API server answers with 500: an item without its merge key, an unknown directive, mixed types.
Result<Json> ApplyStrategicPatch(Json doc, Json patch, const Schema* schema);

}  // namespace gpuop::data
