#pragma once
// The forms of values that are not plain JSON schema: quantities, times, alternatives.

#include <boost/json/value.hpp>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "data/schema.h"

namespace gpuop::sim::types {

/// What a built-in type's `format` says (kube/builtin/table.h).
enum class Form : std::uint8_t {
  kNone,
  kQuantity,
  kIntOrString,
  kTime,
  kMicroTime,
  kRaw,
  kJson,
  kSchemaOrBool,
  kSchemaOrArray,
  kSchemaOrStrings,
};
Form FormOf(const data::Schema& schema);

/// The zero value as JSON: "", 0, false, {} for a struct; null for lists, maps, times and raw objects.
boost::json::value ZeroOf(const data::Schema& schema);
/// Whether encoding with omitempty (or omitzero for times) leaves the value out. A struct is never zero.
bool IsZero(const data::Schema& schema, const boost::json::value& value);

/// The canonical text of a quantity written as a string or a number, or the server's words about it.
std::expected<std::string, std::string> CanonicalQuantity(const boost::json::value& value);

/// Where `text` stops being RFC 4648 base64; nullopt when it is well-formed.
std::optional<std::size_t> BadBase64(std::string_view text);

/// Go's words for a text that is no RFC 3339 time (`micro`: with six digits of fraction).
std::string TimeError(std::string_view text, bool micro);

}  // namespace gpuop::sim::types
