#include "sim/types/conform.h"

#include <boost/json.hpp>
#include <cmath>
#include <limits>

#include "base/clock.h"
#include "base/text.h"
#include "data/json.h"
#include "sim/types/go_names.h"
#include "sim/types/scalars.h"

namespace gpuop::sim::types {
namespace json = boost::json;
using data::Property;
using data::Schema;
using data::Type;

namespace {

using Done = std::expected<void, TypeError>;

/// Where a value stands: for messages, built on the stack.
struct Place {
  const Place* parent = nullptr;
  std::string_view name;
  bool index = false;  // list elements are numbered in some messages and left out in others
  std::size_t number = 0;
};

std::string Numbered(const Place& at) {
  std::string out = at.parent == nullptr ? "" : Numbered(*at.parent);
  if (at.index) return out + "[" + std::to_string(at.number) + "]";
  if (!out.empty() && !at.name.empty()) out += '.';
  return out.append(at.name);
}

std::string Dotted(const Place& at) {
  std::string out = at.parent == nullptr ? "" : Dotted(*at.parent);
  if (at.index || at.name.empty()) return out;
  if (!out.empty()) out += '.';
  return out.append(at.name);
}

/// As encoding/json names a JSON value in errors.
std::string GoValue(const json::value& value, bool with_number) {
  switch (value.kind()) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "bool";
    case json::kind::string: return "string";
    case json::kind::array: return "array";
    case json::kind::object: return "object";
    default: break;
  }
  if (!with_number) return "number";
  if (const double* d = value.if_double(); d != nullptr && std::trunc(*d) == *d && std::abs(*d) < 1e15)
    return "number " + data::FormatDouble(*d) + ".0";
  return "number " + data::ToJson(value);
}

class Conformer {
 public:
  explicit Conformer(std::vector<std::string>& problems) : problems_(problems) {}

  Done Object(const Schema& schema, json::object& object, const Place& at) {
    json::object out(object.storage());
    for (auto& [key, value] : object) {
      const std::string_view name(key.data(), key.size());
      const Place here{&at, name};
      const Property* field = schema.Find(name);
      if (field == nullptr) {
        problems_.push_back("unknown field \"" + Numbered(here) + "\"");
        continue;
      }
      const Owner owner{&schema, &here};
      TRY(Value(*field->schema, value, owner, here));
      if (Kept(*field, value)) out.emplace(key, std::move(value));
    }
    Fill(schema, out);
    object = std::move(out);
    return {};
  }

 private:
  /// The innermost struct and its field, which type errors name.
  struct Owner {
    const Schema* type;
    const Place* field;
  };

  static Done Fail(std::string text) { return std::unexpected(TypeError{std::move(text)}); }

  static Done Mismatch(const json::value& value, const Owner& owner, const Place& at, std::string_view go_type,
                       bool with_number = false) {
    return Fail("json: cannot unmarshal " + GoValue(value, with_number) + " into Go struct field " +
                GoShortName(*owner.type) + "." + Dotted(at) + " of type " + std::string(go_type));
  }

  Done Value(const Schema& schema, json::value& value, const Owner& owner, const Place& at) {
    if (!schema.format.empty() && schema.format != "byte") {
      if (const Form form = FormOf(schema); form != Form::kNone) return Special(form, schema, value, owner, at);
    }
    if (value.is_null()) return {};
    switch (schema.type) {
      case Type::kString: return String(schema, value, owner, at);
      case Type::kBoolean: return value.is_bool() ? Done{} : Mismatch(value, owner, at, "bool");
      case Type::kInteger: return Integer(schema, value, owner, at);
      case Type::kNumber: return value.is_number() ? Done{} : Mismatch(value, owner, at, "float64");
      case Type::kArray: return Array(schema, value, owner, at);
      case Type::kObject: return ObjectOrMap(schema, value, owner, at);
      case Type::kAny: return {};
    }
    return {};
  }

  static Done String(const Schema& schema, json::value& value, const Owner& owner, const Place& at) {
    if (!value.is_string()) return Mismatch(value, owner, at, GoTypeName(schema));
    if (schema.format != "byte") return {};
    if (const auto bad = BadBase64(data::AsView(value.get_string())))
      return Fail("illegal base64 data at input byte " + std::to_string(*bad));
    return {};
  }

