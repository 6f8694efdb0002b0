#pragma once
// One description of a type's shape, wherever it came from: the table of built-in Kubernetes types, a CRD's
// structural schema, or our own types' visitors. Strict decoding, pruning, defaulting, validation, strategic
// merge, server-side apply and OpenAPI all read this.

#include <boost/json/value.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuop::data {

struct Schema;
/// Shared, because built-in types refer to each other (and JSONSchemaProps to itself). Immutable once built.
using SchemaPtr = std::shared_ptr<const Schema>;

enum class Type : std::uint8_t { kAny, kString, kInteger, kNumber, kBoolean, kObject, kArray };
/// How server-side apply merges a list (x-kubernetes-list-type).
enum class ListType : std::uint8_t { kAtomic, kSet, kMap };

/// One field of an object.
struct Property {
  std::string name;
  SchemaPtr schema;
  bool required = false;
  /// The field's number in Kubernetes' protobuf form; 0 when it has none. A field that JSON shows in its parent and
  /// protobuf keeps in a message of its own is (message's number) * 256 + number, and so on for deeper ones.
  int proto = 0;
  /// Built-in types: absent and zero differ (a Go pointer), so a zero scalar is written.
  bool pointer = false;
  /// Built-in types: written even when zero, empty or absent (no omitempty).
  bool always = false;
};

/// A rule in CEL (x-kubernetes-validations).
struct CelRule {
  std::string rule, message, message_expression, reason, field_path;
  bool optional_old_self = false;
};

/// The value constraints of JSON schema; absent ones do not constrain. Kept apart because few schemas have any.
struct Constraints {
  std::vector<boost::json::value> enumeration;
  std::string pattern;
  std::optional<double> minimum, maximum, multiple_of;
  bool exclusive_minimum = false, exclusive_maximum = false, unique_items = false;
  std::optional<std::int64_t> min_length, max_length, min_items, max_items, min_properties, max_properties;
  std::vector<SchemaPtr> all_of, any_of, one_of;
  SchemaPtr not_;
  std::vector<CelRule> rules;
};

struct Schema {
  Type type = Type::kAny;
  bool nullable = false;
  bool int_or_string = false;
  bool preserve_unknown = false;
  bool embedded_resource = false;
  /// Server-side apply treats the whole map as one value (x-kubernetes-map-type: atomic).
  bool atomic_map = false;
  ListType list_type = ListType::kAtomic;
  std::vector<std::string> list_keys;
  /// Strategic merge patch: the list's merge key ("" when it has none) and its strategies.
  std::string patch_merge_key;
  bool patch_merge = false, patch_replace = false, patch_retain_keys = false;
  std::string format;
  std::string title, description;
  /// "io.k8s.api.core.v1.PodSpec" for a named type, else empty.
  std::string name;
  /// Sorted by name.
  std::vector<Property> properties;
  /// What a map's values look like (additionalProperties); null when it is not a map.
  SchemaPtr values;
  /// What an array's items look like.
  SchemaPtr items;
  std::optional<boost::json::value> default_value;
  std::shared_ptr<const Constraints> constraints;

  /// The field's description, or null. O(log n).
  const Property* Find(std::string_view field) const;
};

}  // namespace gpuop::data
