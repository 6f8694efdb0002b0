#include "sim/crd/structural.h"

#include <algorithm>

#include "base/text.h"
#include "data/json.h"
#include "data/path.h"
#include "data/regex.h"
#include "sim/peek.h"

namespace gpuop::sim {

namespace json = boost::json;
using data::Path;

FieldError InvalidField(std::string path, std::string value, std::string detail) {
  return {FieldError::Kind::kInvalid, std::move(path), std::move(value), std::move(detail)};
}
FieldError RequiredField(std::string path, std::string detail) {
  return {FieldError::Kind::kRequired, std::move(path), {}, std::move(detail)};
}
FieldError ForbiddenField(std::string path, std::string detail) {
  return {FieldError::Kind::kForbidden, std::move(path), {}, std::move(detail)};
}
FieldError UnsupportedValue(std::string path, std::string_view value, const std::vector<std::string>& supported) {
  std::vector<std::string> quoted;
  for (const std::string& s : supported) quoted.push_back(Quote(s));
  return {FieldError::Kind::kNotSupported, std::move(path), Quote(value), "supported values: " + Join(quoted, ", ")};
}

namespace {

using Errors = std::vector<FieldError>;
enum class Level : std::uint8_t { kRoot, kField, kItem };

bool Has(const json::object& schema, std::string_view field) { return Peek(schema, {field}) != nullptr; }

bool HasType(const json::value& schema, std::string_view type) {
  return AsObject(schema).size() == 1 && PeekString(schema, {"type"}) == type;
}

/// The schema's `anyOf` is [{type: integer}, {type: string}]: the long form of int-or-string.
bool IsIntOrStringAnyOf(const json::object& schema) {
  const json::array& any = PeekArray(schema, {"anyOf"});
  return any.size() == 2 && HasType(any[0], "integer") && HasType(any[1], "string");
}

/// Collects what is not structural.
class Structure {
 public:
  explicit Structure(Errors& errors) : errors_(errors) {}

  void Check(const json::object& schema, const Path& path, Level level) {
    const auto type = PeekString(schema, {"type"});
    if (type == "array" && !Has(schema, "items")) Required(path.Child("items"), "must be specified");
    if (const json::value* items = Peek(schema, {"items"}); items != nullptr && items->is_object())
      Check(items->get_object(), path.Child("items"), Level::kItem);
    const Path properties = path.Child("properties");
    for (const auto& [name, value] : PeekObject(schema, {"properties"}))
      Check(AsObject(&value), properties.Key(name), Level::kField);
    if (const json::value* values = Peek(schema, {"additionalProperties"}); values != nullptr && values->is_object())
      Check(values->get_object(), path.Child("additionalProperties"), Level::kField);
    CheckExtensions(schema, path);
    CheckValues(schema, path, PeekBool(schema, {"x-kubernetes-int-or-string"}));
    CheckType(schema, path, level);
    if (level == Level::kRoot || PeekBool(schema, {"x-kubernetes-embedded-resource"})) CheckMeta(schema, path, level);
  }

 private:
  void Required(const Path& path, const char* detail) { errors_.push_back(RequiredField(path.ToString(), detail)); }
  void Forbidden(const Path& path, const char* detail) { errors_.push_back(ForbiddenField(path.ToString(), detail)); }
  void Invalid(const Path& path, std::string value, const char* detail) {
    errors_.push_back(InvalidField(path.ToString(), std::move(value), detail));
  }

  void CheckType(const json::object& schema, const Path& path, Level level) {
    const auto type = PeekString(schema, {"type"});
    const bool embedded = PeekBool(schema, {"x-kubernetes-embedded-resource"});
    const bool preserves = PeekBool(schema, {"x-kubernetes-preserve-unknown-fields"});
    if (embedded && type != "object") {
      constexpr const char* kMustBeObject = "must be object if x-kubernetes-embedded-resource is true";
      if (type.empty())
        Required(path.Child("type"), kMustBeObject);
      else
        Invalid(path.Child("type"), Quote(type), kMustBeObject);
    } else if (type.empty() && !preserves && !PeekBool(schema, {"x-kubernetes-int-or-string"})) {
      Required(path.Child("type"), level == Level::kRoot   ? "must not be empty at the root"
                                   : level == Level::kItem ? "must not be empty for specified array items"
                                                           : "must not be empty for specified object fields");
    }
    if (embedded && Has(schema, "additionalProperties"))
      Forbidden(path.Child("additionalProperties"), "must not be used if x-kubernetes-embedded-resource is set");
    if (level == Level::kRoot && !type.empty() && type != "object")
      Invalid(path.Child("type"), Quote(type), "must be object at the root");
    if (embedded && !preserves && PeekObject(schema, {"properties"}).empty())
      Required(
          path.Child("properties"),
          "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields");
  }