  static Done Integer(const Schema& schema, json::value& value, const Owner& owner, const Place& at) {
    const bool small = schema.format == "int32";
    if (!value.is_number()) return Mismatch(value, owner, at, GoTypeName(schema));
    const std::int64_t* n = value.if_int64();
    if (n == nullptr ||
        (small && (*n > std::numeric_limits<std::int32_t>::max() || *n < std::numeric_limits<std::int32_t>::min())))
      return Mismatch(value, owner, at, GoTypeName(schema), true);
    return {};
  }

  Done Array(const Schema& schema, json::value& value, const Owner& owner, const Place& at) {
    if (!value.is_array()) return Mismatch(value, owner, at, GoTypeName(schema));
    std::size_t i = 0;
    for (json::value& element : value.get_array()) {
      const Place here{&at, {}, true, i++};
      TRY(Element(*schema.items, element, owner, here));
    }
    return {};
  }

  /// null in a list or a map becomes the element's zero.
  Done Element(const Schema& schema, json::value& element, const Owner& owner, const Place& at) {
    if (element.is_null()) element = ZeroOf(schema);
    return Value(schema, element, owner, at);
  }

  Done ObjectOrMap(const Schema& schema, json::value& value, const Owner& owner, const Place& at) {
    if (!value.is_object()) return Mismatch(value, owner, at, GoTypeName(schema));
    if (!schema.name.empty()) return Object(schema, value.get_object(), at);
    if (schema.values == nullptr) return {};
    for (auto& [key, element] : value.get_object()) {
      const Place here{&at, {key.data(), key.size()}};
      if (element.is_object() || element.is_array()) {
        TRY(Element(*schema.values, element, owner, here));
      } else {
        TRY(Element(*schema.values, element, owner, at));  // errors name the map
      }
    }
    return {};
  }

  Done Special(Form form, const Schema& schema, json::value& value, const Owner& owner, const Place& at) {
    switch (form) {
      case Form::kTime:
      case Form::kMicroTime: return Time(form, value, owner, at);
      case Form::kQuantity: {
        if (value.is_null()) return {};
        auto canonical = CanonicalQuantity(value);
        if (!canonical) return Fail(std::move(canonical.error()));
        value = *std::move(canonical);
        return {};
      }
      case Form::kIntOrString:
        if (value.is_null() || value.is_string()) return {};
        if (!value.is_number()) return Mismatch(value, owner, at, "int32");
        if (value.is_int64() && std::abs(value.get_int64()) <= std::numeric_limits<std::int32_t>::max()) return {};
        return Mismatch(value, owner, at, "int32", true);
      case Form::kSchemaOrBool:
      case Form::kSchemaOrArray:
      case Form::kSchemaOrStrings:
        if (value.is_object()) return Object(*schema.items, value.get_object(), at);
        return {};
      default: return {};
    }
  }

  static Done Time(Form form, json::value& value, const Owner& owner, const Place& at) {
    if (value.is_null()) return {};
    if (!value.is_string()) return Mismatch(value, owner, at, "string");
    const std::string text(data::AsView(value.get_string()));
    if (text.empty() && form == Form::kTime) {
      value = nullptr;
      return {};
    }
    const bool micro = form == Form::kMicroTime;
    const auto time = ParseTime(text);
    if (!time || (micro && !text.contains('.'))) return Fail(TimeError(text, micro));
    value = micro ? FormatMicroTime(*time) : FormatTime(*time);
    return {};
  }

  /// Whether encoding would write the field.
  static bool Kept(const Property& field, json::value& value) {
    if (!IsZero(*field.schema, value)) return true;
    if (value.is_null()) return false;  // what must be written is filled in
    // Where an empty list says something else than none: forget them; no policy at all, which is refused.
    if (field.pointer || field.name == "managedFields" || field.name == "policies") return true;
    if (!field.always) return false;
    const bool empty_container = value.is_array() || (value.is_object() && field.schema->name.empty());
    return !empty_container || FormOf(*field.schema) != Form::kNone;
  }

  /// Writes the zeros of fields that are written always.
  void Fill(const Schema& schema, json::object& object) {
    for (const Property& field : schema.properties) {
      if (!field.always || object.contains(field.name)) continue;
      json::value zero = field.pointer ? json::value(nullptr) : ZeroOf(*field.schema);
      if (zero.is_object()) Fill(*field.schema, zero.get_object());
      object.emplace(field.name, std::move(zero));
    }
  }

  std::vector<std::string>& problems_;
};

}  // namespace

Done Conform(const Schema& schema, json::object& object, std::vector<std::string>& problems) {
  const Place root;
  return Conformer(problems).Object(schema, object, root);
}

}  // namespace gpuop::sim::types
