#pragma once
// How server-side apply sees a value: a scalar, a list or a map, as one piece or by its parts. Where no schema says
// anything, the value itself decides.

#include <boost/json/value.hpp>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "data/schema.h"

namespace gpuop::sim::types {

/// What is known about a value; a small view into a schema, which must outlive it.
class Shape {
 public:
  enum class Kind : std::uint8_t { kScalar, kList, kMap };

  /// A null schema stands for values nobody describes: maps by their parts, lists as one piece.
  explicit Shape(const data::Schema* schema) : schema_(schema) {}

  /// The kind under which `value` (null: absent) is treated; a value that the schema does not allow has the schema's.
  Kind KindOf(const boost::json::value* value) const;
  /// Lists and maps that are one piece.
  bool Atomic(Kind kind) const;
  /// Whether the map is a struct with this field.
  bool HasField(std::string_view name) const;
  /// A map's member; `known` is false where the type has no such field.
  struct Member;
  Member Field(std::string_view name) const;
  /// A list's elements.
  Shape Items() const;
  /// `k:{…}` or `v:…`: how the element of a list by parts is named in a path. The error is the server's message.
  std::expected<std::string, std::string> ElementName(const boost::json::value& element) const;
  const data::Schema* schema() const { return schema_; }

 private:
  static Shape Untyped();
  bool untyped_atomic() const;

  const data::Schema* schema_;
};

struct Shape::Member {
  Shape shape;
  bool known;
};

}  // namespace gpuop::sim::types