  void CheckMeta(const json::object& schema, const Path& path, Level level) {
    const Path properties = path.Child("properties");
    for (const char* name : {"apiVersion", "kind", "metadata"}) {
      const json::value* field = Peek(schema, {"properties", name});
      if (field == nullptr) continue;
      const std::string_view wanted = std::string_view(name) == "metadata" ? "object" : "string";
      const auto type = PeekString(*field, {"type"});
      if (type != wanted)
        Invalid(properties.Key(name).Child("type"), Quote(type),
                wanted == "object" ? "must be object" : "must be string");
      if (level != Level::kRoot || wanted != "object" || type != "object") continue;
      const bool only_names = std::ranges::all_of(AsObject(field), [](const auto& m) {
        if (m.key() != "properties") return m.key() == "type" || m.key() == "description";
        return std::ranges::all_of(AsObject(&m.value()),
                                   [](const auto& p) { return p.key() == "name" || p.key() == "generateName"; });
      });
      if (!only_names)
        Forbidden(properties.Key("metadata"),
                  "must not specify anything other than name and generateName, but metadata is implicitly specified");
    }
  }

  void CheckExtensions(const json::object& schema, const Path& path) {
    if (!PeekBool(schema, {"x-kubernetes-int-or-string"})) return;
    for (const char* field : {"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"})
      if (PeekBool(schema, {field}))
        Invalid(path.Child(field), "true", "must be false if x-kubernetes-int-or-string is true");
  }

  /// The logical parts (anyOf, allOf, oneOf, not), which may constrain but not describe.
  void CheckValues(const json::object& schema, const Path& path, bool int_or_string) {
    if (!(int_or_string && IsIntOrStringAnyOf(schema))) CheckNestedList(schema, path, "anyOf", false);
    CheckNestedList(schema, path, "allOf", int_or_string);
    CheckNestedList(schema, path, "oneOf", false);
    if (const json::value* v = Peek(schema, {"not"})) CheckNested(AsObject(v), path.Child("not"), false);
    const std::string pattern(PeekString(schema, {"pattern"}));
    if (pattern.empty()) return;
    if (const auto compiled = data::Regex::Compile(pattern); !compiled) {
      const std::string why = "must be a valid regular expression, but isn't: " + compiled.error().text;
      Invalid(path.Child("pattern"), Quote(pattern), why.c_str());
    }
  }

  void CheckNestedList(const json::object& schema, const Path& path, std::string_view field, bool int_or_string) {
    const json::array& list = PeekArray(schema, {field});
    const Path at = path.Child(field);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const json::object& nested = AsObject(&list[i]);
      CheckNested(nested, at.Index(i), int_or_string && i == 0 && IsIntOrStringAnyOf(nested));
    }
  }

  void CheckNested(const json::object& schema, const Path& path, bool int_or_string) {
    CheckValues(schema, path, int_or_string);
    if (const json::value* items = Peek(schema, {"items"})) CheckNested(AsObject(items), path.Child("items"), false);
    const Path properties = path.Child("properties");
    for (const auto& [name, value] : PeekObject(schema, {"properties"}))
      CheckNested(AsObject(&value), properties.Key(name), false);
    if (Peek(schema, {"properties", "metadata"}) != nullptr)
      Forbidden(properties.Key("metadata"), "must not be specified in a nested context");
    for (const char* field : {"additionalProperties", "default", "x-kubernetes-list-type", "x-kubernetes-map-type"})
      if (Has(schema, field)) Forbidden(path.Child(field), "must be undefined to be structural");
    for (const char* field : {"description", "title", "type", "x-kubernetes-list-map-keys"})
      if (Has(schema, field)) Forbidden(path.Child(field), "must be empty to be structural");
    for (const char* field : {"nullable", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
                              "x-kubernetes-int-or-string"})
      if (PeekBool(schema, {field})) Forbidden(path.Child(field), "must be false to be structural");
  }

