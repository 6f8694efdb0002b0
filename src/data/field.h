#pragma once
// How a type describes itself once: `template <class V> void Visit(V& v)` names each field and its rules, and reading
// (data/reader.h), writing (data/writer.h) and the schema (data/schema_of.h) follow.
//
//   struct Toleration {
//     std::string key, op = "Equal", value;
//     std::optional<std::int64_t> seconds;
//     template <class V> void Visit(V& v) {
//       v("key", key, {.description = "the taint's key"});
//       v("operator", op, {.defaulted = true, .enumeration = {"Equal", "Exists"}});
//       v("value", value);
//       v("tolerationSeconds", seconds, {.minimum = 0});
//     }
//   };
//
// Fields may be std::string, bool, integers, double, Duration (as Go writes it), Quantity, IntOrString, Json
// (anything), enumerations with names, other such types, and std::optional, std::vector and std::map<std::string, …> of
// all these.

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "data/json.h"
#include "data/quantity.h"
#include "data/schema.h"

namespace gpuop::data {

/// A CEL rule and what is said when it does not hold.
inline CelRule Rule(std::string rule, std::string message) {
  CelRule out;
  out.rule = std::move(rule);
  out.message = std::move(message);
  return out;
}

/// What a field promises beyond its type. The reader checks required, enumeration, bounds and pattern; all of it goes
/// into the schema.
struct FieldRules {
  std::string description = {};
  bool required = false;
  /// The value that the type's own initialiser gives is the schema's default.
  bool defaulted = false;
  /// Written even when empty, which otherwise only required fields are.
  bool keep_empty = false;
  bool nullable = false;
  /// Json fields: whatever stands in it is kept.
  bool preserve_unknown = false;
  std::vector<std::string> enumeration = {};
  std::string pattern = {}, format = {};
  std::optional<double> minimum = {}, maximum = {};
  std::optional<std::int64_t> min_length = {}, max_length = {}, min_items = {}, max_items = {};
  ListType list_type = ListType::kAtomic;
  std::vector<std::string> list_keys = {};
  std::vector<CelRule> rules = {};
};

/// A number or a text, such as a port or "25%".
struct IntOrString {
  std::variant<std::int64_t, std::string> value = std::int64_t{0};
  bool operator==(const IntOrString&) const = default;
};

/// One name of an enumeration. An enumeration E is readable when the function
/// `std::span<const EnumName<E>> NamesOf(E)` is found beside it.
template <class E>
struct EnumName {
  std::string_view name;
  E value;
};

template <class E>
concept NamedEnum = requires(E e) {
  { NamesOf(e) } -> std::convertible_to<std::span<const EnumName<E>>>;
};

/// A type with a Visit of its own. If it has a `static constexpr bool kAtomicMap`, server-side apply treats the whole
/// as one value (x-kubernetes-map-type: atomic).
template <class T, class V>
concept Visited = requires(T& t, V& v) { t.Visit(v); };

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class T>
inline constexpr bool kIsMap<std::map<std::string, T>> = true;

}  // namespace gpuop::data
