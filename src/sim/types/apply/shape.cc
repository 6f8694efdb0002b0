#include "sim/types/apply/shape.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "data/json.h"
#include "sim/types/scalars.h"

namespace gpuop::sim::types {
namespace json = boost::json;
using data::ListType;
using data::Schema;
using data::Type;

namespace {

/// Anything, always as one piece.
const Schema& UntypedAtomic() {
  static const Schema& schema = *new Schema;
  return schema;
}

bool OneOfEverything(const Schema& schema) { return schema.type == Type::kAny && !schema.int_or_string; }

/// A type whose parts nobody describes, but which may have parts.
bool Deduced(const Schema& schema) {
  return OneOfEverything(schema) && schema.preserve_unknown && schema.format.empty();
}

Shape::Kind KindOfValue(const json::value& value) {
  return value.is_object() ? Shape::Kind::kMap : value.is_array() ? Shape::Kind::kList : Shape::Kind::kScalar;
}

}  // namespace

Shape Shape::Untyped() { return Shape(&UntypedAtomic()); }

bool Shape::untyped_atomic() const { return schema_ != nullptr && OneOfEverything(*schema_) && !Deduced(*schema_); }

Shape::Kind Shape::KindOf(const json::value* value) const {
  if (schema_ == nullptr || OneOfEverything(*schema_))
    return value == nullptr || value->is_null() ? Kind::kMap : KindOfValue(*value);
  if (schema_->type == Type::kObject) return Kind::kMap;
  return schema_->type == Type::kArray ? Kind::kList : Kind::kScalar;
}

bool Shape::Atomic(Kind kind) const {
  if (kind == Kind::kScalar || untyped_atomic()) return true;
  if (schema_ == nullptr || Deduced(*schema_)) return kind == Kind::kList;
  return kind == Kind::kMap ? schema_->atomic_map || schema_->format == "raw" : schema_->list_type == ListType::kAtomic;
}

bool Shape::HasField(std::string_view name) const { return schema_ != nullptr && schema_->Find(name) != nullptr; }

Shape::Member Shape::Field(std::string_view name) const {
  if (schema_ == nullptr || Deduced(*schema_)) return {Shape(nullptr), true};
  if (untyped_atomic()) return {Untyped(), true};
  if (const data::Property* field = schema_->Find(name)) return {Shape(field->schema.get()), true};
  if (schema_->values != nullptr) return {Shape(schema_->values.get()), true};
  return {Shape(nullptr), schema_->preserve_unknown || schema_->properties.empty()};
}

Shape Shape::Items() const {
  if (schema_ == nullptr || schema_->items == nullptr || schema_->type != Type::kArray) return Untyped();
  return Shape(schema_->items.get());
}

std::expected<std::string, std::string> Shape::ElementName(const json::value& element) const {
  if (schema_->list_type == ListType::kSet) {
    if (element.is_object()) return std::unexpected("associative list without keys has an element that's a map type");
    if (element.is_array()) return std::unexpected("not supported: associative list with lists as elements");
    if (element.is_null())
      return std::unexpected("associative list without keys has an element that's an explicit null");
    return "v:" + data::ToJson(element);
  }
  if (element.is_null()) return std::unexpected("associative list with keys may not have a null element");
  if (!element.is_object()) return std::unexpected("associative list with keys may not have non-map elements");
  std::vector<std::string> keys = schema_->list_keys;
  std::ranges::sort(keys);
  json::object name;
  for (const std::string& key : keys) {
    if (const json::value* value = element.get_object().if_contains(key)) {
      name[key] = *value;
    } else if (const data::Property* field = schema_->items->Find(key);
               field != nullptr && field->schema->default_value) {
      name[key] = *field->schema->default_value;
    }
  }
  if (name.empty()) {
    std::string list;
    for (const std::string& key : schema_->list_keys) list.append(list.empty() ? "" : " ").append(Quote(key));
    return std::unexpected("associative list with keys has an element that omits all key fields [" + list +
                           "] (and doesn't have default values for any key fields)");
  }
  return "k:" + data::ToJson(name);
}

}  // namespace gpuop::sim::types