  Errors& errors_;
};

/// Collects fields that are not supported and extensions that do not fit.
class Fields {
 public:
  explicit Fields(Errors& errors) : errors_(errors) {}

  void Check(const json::object& schema, const Path& path) {
    CheckUnsupported(schema, path);
    const Path properties = path.Child("properties");
    for (const auto& [name, value] : PeekObject(schema, {"properties"})) Check(AsObject(&value), properties.Key(name));
    for (const char* field : {"additionalProperties", "items", "not"})
      if (const json::value* v = Peek(schema, {field}); v != nullptr && v->is_object())
        Check(v->get_object(), path.Child(field));
    for (const char* field : {"allOf", "oneOf", "anyOf"}) {
      const json::array& list = PeekArray(schema, {field});
      const Path at = path.Child(field);
      for (std::size_t i = 0; i < list.size(); ++i) Check(AsObject(&list[i]), at.Index(i));
    }
    if (const json::value* v = Peek(schema, {"x-kubernetes-preserve-unknown-fields"}); v != nullptr && !AsBool(v))
      Add(InvalidField(path.Child("x-kubernetes-preserve-unknown-fields").ToString(), "false",
                       "must be true or undefined"));
    CheckMapType(schema, path);
    CheckListType(schema, path);
  }

 private:
  void Add(FieldError e) { errors_.push_back(std::move(e)); }

  void CheckUnsupported(const json::object& schema, const Path& path) {
    if (PeekBool(schema, {"uniqueItems"}))
      Add(ForbiddenField(path.Child("uniqueItems").ToString(),
                         "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"));
    if (Has(schema, "additionalProperties") && !PeekObject(schema, {"properties"}).empty())
      Add(ForbiddenField(path.Child("additionalProperties").ToString(),
                         "additionalProperties and properties are mutual exclusive"));
    for (const char* field : {"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"})
      if (Has(schema, field))
        Add(ForbiddenField(path.Child(field).ToString(), std::string(field) + " is not supported"));
    static const std::vector<std::string> kTypes = {"array", "boolean", "integer", "number", "object", "string"};
    const auto type = PeekString(schema, {"type"});
    if (!type.empty() && std::ranges::find(kTypes, type) == kTypes.end())
      Add(UnsupportedValue(path.Child("type").ToString(), type, kTypes));
    if (type == "null")
      Add(ForbiddenField(path.Child("type").ToString(), "type cannot be set to null, use nullable as an alternative"));
    if (const json::value* items = Peek(schema, {"items"}); items != nullptr && items->is_array())
      Add(ForbiddenField(path.Child("items").ToString(), "items must be a schema object and not an array"));
  }

  void MustBe(const json::object& schema, const Path& path, std::string_view type, std::string_view field) {
    const auto is = PeekString(schema, {"type"});
    const std::string at = path.Child("type").ToString();
    const std::string detail =
        std::string("must be ").append(type).append(" if ").append(field).append(" is specified");
    if (is.empty())
      Add(RequiredField(at, detail));
    else if (is != type)
      Add(InvalidField(at, Quote(is), detail));
  }

  void CheckMapType(const json::object& schema, const Path& path) {
    const auto map_type = PeekString(schema, {"x-kubernetes-map-type"});
    if (map_type.empty()) return;
    MustBe(schema, path, "object", "x-kubernetes-map-type");
    if (map_type != "atomic" && map_type != "granular")
      Add(UnsupportedValue(path.Child("x-kubernetes-map-type").ToString(), map_type, {"atomic", "granular"}));
  }

