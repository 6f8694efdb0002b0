// Go's decoder tells of ill-typed fields by the struct and the Go type that it wanted; clients see these words.

#include <boost/json.hpp>
#include <limits>

#include "data/schema_check.h"

namespace gpuop::data {
namespace {

/// "PodSpec" of "io.k8s.api.core.v1.PodSpec".
std::string_view LastPart(std::string_view name) { return name.substr(name.rfind('.') + 1); }

/// "v1.PodSpec" of "io.k8s.api.core.v1.PodSpec".
std::string_view LastTwoParts(std::string_view name) {
  const std::size_t last = name.rfind('.');
  if (last == std::string_view::npos || last == 0) return name;
  return name.substr(name.rfind('.', last - 1) + 1);
}

std::string GoType(const Schema* schema) {
  if (schema == nullptr) return "interface {}";
  switch (schema->type) {
    case Type::kString: return "string";
    case Type::kBoolean: return "bool";
    case Type::kInteger: return schema->format == "int64" ? "int64" : "int32";
    case Type::kNumber: return "float64";
    case Type::kArray: return "[]" + GoType(schema->items.get());
    default: break;
  }
  if (!schema->name.empty()) return std::string(LastTwoParts(schema->name));
  if (schema->values) return "map[string]" + GoType(schema->values.get());
  return schema->int_or_string ? "int32" : "interface {}";
}

class Decoder {
 public:
  std::optional<std::string> Value(const Json& value, const Schema* schema) {
    if (schema == nullptr || value.is_null()) return std::nullopt;
    if (schema->int_or_string) return value.is_string() ? std::nullopt : Integer(value, schema);
    switch (schema->type) {
      case Type::kString: return value.is_string() ? std::nullopt : Refuse(value, schema);
      case Type::kBoolean: return value.is_bool() ? std::nullopt : Refuse(value, schema);
      case Type::kInteger: return Integer(value, schema);
      case Type::kNumber: return value.is_number() ? std::nullopt : Refuse(value, schema);
      case Type::kArray: return Array(value, schema);
      case Type::kObject: return Object(value, schema);
      case Type::kAny: break;
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> Array(const Json& value, const Schema* schema) {
    const JsonArray* array = value.if_array();
    if (array == nullptr) return schema->format == "byte" && value.is_string() ? std::nullopt : Refuse(value, schema);
    for (const Json& item : *array)
      if (auto error = Value(item, schema->items.get())) return error;
    return std::nullopt;
  }

  std::optional<std::string> Object(const Json& value, const Schema* schema) {
    const JsonObject* object = value.if_object();
    if (object == nullptr) {
      const bool scalar = schema->properties.empty() && !schema->values;  // Time, Quantity: they decode themselves
      return scalar ? std::nullopt : Refuse(value, schema);
    }
    const std::string_view outer = struct_;
    for (const auto& member : *object) {
      const Property* property = schema->Find(member.key());
      const std::size_t length = path_.size();
      if (property != nullptr) {
        if (!schema->name.empty()) struct_ = LastPart(schema->name);
        path_.append(path_.empty() ? "" : ".").append(member.key());
      }
      const Schema* inner = property != nullptr ? property->schema.get() : schema->values.get();
      if (auto error = Value(member.value(), inner)) return error;
      path_.resize(length);
      struct_ = outer;
    }
    return std::nullopt;
  }

  std::optional<std::string> Integer(const Json& value, const Schema* schema) {
    if (!value.is_number()) return Refuse(value, schema);
    const bool wide = schema->format == "int64";
    using Narrow = std::numeric_limits<std::int32_t>;
    if (value.is_int64() && (wide || (value.get_int64() >= Narrow::min() && value.get_int64() <= Narrow::max())))
      return std::nullopt;
    return Message("number " + ToJson(value), GoType(schema));
  }

  std::optional<std::string> Refuse(const Json& value, const Schema* schema) const {
    switch (value.kind()) {
      case boost::json::kind::string: return Message("string", GoType(schema));
      case boost::json::kind::bool_: return Message("bool", GoType(schema));
      case boost::json::kind::array: return Message("array", GoType(schema));
      case boost::json::kind::object: return Message("object", GoType(schema));
      default: return Message("number", GoType(schema));
    }
  }

  std::string Message(const std::string& got, const std::string& type) const {
    std::string out = "json: cannot unmarshal " + got + " into Go ";
    if (path_.empty()) return out + "value of type " + type;
    return out.append("struct field ").append(struct_).append(".").append(path_).append(" of type ").append(type);
  }

  std::string path_;
  std::string_view struct_;
};

}  // namespace

std::optional<std::string> DecodeError(const Json& value, const Schema& schema) {
  return Decoder().Value(value, &schema);
}

}  // namespace gpuop::data