  void CheckListType(const json::object& schema, const Path& path) {
    const auto list_type = PeekString(schema, {"x-kubernetes-list-type"});
    const bool keys = !PeekArray(schema, {"x-kubernetes-list-map-keys"}).empty();
    const std::string at = path.Child("x-kubernetes-list-type").ToString();
    if (!list_type.empty()) {
      MustBe(schema, path, "array", "x-kubernetes-list-type");
      if (list_type != "atomic" && list_type != "set" && list_type != "map")
        Add(UnsupportedValue(at, list_type, {"atomic", "set", "map"}));
    }
    if (list_type == "set") CheckSetItems(PeekObject(schema, {"items"}), path.Child("items"));
    constexpr const char* kMustBeMap = "must be map if x-kubernetes-list-map-keys is non-empty";
    if (keys && list_type.empty())
      Add(RequiredField(at, kMustBeMap));
    else if (keys && list_type != "map")
      Add(InvalidField(at, Quote(list_type), kMustBeMap));
    if (list_type == "map") CheckMapItems(schema, path);
  }

  void CheckSetItems(const json::object& items, const Path& path) {
    if (PeekBool(items, {"nullable"}))
      Add(ForbiddenField(path.Child("nullable").ToString(), "cannot be nullable when x-kubernetes-list-type is set"));
    const auto type = PeekString(items, {"type"});
    const char* field = type == "object"  ? "x-kubernetes-map-type"
                        : type == "array" ? "x-kubernetes-list-type"
                                          : nullptr;
    if (field == nullptr) return;
    const auto how = PeekString(items, {field});
    if (how == "atomic" || (type == "array" && how.empty())) return;
    Add(InvalidField(path.Child(field).ToString(), how.empty() ? "null" : Quote(how),
                     "must be atomic as item of a list with x-kubernetes-list-type=set"));
  }

  void CheckMapItems(const json::object& schema, const Path& path) {
    const json::array& keys = PeekArray(schema, {"x-kubernetes-list-map-keys"});
    const Path keys_path = path.Child("x-kubernetes-list-map-keys"), items_path = path.Child("items");
    const std::string printed = data::ToJson(keys);
    const json::object& items = PeekObject(schema, {"items"});
    if (keys.empty()) Add(RequiredField(keys_path.ToString(), "must not be empty if x-kubernetes-list-type is map"));
    if (!Has(schema, "items"))
      return Add(RequiredField(items_path.ToString(), "must have a schema if x-kubernetes-list-type is map"));
    const auto type = PeekString(items, {"type"});
    if (type != "object")
      return Add(InvalidField(items_path.Child("type").ToString(), Quote(type),
                              "must be object if parent array's x-kubernetes-list-type is map"));
    const Path properties = items_path.Child("properties");
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto key = AsString(keys[i]);
      const json::value* property = Peek(items, {"properties", key});
      const auto property_type = property == nullptr ? std::string_view() : PeekString(*property, {"type"});
      if (property == nullptr)
        Add(InvalidField(keys_path.ToString(), printed, "entries must all be names of item properties"));
      else if (property_type == "array" || property_type == "object")
        Add(InvalidField(properties.Key(key).Child("type").ToString(), Quote(property_type),
                         "must be a scalar type if parent array's x-kubernetes-list-type is map"));
      if (std::find(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(i), keys[i]) !=
          keys.begin() + static_cast<std::ptrdiff_t>(i)) {
        Add(InvalidField(keys_path.ToString(), printed, "must not contain duplicate entries"));
        continue;
      }
      if (property != nullptr) CheckKeyIsThere(items, *property, key, properties.Key(key));
    }
  }

  void CheckKeyIsThere(const json::object& items, const json::value& property, std::string_view key, const Path& path) {
    const json::array& required = PeekArray(items, {"required"});
    if (Peek(property, {"default"}) != nullptr || std::ranges::find(required, json::value(key)) != required.end())
      return;
    late_.push_back(RequiredField(
        path.Child("default").ToString(),
        "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"));
  }

 public:
  /// Told after everything else.
  Errors late_;

 private:
  Errors& errors_;
};

}  // namespace

std::vector<FieldError> CheckStructural(const json::object& schema, std::string_view path) {
  Errors errors;
  Structure(errors).Check(schema, Path(path), Level::kRoot);
  std::ranges::sort(errors, {}, &FieldError::Message);
  return errors;
}

std::vector<FieldError> CheckSchemaFields(const json::object& schema, std::string_view path) {
  Errors errors;
  Fields fields(errors);
  fields.Check(schema, Path(path));
  std::ranges::move(fields.late_, std::back_inserter(errors));
  return errors;
}

}  // namespace gpuop::sim
